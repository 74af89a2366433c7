/** Checks, refusals, failures and log lines that all operations share. The contract has the order of the checks and the rules of bodies. */
import { createServer } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { hashAppKey } from '../../../lib/http/app-keys.ts';
import { createFallbackRoute } from '../../../lib/http/fallback-route.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { allowedMethods, type ListedOperation, operations } from '../../../lib/operations/index.ts';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';
import { connectTable } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { loadData } from '../../../packages/admin/data/load.ts';
import { DEMO_KEYS, sampleData } from '../../../packages/local/sample.ts';
import { newCaller, RUM_RECORD } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { hookedTable } from '../../support/faults.ts';
import { listen } from '../../support/listen.ts';
import {
  callAlone,
  createHandlers,
  type EventOptions,
  eventFor,
  everythingIn,
  invokeAlone,
  NOW,
  put,
  testDeps,
} from '../../support/service.ts';
import { within } from '../../support/within.ts';

/** A caller with a RUM record, and functions over a table in memory. */
async function newService({ settings = {} }: { settings?: object } = {}) {
  const { table, hooked, hook } = hookedTable();
  const caller = await newCaller(table, { account_id: 9_007_199_254_740_993n });
  await put(table, keys.rumResource(caller.account), RUM_RECORD);
  const clock = { now: NOW };
  const deps = testDeps(hooked, { now: () => clock.now, settings });
  const handlers = createHandlers(deps);
  const read = (options: EventOptions = {}) =>
    callAlone(handlers, getRumResource, { appKey: caller.appKey, ...options });
  return { ...caller, table, hook, clock, deps, handlers, read };
}

it.each<[code: string, tableCalls: number, options?: EventOptions, error?: Error, level?: string]>([
  ['OK', 2],
  ['Unauthorized', 1, { appKey: 'unknown' }],
  ['InternalError', 2, {}, new TypeError('a bug of ours'), 'error'],
  ['ServiceUnavailable', 2, {}, Object.assign(new Error(), { name: 'TimeoutError' }), 'warn'],
])(
  'a call that ends with %s has one log line and one count, with its caller and its duration',
  async (code, tableCalls, options, error, level) => {
    const { appKey, hook, clock, deps, handlers } = await newService();
    hook.around = (reply, { name }) => {
      clock.now += 21;
      return error && name === 'QueryCommand' ? Promise.reject(error) : reply();
    };
    const event = eventFor(getRumResource, { appKey, ...options });
    Object.assign(event.requestContext, { extendedRequestId: 'extended' });
    const { request_id } = (await invokeAlone(handlers.getRumResource, event)).body;
    const caller = { account_id: '9007199254740993', app_key_id: hashAppKey(appKey).slice(0, 16) };
    const [operation, duration_ms] = ['get-rum-resource', 21 * tableCalls];
    const fields = {
      ...{ operation, code, request_id, extended_request_id: 'extended', duration_ms },
      ...(code !== 'Unauthorized' && caller),
    };
    const linesOf = (wanted: string) => deps.log.lines.filter(({ message }) => message === wanted);
    expect(linesOf('call')).toEqual([{ level: 'info', message: 'call', fields }]);
    expect(linesOf('call failed').map((line) => line.level)).toEqual(level ? [level] : []);
    expect(deps.metrics).toMatchObject({ calls: [{ operation, code, durationMs: duration_ms }], events: [] });
  },
);

it('an unforeseen error is InternalError in the caller’s language, and logged with its stack; its message shows nowhere', async () => {
  const { hook, deps, read } = await newService();
  hook.around = (reply, { name }) => {
    if (name !== 'QueryCommand') return reply();
    const $metadata = { requestId: 'of AWS', attempts: 2 };
    throw Object.assign(new Error('quotes the-input'), { name: 'ValidationException', $metadata });
  };
  const answer = await read({ headers: { 'accept-language': ['qaa', 'zh-CN'] } });
  expectEnvelope(answer, 500, 'InternalError');
  expect(answer.headers['Content-Language']).toBe('zh-CN');
  expect(answer.headers).not.toHaveProperty('Retry-After');
  for (const leak of ['the-input', 'ValidationException', ' at ']) expect(JSON.stringify(answer)).not.toContain(leak);
  const { request_id } = answer.body;
  const error_stack = expect.toSatisfy((frames: string[]) => frames.every((frame) => frame.startsWith('at ')));
  const ofAws = { aws_request_id: 'of AWS', attempts: 2 };
  const fields = { request_id, cause: 'bug', error_name: 'ValidationException', error_stack, ...ofAws };
  expect(deps.log.lines).toContainEqual({ level: 'error', message: 'call failed', fields });
  expect(JSON.stringify(deps.log.lines)).not.toContain('the-input');
});

