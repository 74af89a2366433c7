import { afterAll, describe, expect, it, vi } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { createFallbackRoute } from '../../../lib/http/fallback-route.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { allowedMethods, type ListedOperation, operationIdOf, operations } from '../../../lib/operations/index.ts';
import { createFinishMerges } from '../../../lib/operations/merge-alerts/finish.ts';
import { createLog, createMetrics } from '../../../lib/shared/log.ts';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';
import { keys } from '../../../lib/table/keys.ts';
import { adminOf } from '../../../packages/admin/test/support/run-admin.ts';
import { RUM_RECORD } from '../../support/accounts.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';
import { type Fault, startFaultProxy } from '../../support/fault-proxy.ts';
import { newAccount, objectId } from '../../support/incidents.ts';
import {
  connectThrough,
  type EventOptions,
  eventFor,
  handlersOver,
  newTable,
  put,
  putAppKey,
  testDeps,
} from '../../support/service.ts';

/** Every app key of this test contains this text, and nothing else does. */
const CANARY = 'c4n4ry';
const VALID = `${CANARY}-of-a-valid-caller`.padEnd(40, '-');
const UNKNOWN = `${CANARY}-of-nobody`.padEnd(40, '-');
const EXPIRED = `${CANARY}-of-old`.padEnd(40, '-');
const FORBIDDEN = `${CANARY}-without-permission`.padEnd(40, '-');

const table = await newTable();
const tenant = await newAccount(table);
for (const [key, row] of [
  [VALID, {}],
  [EXPIRED, { expires_at: 1 }],
  [FORBIDDEN, { permissions: [] }],
] as const)
  await putAppKey(table, { account_id: tenant.account, ...row } as { account_id: number }, key);
await put(table, keys.rumResource(tenant.account), RUM_RECORD);
await put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', version: 1, title: 't' });
const incident = await tenant.incident();
const alerts = await tenant.alerts(3);
const proxy = await startFaultProxy(dynamodbEndpoint());
const deps = {
  ...testDeps(connectThrough(table, proxy), { timeLimits: TIME_LIMITS }),
  log: createLog(),
  metrics: createMetrics({ namespace: 'canary' }),
};
const handlers = handlersOver(deps);
const FUNCTIONS: Readonly<Record<string, (event: never, context: never) => Promise<unknown>>> = {
  ...Object.fromEntries(operations.map(({ name }) => [name, handlers[operationIdOf(name)]])),
  'usage-key-authorizer': createUsageKeyAuthorizer(createAppKeys(deps), deps, 'shared-gateway-key'),
  'fallback-route': createFallbackRoute(deps, allowedMethods()),
  'finish-merges': createFinishMerges(deps),
};
/** Calls a function as Lambda does. @returns its answer, or the text of its error */
const call = async (name: string, event: object): Promise<unknown> =>
  FUNCTIONS[name]?.(event as never, { awsRequestId: 'a', getRemainingTimeInMillis: () => 2_500 } as never).catch(
    ({ name, message, stack }: Error) => ({ error: [name, message, stack] }),
  );

/** All that functions have printed. */
let printed = '';
const writes = [process.stdout, process.stderr].map((stream) =>
  vi.spyOn(stream, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  }),
);
afterAll(async () => {
  for (const write of writes) write.mockRestore();
  await proxy.close();
});

/** The bodies of operations whose example is of another tenant's entities. */
const BODIES: Readonly<Record<string, object>> = {
  'delete-work-item': { work_item_id: 'w', version: 1 },
  'merge-alerts': { alert_ids: alerts, incident_id: incident },
};

const bodyOf = ({ name, example }: ListedOperation) => BODIES[name] ?? example.request;

/** Calls whose keys must not show: they are accepted, or refused by one check or another. */
const callsWith = (body: object): EventOptions[] => [
  ...[VALID, UNKNOWN, EXPIRED, FORBIDDEN, [VALID, UNKNOWN], `${UNKNOWN}${'x'.repeat(300)}`].map((appKey) => ({
    appKey,
    body,
  })),
  ...[
    { 'Content-Type': VALID },
    { 'X-Api-Key': VALID, Authorization: VALID, 'Idempotency-Key': VALID, 'Accept-Language': VALID },
  ].map((headers) => ({ appKey: VALID, body, headers })),
  ...[
    `{"a":"${VALID}"`,
    `"${VALID}"`,
    `{"x":"${VALID}${'x'.repeat(262_144)}"}`,
    `{"${VALID}":1,"limit":"x","version":"x","alert_ids":1}`,
    JSON.stringify({ ...body, cursor: VALID }),
  ].map((rawBody) => ({ appKey: VALID, rawBody })),
];

