/** The contract on a service in this process, whose clock stands still but when a check waits. */
import { once } from 'node:events';
import { afterAll, inject, vi } from 'vitest';
import { PERMISSIONS } from '../../../../lib/model/account.ts';
import type { Int64 } from '../../../../lib/shared/json.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newAppKey, newTable } from '../../../../test/support/service.ts';
import { loadData } from '../../../admin/data/load.ts';
import { createLocalGatewayKeys } from '../../../admin/local-service/local-gateway-keys.ts';
import { readDeployment } from '../../../local/deployment.ts';
import { freePort } from '../../../local/dynamodb-local.ts';
import { startFailingTable } from '../../../local/failing-table.ts';
import { createGateway } from '../../../local/gateway.ts';
import { createFunctions } from '../../../local/local-functions.ts';
import { createQueues, queuesOf } from '../../../local/queues.ts';
import { accountLines, dataSetOf, otherAccountLines, rumLines, textsOf } from '../../src/data.ts';
import { defineTests } from '../../src/define-tests.ts';
import type { Defect, Environment, LocalAccount } from '../../src/environment.ts';
import { BIG } from '../../src/hosts.ts';
import { requirementsOf } from '../../src/sections/index.ts';

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
vi.useFakeTimers({ toFake: ['Date'] });
started.defer(() => void vi.useRealTimers());

const table = await newTable();

/** Starts the gateway and the functions of the template. @returns the address */
async function start(env: Record<string, string> = {}): Promise<string> {
  const template = inject('template');
  const port = await freePort();
  const queues = createQueues(queuesOf(template), port);
  const deployment = readDeployment(template, table.name, queues.url);
  const local = { AWS_REGION: 'local', DYNAMODB_ENDPOINT: dynamodbEndpoint(), QUIET: 'true' };
  const gateway = createGateway({
    deployment,
    now: Date.now,
    invoke: createFunctions(deployment.functions, { ...local, ...env }),
    answerOther(request, response) {
      if (queues.answer(request, response)) return true;
      response.setHeader('Date', new Date().toUTCString()); // Node's own header has the time of the machine.
      return false;
    },
  });
  started.defer(() => {
    gateway.closeAllConnections();
    gateway.close();
  });
  await once(gateway.listen(port, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${port}`;
}

async function startDefective(defect: Defect): Promise<string> {
  if (defect === 'no service map') return start({ SERVICEMAP_ENABLED: 'false' });
  const failing = await startFailingTable(dynamodbEndpoint(), [defect]);
  started.defer(failing.close);
  return start({ DYNAMODB_ENDPOINT: failing.endpoint });
}

const nowMs = Date.now();
const nowSeconds = Math.floor(nowMs / 1_000);
const newAccount = (account: Int64): LocalAccount => ({ table, account, appKey: newAppKey() });
const [main, recordAccount, usageAccount, other] = [newAccount(BIG), newAccount(2), newAccount(3), newAccount(4)];
const callerLines = ({ account, appKey }: LocalAccount, permissions: readonly string[]) => [
  { kind: 'account', account_id: account, name: 'Certificate', permissions },
  { kind: 'app_key', account_id: account, app_key: appKey },
];
const expiredKey = newAppKey();
const dataSet = dataSetOf(String(nowMs));
const data = [
  ...[main, recordAccount, usageAccount].flatMap((account) => callerLines(account, PERMISSIONS)),
  ...callerLines(other, []),
  { kind: 'app_key', account_id: main.account, app_key: expiredKey, expires_at: nowSeconds - 60 },
  ...accountLines(main.account, nowMs, dataSet),
  ...[recordAccount, usageAccount].flatMap(({ account }) => rumLines(account, nowMs)),
  ...otherAccountLines(other.account, dataSet),
];
await loadData(table, 'certify', textsOf(data), { nowMs, gatewayKeys: createLocalGatewayKeys(table) });

const defectiveUrls = new Map<Defect, Promise<string>>();
const environment: Environment = {
  url: await start(),
  wait: async (ms) => void vi.setSystemTime(Date.now() + ms),
  appKey: main.appKey,
  dataSet,
  otherKey: other.appKey,
  expiredKey,
  furtherAccounts: { recordAccount, usageAccount },
  tableAccess: main,
  startDefective(defect) {
    const url = defectiveUrls.get(defect) ?? startDefective(defect);
    defectiveUrls.set(defect, url);
    return url;
  },
};

defineTests(requirementsOf(undefined), environment, { deployed: false });