const http = (status: string, body: string) =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
it.each<[what: string, reply: string | undefined]>([
  ['no connection', undefined],
  ['no HTTP', 'garbage\r\n\r\n'],
  ['half of its JSON', http('200 OK', '{"Item":{"account_id":{"N":"1')],
  ['a page of a proxy', http('403 Forbidden', '<html>')],
  ['expired credentials', http('400 Bad Request', '{"__type":"com.amazon.coral.service#ExpiredTokenException"}')],
])('%s in place of a reply from DynamoDB is ServiceUnavailable within 3 s', async (_what, reply) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => (reply === undefined ? socket.destroy() : socket.end(reply)));
  });
  const table = connectTable({ name: 't', endpoint: `http://127.0.0.1:${await listen(server)}` });
  const handlers = createHandlers(testDeps(table, { timeLimits: TIME_LIMITS }));
  const answer = await within(3_000, () => callAlone(handlers, getRumResource, { appKey: 'x' }));
  server.close();
  expectEnvelope(answer, 503, 'ServiceUnavailable');
});

it('what settings switch off is refused with Retry-After, counted as refused by a setting, and changes nothing', async () => {
  const settings = { writesFrozen: true, serviceMapEnabled: false };
  const { table, deps, handlers } = await newService({ settings });
  await loadData(table, 'sample', sampleData(NOW), { nowMs: NOW });
  const before = await everythingIn(table);
  const isOff = (operation: ListedOperation) => operation.writes || operation === browseFleet;
  const switchedOff = operations.filter(isOff);
  for (const operation of switchedOff) {
    const answer = await callAlone(handlers, operation, { appKey: DEMO_KEYS.demo, body: operation.example.request });
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(answer.headers['Retry-After']).toBe('60');
  }
  expect(await everythingIn(table)).toBe(before);
  expect(deps.metrics.events).toEqual(switchedOff.map(() => 'refused_by_setting'));
  expectEnvelope(await callAlone(handlers, getRumResource, { appKey: DEMO_KEYS.demo }), 200);
});

it('a standby refuses what changes data or is sent to the feed with Retry-After, and counts it as failed', async () => {
  const { appKey, deps, handlers } = await newService({ settings: { standby: true } });
  const refused = operations.filter(({ writes, sendsTo }: ListedOperation) => writes || sendsTo);
  expect(refused.map(({ tag }) => tag)).toContain('Feed');
  for (const operation of refused) {
    const answer = await callAlone(handlers, operation, { appKey, body: operation.example.request });
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect([answer.headers['Retry-After'], answer.body.error?.message]).toEqual([
      '60',
      expect.stringContaining('standby'),
    ]);
  }
  expect(deps.metrics.events).toEqual([]);
});

it.each(operations)(
  '$name reads only the key for a call that its checks refuse, and does not count it',
  async (operation) => {
    const { appKey, hook, handlers } = await newService();
    const fields = Object.keys(operation.request.properties);
    const wrong: EventOptions[] = [
      { headers: { 'Content-Type': 'text/plain' } },
      ...['{', `{"x":"${'x'.repeat(4 * 2 ** 20)}"}`].map((rawBody) => ({ rawBody })),
      ...fields.map((field) => ({ body: { ...operation.example.request, [field]: null } })),
      ...(operation === browseFleet ? [{ rawBody: '{"cursor":"never issued"}' }] : []),
    ];
    for (const options of wrong) {
      const answer = await callAlone(handlers, operation, { appKey, ...options });
      expect(answer.status).toBeLessThan(429);
      expect(Object.keys(answer.headers).filter((name) => /rate-?limit/i.test(name))).toEqual([]);
    }
    expect(hook.calls).toEqual(['GetCommand']);
  },
);

