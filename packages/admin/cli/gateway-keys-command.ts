import { APIGateway } from '@aws-sdk/client-api-gateway';
import { forEach } from '../../../lib/shared/concurrency.ts';
import { listAccounts, removeGatewayKeys } from '../accounts/accounts.ts';
import { deleteGatewayKey, listGatewayKeys, usagePlanOf } from '../accounts/gateway-keys.ts';
import { clientConfig } from '../aws/client-config.ts';
import { countText } from '../text/printable.ts';
import type { AdminCommand, WriteResult, WritingSession } from './command.ts';
import { CliError, type Io, UsageError } from './io.ts';
import { startProgress } from './output.ts';

/** Commands for the gateway keys of all accounts at once, when a table moves from one stack to another. */
export function addGatewayKeysCommands(program: AdminCommand): void {
  const group = program
    .command('gateway-keys')
    .explain(
      "Manage the gateway keys by which API Gateway's usage plan throttles accounts",
      'gateway-keys create --stack IncidentMonitoringRum --region eu-west-1',
    );
  group
    .command('create')
    .explain(
      'Create missing gateway keys, and attach all to the usage plan of a stack that adopted a table, also of a standby',
      'gateway-keys create --stack IncidentMonitoringRum --region eu-west-1',
    )
    .allows('standby')
    .writes(create);
  group
    .command('remove')
    .explain(
      'Delete the gateway keys that a destroyed stack left behind',
      'gateway-keys remove --table IncidentMonitoringRum-TableCD117FA1-ABC --region eu-west-1',
    )
    .writes(remove);
}

async function create({ io, target, dryRun, audit }: WritingSession): Promise<WriteResult> {
  const { table, gatewayKeys } = target;
  if (!gatewayKeys) throw new UsageError('Unknown usage plan: pass --stack NAME instead of --table.');
  const accounts = await listAccounts(table);
  const json = { accounts: accounts.length };
  if (dryRun) return { text: `${countText(accounts.length, 'account')} would have a gateway key of this stack.`, json };
  await audit.around(accounts, 'gateway key', () =>
    changeEach(io, accounts, (account) => gatewayKeys.provision(account, true)),
  );
  return { text: `Gateway keys of ${countText(accounts.length, 'account')} exist.`, json };
}

async function remove({ io, target, dryRun, audit }: WritingSession): Promise<WriteResult> {
  const { table, endpoint, region } = target;
  if (endpoint !== undefined) throw new UsageError('Only AWS has gateway keys to remove: pass --table and --region.');
  const client = new APIGateway(clientConfig(region));
  const gatewayKeys = await listGatewayKeys(client, table);
  const plan = await usagePlanOf(client, table);
  if (plan !== undefined)
    throw new CliError(`The gateway keys are in use by the usage plan ${plan}: destroy its stack first.`);
  const json = { gateway_keys: gatewayKeys.length };
  if (dryRun) return { text: `${gatewayKeys.length} gateway keys would be deleted.`, json };
  const accounts = await listAccounts(table).catch((error: Error) => {
    // The table may have been deleted with its stack. If it has no gateway keys either, its name is wrong.
    if (error.name === 'ResourceNotFoundException' && gatewayKeys.length > 0) return undefined;
    throw error;
  });
  await audit.around(accounts ?? [], 'gateway key', async () => {
    await changeEach(io, gatewayKeys, (key) => deleteGatewayKey(client, key));
    // If accounts kept the deleted keys, the API Gateway of a stack that adopts the table would refuse their calls.
    if (accounts) await removeGatewayKeys(table);
  });
  return { text: `${gatewayKeys.length} gateway keys deleted.`, json };
}

/** One after the other, as API Gateway requires it. */
function changeEach<Item>(io: Io, items: readonly Item[], change: (item: Item) => Promise<unknown>) {
  const progress = startProgress(io, 'gateway keys', items.length);
  const changeAndCount = (item: Item) => change(item).then(() => progress.add(1));
  return forEach(items, changeAndCount, { concurrency: 1 }).finally(progress.end);
}
