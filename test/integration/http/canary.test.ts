/** No app key shows in an answer, a log line, a metric, an error or the output of a command. */
import { afterAll, expect, it, vi } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { createFallbackRoute } from '../../../lib/http/fallback-route.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { allowedMethods, operationIdOf, operations } from '../../../lib/operations/index.ts';
import { createLog, createMetrics } from '../../../lib/shared/log.ts';
import { adminOf } from '../../../packages/admin/test/support/run-admin.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';
import { newAccount } from '../../support/incidents.ts';
import { type EventOptions, eventFor, handlersOver, newTable, putAppKey, testDeps } from '../../support/service.ts';
import { hookedTable } from './hooked-table.ts';

/** Every app key of this test contains this text, and nothing else does. */
const CANARY = 'c4n4ry';
const keyOf = (name: string) => `${CANARY}-${name}`.padEnd(40, '-');
const [VALID, UNKNOWN, EXPIRED] = [keyOf('valid'), keyOf('unknown'), keyOf('expired')];

const { table, hooked, hook } = hookedTable();
const deps = { ...testDeps(hooked), log: createLog(), metrics: createMetrics({ namespace: 'canary' }) };
const handlers = handlersOver(deps);
const FUNCTIONS: Readonly<Record<string, (event: never, context: never) => Promise<unknown>>> = {
  ...Object.fromEntries(operations.map(({ name }) => [name, handlers[operationIdOf(name)]])),
  'usage-key-authorizer': createUsageKeyAuthorizer(createAppKeys(deps), deps, 'shared-gateway-key'),
  'fallback-route': createFallbackRoute(deps, allowedMethods()),
};

/** All that functions and commands have printed, and that functions have answered or thrown. */
let seen = '';
for (const stream of [process.stdout, process.stderr]) {
  const write = vi.spyOn(stream, 'write').mockImplementation((text) => {
    seen += String(text);
    return true;
  });
  afterAll(() => write.mockRestore());
}

/** Calls a function as Lambda does. @returns the status of its answer */
async function call(name: string, event: object): Promise<number | undefined> {
  const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 2_500 };
  const result = await FUNCTIONS[name]?.(event as never, context as never).catch((error: Error) => ({
    error: [error.name, error.message, error.stack],
  }));
  seen += JSON.stringify(result);
  return (result as { statusCode?: number } | undefined)?.statusCode;
}

it.each(operations)('of calls of $name, accepted or refused by one check or another', async (operation) => {
  const tenant = await newAccount(table);
  await putAppKey(table, { account_id: tenant.account }, VALID);
  await putAppKey(table, { account_id: tenant.account, expires_at: 1 }, EXPIRED);
  const merge = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
  const body = operation.name === 'merge-alerts' ? merge : operation.example.request;
  const headers = { 'X-Api-Key': VALID, Authorization: VALID, 'Idempotency-Key': VALID, 'Accept-Language': VALID };
  const rawBodies = [`{"a":"${VALID}"`, `"${VALID}"`, `{"x":"${VALID}${'x'.repeat(4 * 2 ** 20)}"}`];
  rawBodies.push(`{"${VALID}":1,"limit":"x","version":"x","alert_ids":1}`, JSON.stringify({ ...body, cursor: VALID }));
  const calls: EventOptions[] = [
    ...[VALID, UNKNOWN, EXPIRED, [VALID, UNKNOWN], `${UNKNOWN}${'x'.repeat(300)}`].map((appKey) => ({ appKey, body })),
    ...[{ 'Content-Type': VALID }, headers].map((more) => ({ appKey: VALID, body, headers: more })),
    ...rawBodies.map((rawBody) => ({ appKey: VALID, rawBody })),
  ];
  const statuses = new Set<number | undefined>();
  for (const options of calls) statuses.add(await call(operation.name, eventFor(operation, options)));
  for (const status of [400, 401]) expect(statuses).toContain(status);
  expect(seen).toContain('"operation":');
  expect(seen).not.toContain(CANARY);
});

it.each(['TimeoutError', 'ValidationException', undefined])(
  'of any function that gets it, while calls to DynamoDB fail with an error that quotes it (%s)',
  async (name) => {
    // All calls to DynamoDB fail, or only those after the look-up of the key.
    for (const [index, failing] of [/./, /^(?!Get)/].entries()) {
      const appKey = await putAppKey(table, { account_id: 1 }, keyOf(`${name}-${index}`)); // no function has cached it
      hook.around = (reply, request) => {
        if (name === undefined || !failing.test(request.name)) return reply();
        throw Object.assign(new Error(`quotes ${appKey}`), { name });
      };
      for (const operation of operations)
        await call(operation.name, eventFor(operation, { appKey, body: operation.example.request }));
      const event = eventFor(operations[0], { appKey });
      await call('usage-key-authorizer', { ...event, type: 'REQUEST', methodArn: 'arn' });
      await call('fallback-route', { ...event, path: '/x' });
    }
    hook.around = (reply) => reply();
    expect(seen).toContain('call failed');
    expect(seen).toContain('the app key cannot be looked up');
    expect(seen).not.toContain(CANARY);
  },
);

it('of a command, whatever is wrong with a file that holds it', async () => {
  const stack = await newTable();
  const { account: account_id } = await newAccount(stack);
  const admin = adminOf(stack, dynamodbEndpoint());
  const run = async (command: string, stdin = '') => {
    const { out, err } = await admin(command, { stdin });
    seen += `${out}${err}\n`;
  };
  const lineWith = (more: object) => JSON.stringify({ kind: 'app_key', account_id, app_key: VALID, ...more });
  for (const file of [
    ...[{}, { note: 'n', created_at: 1 }, { expires_at: 'soon' }, { unknown_field: 1 }, { note: 7 }].map(lineWith),
    ...[{ account_id: 987_654 }, { app_key: `${VALID}${'x'.repeat(300)}` }, { kind: 'host' }].map(lineWith),
    ...[`${lineWith({})}\n${lineWith({})}`, lineWith({}).slice(0, -3), `${lineWith({})}}`],
  ])
    for (const command of ['import - --dry-run', 'import -']) await run(command, file);
  for (const command of ['export', 'app-key list', 'app-key list --json'])
    await run(`${command} --account ${account_id}`);
  expect(seen).toMatch(/Imported 1 app key[\s\S]*:1: .*expires_at/);
  expect(seen).not.toContain(CANARY);
});