/** Demands that neither results nor anything that functions printed contains a key. */
function expectNoKey(results: unknown): void {
  const text = JSON.stringify(results, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
  expect(text).not.toContain(CANARY);
  expect(printed).not.toContain(CANARY);
}

describe('an app key shows in no answer, log line, metric or error', () => {
  it.each(operations)('of $name', async (operation) => {
    proxy.plan();
    const statuses = new Set<number>();
    for (const options of callsWith(bodyOf(operation))) {
      const result = await call(operation.name, eventFor(operation, options));
      statuses.add((result as { statusCode: number }).statusCode);
      expectNoKey(result);
    }
    for (const status of [200, 400, 401]) expect(statuses).toContain(status);
  });

  it.each<Fault>(['refuse', 'cut', 'throttle', 'invalid'])('when calls to DynamoDB fail (%s)', async (fault) => {
    // The fault affects all calls to DynamoDB, or only those after the look-ups of the key.
    for (const after of [0, operations.length]) {
      proxy.plan(({ number }) => (number > after ? fault : undefined));
      // A key that the functions have not cached.
      const appKey = await putAppKey(table, { account_id: tenant.account }, `${VALID}-${fault}-${after}`);
      const answers = await Promise.all(
        operations.map((operation) => call(operation.name, eventFor(operation, { appKey, body: bodyOf(operation) }))),
      );
      for (const answer of answers) expect(answer).toHaveProperty('statusCode');
      expectNoKey(answers);
    }
    expect(printed).toContain('call failed');
    expect(printed).toContain('"operation":');
  });

  it('of the authorizer, of an unknown path, and of finish-merges', async () => {
    const results: unknown[] = [];
    // Without a fault comes last, since the authorizer then caches the keys.
    for (const fault of ['invalid', 'refuse', 'cut', undefined] as const) {
      proxy.plan(() => fault);
      const calls = [VALID, UNKNOWN, EXPIRED].flatMap((key) => {
        const event = eventFor(operations[0], { appKey: key });
        const entry = { pk: `ACCOUNT#1#FEED#${objectId()}`, sk: '1', comment: key };
        return [
          call('usage-key-authorizer', { ...event, type: 'REQUEST', methodArn: 'arn' }),
          call('fallback-route', { ...event, path: '/x' }),
          call('finish-merges', { Records: [{ body: JSON.stringify(entry) }] }),
        ];
      });
      results.push(...(await Promise.all(calls)));
    }
    expect(results.length).toBe(36);
    expectNoKey(results);
  });

  it('of the command line, whatever is wrong with a file that holds it', async () => {
    const lineWith = (more: object) =>
      JSON.stringify({ kind: 'app_key', account_id: tenant.account, app_key: VALID, ...more });
    const files = [
      ...[{}, { note: 'n', created_at: 1 }, { expires_at: 'soon' }, { unknown_field: 1 }, { note: 7 }].map(lineWith),
      ...[{ account_id: 987_654 }, { app_key: `${VALID}${'x'.repeat(300)}` }, { kind: 'host' }].map(lineWith),
      ...[`${lineWith({})}\n${lineWith({})}`, lineWith({}).slice(0, -3), `${lineWith({})}}`],
    ];
    let output = '';
    const run = async (command: string, stdin = '') => {
      const { out, err } = await adminOf(table, proxy.endpoint)(command, { stdin });
      output += `${out}${err}\n`;
    };
    proxy.plan();
    for (const file of files) for (const command of ['import -', 'import - --dry-run']) await run(command, file);
    for (const fault of ['invalid', 'refuse', 'cut'] as const) {
      proxy.plan(({ number }) => (number > 2 ? fault : undefined));
      await run('import -', files[0]);
    }
    proxy.plan();
    for (const command of ['export', 'app-key list', 'app-key list --json'])
      await run(`${command} --account ${tenant.account}`);
    await run(`account show ${tenant.account}`);
    expect(output).toContain('Imported 1 app key');
    expect(output).toMatch(/:1: .*expires_at/);
    expect(output).not.toContain(CANARY);
  });
});
