/** The local services that `npm run certify` starts, with one DynamoDB: a service that works, and others that each have a defect. */
import { randomBytes, randomInt } from 'node:crypto';
import { connectTable, PATIENT } from '../../../lib/dynamodb/client.ts';
import { CliError } from '../../admin/cli/io.ts';
import { loadData } from '../../admin/data/load.ts';
import { createLocalGatewayKeys } from '../../admin/local-service/local-gateway-keys.ts';
import { createTable, LOCAL_TABLE_NAME } from '../../admin/local-service/local-table.ts';
import { startDynamoDb } from '../../local/dynamodb-local.ts';
import { startFailingTable } from '../../local/failing-table.ts';
import { startService } from '../../local/local-service.ts';
import { synthesize } from '../../local/synthesize.ts';
import { createApiClient, PATHS } from './api-client.ts';
import { accountLines, entitiesOf, fleetLines, otherAccountLines, rumLines, textsOf } from './data.ts';
import type { Defect, Environment } from './environment.ts';

/** Number of accounts with the same small fleet: enough that checks seldom wait for the rate limit. */
const FLEET_ACCOUNTS = 6;

const newKey = () => randomBytes(32).toString('base64url');
const newAccount = (permissions: string[] = ['monit']) => ({
  account: randomInt(2 ** 30, 2 ** 46),
  appKey: newKey(),
  permissions,
});
type Account = ReturnType<typeof newAccount>;

const callerLines = ({ account, appKey, permissions }: Account) => [
  { kind: 'account', account_id: account, name: 'Certificate', permissions },
  { kind: 'app_key', account_id: account, app_key: appKey },
];

/**
 * Starts everything that the certificate needs, on free ports.
 * @returns the environment, and how to stop it
 */
export async function startEnvironment(): Promise<{ environment: Environment; stop: () => Promise<void> }> {
  const nowMs = Date.now();
  const nowSeconds = Math.floor(nowMs / 1_000);
  const entities = entitiesOf(String(nowMs));
  const [main, otherAccount] = [newAccount(), newAccount([])];
  const [recordAccount, usageAccount] = [newAccount(), newAccount()];
  const rateLimited = { perSecond: newAccount(), perMinute: newAccount(), burst: newAccount(), headers: newAccount() };
  const fleetAccounts = Array.from({ length: FLEET_ACCOUNTS }, () => newAccount());
  const expiredKey = newKey();
  const accounts = [main, otherAccount, recordAccount, usageAccount, ...Object.values(rateLimited), ...fleetAccounts];
  const data = [
    ...accounts.flatMap(callerLines),
    { kind: 'app_key', account_id: main.account, app_key: expiredKey, expires_at: nowSeconds - 60 },
    ...accountLines(main.account, nowMs, entities),
    ...fleetAccounts.flatMap(({ account }) => fleetLines(account, nowMs)),
    ...[recordAccount, usageAccount, rateLimited.burst].flatMap(({ account }) => rumLines(account, nowMs)),
    ...otherAccountLines(otherAccount.account, entities),
  ];

  const started = new AsyncDisposableStack();
  const stop = () => started.disposeAsync();
  try {
    const { endpoint, stop: stopDynamoDb } = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
    started.defer(stopDynamoDb);
    const tableName = LOCAL_TABLE_NAME;
    await createTable(endpoint, tableName);
    const table = connectTable({ name: tableName, endpoint, ...PATIENT });
    started.defer(() => table.client.destroy());
    const gatewayKeys = createLocalGatewayKeys(table);
    await loadData(table, 'certify', textsOf(data), { nowMs, gatewayKeys });

    const defaultTemplate = synthesize();
    async function start(template = defaultTemplate, functionsEndpoint = endpoint): Promise<string> {
      const service = await startService({ template, endpoint, functionsEndpoint, tableName, port: 0 });
      started.defer(service.stop);
      return service.url;
    }
    async function startDefective(defect: Defect): Promise<string> {
      if (defect === 'no service map') return start(synthesize({ serviceMapEnabled: 'false' }));
      const failing = await startFailingTable(endpoint, [defect]);
      started.defer(failing.close);
      return start(defaultTemplate, failing.endpoint);
    }
    const defectiveUrls = new Map<Defect, Promise<string>>();
    let keysGiven = 0;
    const environment: Environment = {
      url: await start(),
      appKey: main.appKey,
      nextFleetKey: () => fleetAccounts[keysGiven++ % FLEET_ACCOUNTS]?.appKey ?? main.appKey,
      entities,
      otherKey: otherAccount.appKey,
      expiredKey,
      rateLimited,
      changeable: { recordAccount: { table, ...recordAccount }, usageAccount: { table, ...usageAccount } },
      tableAccess: { table, ...main },
      startDefective(defect) {
        const url = defectiveUrls.get(defect) ?? startDefective(defect);
        defectiveUrls.set(defect, url);
        return url;
      },
    };
    // Calls each function once, so that no check waits for its first start.
    const { call } = createApiClient(environment);
    for (const path of PATHS) await call(path);
    return { environment, stop };
  } catch (error) {
    await stop();
    throw error instanceof CliError ? new CliError(`Cannot start the service. ${error.message}`) : error;
  }
}
