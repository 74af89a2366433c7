/** The local services of the certificate, on a DynamoDB of their own: one with its data, and others with failing parts. */
import { randomBytes, randomInt } from 'node:crypto';
import { connectTable, PATIENT } from '../../../lib/dynamodb/client.ts';
import { CliError } from '../../admin/cli/io.ts';
import { loadData } from '../../admin/data/load.ts';
import { createLocalGatewayKeys } from '../../admin/local-service/local-gateway-keys.ts';
import { createTable, LOCAL_TABLE_NAME } from '../../admin/local-service/local-table.ts';
import { startDynamoDb } from '../../local/dynamodb-local.ts';
import { startFailingTable } from '../../local/failing-table.ts';
import { startService } from '../../local/local-service.ts';
import { StartError } from '../../local/start-error.ts';
import { synthesize } from '../../local/synthesize.ts';
import { type Caller, createTurns } from './callers.ts';
import { entitiesOf, entityLines, fleetLines, linesText, otherAccountLines, rumLines } from './data.ts';
import type { Impaired, Lab } from './lab.ts';
import { warmUp } from './trial.ts';

/** Accounts with the same small fleet, whose callers browse in turns. */
const BROWSERS = 6;

function newAccounts() {
  let account = randomInt(2 ** 30, 2 ** 46);
  const lines: { kind: string; account_id: number }[] = [];
  const keyOf = (account_id: number, more: object = {}): Caller => {
    const appKey = randomBytes(32).toString('base64url');
    lines.push({ kind: 'app_key', account_id, app_key: appKey, ...more } as (typeof lines)[number]);
    return { appKey };
  };
  return {
    lines,
    keyOf,
    /** A new account and its key. */
    add(permissions: string[] = ['monit']) {
      account += 1;
      const line = { kind: 'account', account_id: account, name: 'Certificate', permissions };
      lines.push(line);
      return { account, caller: keyOf(account) };
    },
  };
}

/**
 * Starts everything that the certificate needs, on free ports.
 * @returns the environment, and how to stop it
 */
export async function startLab(): Promise<{ lab: Lab; stop: () => Promise<void> }> {
  const nowMs = Date.now();
  const nowSeconds = Math.floor(nowMs / 1000);
  const entities = entitiesOf(String(nowMs));
  const accounts = newAccounts();
  const [main, record, usage, otherAccount] = [accounts.add(), accounts.add(), accounts.add(), accounts.add([])];
  const [minute, second, burst] = [accounts.add(), accounts.add(), accounts.add()];
  const browsers = Array.from({ length: BROWSERS }, () => accounts.add());
  const expired = accounts.keyOf(main.account, { expires_at: nowSeconds - 60 });
  const data = [
    ...accounts.lines,
    ...fleetLines(main.account, nowMs, { large: true }),
    ...browsers.flatMap(({ account }) => fleetLines(account, nowMs)),
    ...[main, record, usage, burst].flatMap(({ account }) => rumLines(account, nowMs)),
    ...entityLines(main.account, entities),
    ...otherAccountLines(otherAccount.account, entities),
  ];

  const started = new AsyncDisposableStack();
  const stop = () => started.disposeAsync();
  try {
    const dynamoDb = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
    started.defer(dynamoDb.stop);
    const [endpoint, tableName] = [dynamoDb.endpoint, LOCAL_TABLE_NAME];
    await createTable(endpoint, tableName);
    const table = connectTable({ name: tableName, endpoint, ...PATIENT });
    started.defer(() => table.client.destroy());
    const gatewayKeys = createLocalGatewayKeys(table);
    await loadData(table, 'certify', linesText(data).trimEnd().split('\n'), { nowSeconds, gatewayKeys });

    const whole = synthesize();
    async function start(template = whole, functionsEndpoint = endpoint): Promise<string> {
      const service = await startService({ template, endpoint, functionsEndpoint, tableName, port: 0 });
      started.defer(service.stop);
      return service.url;
    }
    async function startImpaired(how: Impaired): Promise<string> {
      if (how === 'no service map') return start(synthesize({ serviceMapEnabled: 'false' }));
      const failing = await startFailingTable(endpoint, [how]);
      started.defer(failing.close);
      return start(whole, failing.endpoint);
    }
    const impaired = new Map<Impaired, Promise<string>>();
    const lab: Lab = {
      url: await start(),
      main: main.caller,
      turns: createTurns(
        browsers.map(({ caller }) => caller),
        [main.caller],
      ),
      entities,
      otherAccount: otherAccount.caller,
      expired,
      spare: { minute: minute.caller, second: second.caller, burst: burst.caller },
      changing: { record: { table, ...record }, usage: { table, ...usage } },
      stored: { table, account: main.account },
      impaired(how) {
        const url = impaired.get(how) ?? startImpaired(how);
        impaired.set(how, url);
        return url;
      },
    };
    await warmUp(lab);
    return { lab, stop };
  } catch (error) {
    await stop();
    throw error instanceof StartError ? new CliError(`Cannot start the service. ${error.message}`) : error;
  }
}