it('the refusal of a call that is for no operation goes by the resource, not by the path', async () => {
  const fallbackRoute = createFallbackRoute(testDeps(hookedTable().table), allowedMethods());
  const send = (resource: string, httpMethod: string) =>
    invokeAlone(fallbackRoute, { ...eventFor(browseFleet), resource, path: '/base/alert/merge', httpMethod });
  expectEnvelope(await send('/alert/merge', 'GET'), 405, 'MethodNotAllowed');
  expectEnvelope(await send('/{proxy+}', 'POST'), 404, 'RouteNotFound');
  expectEnvelope(await send('/', 'POST'), 404, 'RouteNotFound');
  const health = await send('/', 'GET');
  expectEnvelope(health, 200);
  // What a failover reads of the region that is to be fenced.
  expect(health.text).toContain('"standby":false');
});

/** A body of this many bytes, made mostly of two-byte characters. */
const ofSize = (bytes: number) => `{"x":"${'é'.repeat((bytes - 8 - (bytes % 2)) / 2)}${bytes % 2 ? 'y' : ''}"}`;
const encoded = (rawBody: string | Buffer, ...codings: string[]) =>
  codings.map((coding) => ({ headers: { 'Content-Encoding': coding }, rawBody }));
const zipped = (text: string) => gzipSync(text);
const MAX = 1_024;

it.each<[what: string, named: string | undefined, requests: EventOptions[]]>([
  ['of the largest size that the setting allows', undefined, [{ rawBody: ofSize(MAX) }]],
  ['of a byte more', '1024', [{ rawBody: ofSize(MAX + 1) }]],
  ['in gzip, small or large', undefined, encoded(zipped('{}'), 'gzip', ' GZIP ', 'x-gzip')],
  ['in gzip, of the largest size', undefined, encoded(zipped(ofSize(MAX)), 'gzip')],
  ['in gzip, of a byte more', '1024', encoded(zipped(ofSize(MAX + 1)), 'gzip')],
  ['in gzip that is not whole', 'Content-Encoding gzip', encoded(zipped('{}').subarray(0, 15), 'gzip')],
  ['in gzip, of malformed JSON', 'line 1, column 2', encoded(zipped('{'), 'gzip')],
  ['that API Gateway has decompressed', undefined, encoded('{}', 'gzip', 'br')],
  ['that API Gateway has decompressed, in base64', undefined, encoded(Buffer.from('{}'), 'gzip')],
  ['that API Gateway has decompressed, of malformed JSON', 'line 1, column 2', encoded('{', 'gzip')],
  ['in another encoding', 'Content-Encoding br', encoded(Buffer.from([0xc3, 0x28]), 'br')],
  ['in deflate, which API Gateway leaves if it is small', 'deflate', encoded(deflateSync('{}'), 'deflate')],
  ['that is no JSON, in no encoding', 'JSON', encoded('{', '', 'identity', 'Identity')],
])('a body %s: an error names %s', async (_what, named, requests) => {
  const { read } = await newService({ settings: { maxBodyBytes: MAX } });
  for (const options of requests) {
    const { error } = (await read(options)).body;
    const code = named === '1024' ? 'EntityTooLarge' : 'InvalidParameter';
    expect(error).toEqual(named === undefined ? undefined : { code, message: expect.stringContaining(named) });
  }
});

it('the body of each operation may be in gzip, and a bomb is EntityTooLarge before it takes memory', async () => {
  const { handlers, appKey } = await newService();
  const bomb = Buffer.concat(Array(32).fill(gzipSync(Buffer.alloc(16 * 2 ** 20)))); // of 512 MiB
  const kilobytes = () => process.resourceUsage().maxRSS;
  const before = kilobytes();
  for (const operation of operations) {
    const send = (rawBody: Buffer) =>
      callAlone(handlers, operation, { appKey, headers: { 'Content-Encoding': 'gzip' }, rawBody });
    const plain = await callAlone(handlers, operation, { appKey, rawBody: '{"limit":"x"}' });
    expect((await send(zipped('{"limit":"x"}'))).body.error).toEqual(plain.body.error);
    expectEnvelope(await send(bomb), 413, 'EntityTooLarge');
  }
  expect(kilobytes() - before).toBeLessThan(256 * 1_024);
});
