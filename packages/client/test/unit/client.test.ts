import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createGzip, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ERROR_CODES } from '../../../../lib/http/errors.ts';
import { serve } from '../../../../test/support/serve.ts';
import {
  AnswerTooLargeError,
  type BrowseFleetRequest,
  type ClientEvent,
  type ClientOptions,
  ConnectionError,
  createClient,
  explainStatus,
  InexactNumberError,
  type IngestRecord,
  RequestTooFrequentlyError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
} from '../../src/index.ts';

const APP_KEY = 'key of nobody/+&=';
const BASE_URL = 'https://service.test/prod/';

/** A client whose service and clock are simulated: time passes only while the client waits, and by 40 ms for each call. */
function clientOver(
  serve: (request: { at: number; path: string; text: string; headers: Headers }) => Response,
  options: Partial<ClientOptions> = {},
) {
  let at = 1_750_000_000_400;
  const events: ClientEvent[] = [];
  const bodies: string[] = [];
  const keys: (string | null)[] = [];
  const client = createClient({
    url: BASE_URL,
    appKey: APP_KEY,
    onEvent: (event) => events.push(event),
    now: () => at,
    sleep: async (ms) => {
      at += ms;
    },
    fetch: async (input, init) => {
      at += 40;
      const address = new URL(String(input));
      expect(address.searchParams.get('app_key')).toBe(APP_KEY);
      const headers = new Headers(init?.headers);
      bodies.push(String(init?.body));
      keys.push(headers.get('Idempotency-Key'));
      return serve({ at, path: address.pathname, text: String(init?.body), headers });
    },
    ...options,
  });
  const waits = () => events.filter((event) => event.type === 'wait');
  const waitsMs = () => waits().map(({ ms }) => ms);
  return { client, events, waits, waitsMs, bodies, keys, elapsed: () => at - 1_750_000_000_400 };
}

const json = (body: string | object, init?: ResponseInit) =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), init);
const ok = (data: unknown, headers: Record<string, string> = {}) => json({ request_id: 'r', data }, { headers });
const refusal = (code: string, status: number, headers: Record<string, string> = {}) =>
  json({ request_id: 'r', error: { code, message: 'no', hint: 'a field of a later version' } }, { status, headers });

/** Serves these answers one after the other, and the last one from then on. */
const oneByOne = (...answers: (() => Response)[]) => {
  const remaining = [...answers];
  return () => ((remaining.length > 1 ? remaining.shift() : remaining[0]) as () => Response)();
};
const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
const MERGE = { alert_ids: ['a'], incident_id: 'b' };
const tooFrequent = (seconds: number) => () => refusal('RequestTooFrequently', 429, { 'Retry-After': String(seconds) });

/** A fleet behind the contract's limits of 2 calls a second and 30 a minute. */
function limitedFleet(hosts: number) {
  const used = new Map<string, number>();
  let refused = 0;
  const serve = ({ at, text }: { at: number; text: string }) => {
    const windows = [
      { name: 'second', limit: 2, ms: 1_000 },
      { name: 'minute', limit: 30, ms: 60_000 },
    ].map(({ name, limit, ms }) => {
      const index = Math.floor(at / ms);
      const key = `${name} ${index}`;
      const left = limit - (used.get(key) ?? 0);
      return { name, key, limit, left, seconds: Math.ceil(((index + 1) * ms - at) / 1_000) };
    });
    const header = (justUsed: number) => ({
      RateLimit: windows.map(({ name, left, seconds }) => `"${name}";r=${left - justUsed};t=${seconds}`).join(', '),
    });
    const full = windows.find(({ left }) => left === 0);
    if (full) {
      refused += 1;
      return refusal('RequestTooFrequently', 429, { 'Retry-After': String(full.seconds), ...header(0) });
    }
    for (const { key, limit, left } of windows) used.set(key, limit - left + 1);
    const { cursor = '0', limit } = JSON.parse(text) as { cursor?: string; limit: number };
    const from = Number(cursor);
    const end = Math.min(hosts, from + limit);
    const items = Array.from({ length: end - from }, (_, index) => ({ host_id: String(from + index) }));
    return ok({ items, ...(end < hosts && { next_cursor: String(end) }) }, header(1));
  };
  return { serve, refused: () => refused };
}

afterEach(() => vi.restoreAllMocks());

describe('the client', () => {
  it('walks 3,000 hosts at 2 calls a second and 30 a minute, and reports each wait', async () => {
    const fleet = limitedFleet(3_000);
    const { client, waits, elapsed } = clientOver(fleet.serve);
    const seen: string[] = [];
    for await (const { host_id } of client.hosts()) seen.push(host_id);
    expect(seen).toEqual(Array.from({ length: 3_000 }, (_, index) => String(index)));
    expect(fleet.refused()).toBe(0);
    for (const { reason } of waits()) expect(reason).toBe('rate-limit');
    expect(waits().reduce((sum, { ms }) => sum + ms, 0) + 30 * 40).toBe(elapsed());
    expect(elapsed()).toBeLessThan(80_000);
  });

  it('gives up waiting for a rate limit after maxWaitMs', async () => {
    const { client, elapsed } = clientOver(tooFrequent(60), { maxWaitMs: 150_000 });
    const error = await errorOf(client.browseFleet());
    expect(error).toBeInstanceOf(RequestTooFrequentlyError);
    expect(error).toMatchObject({ retryAfter: 60, status: 429, requestId: 'r', path: '/monit/servicemap/fleet' });
    expect(Math.floor(elapsed() / 10_000)).toBe(12);
  });

  const DATES = { 'Retry-After': 'Wed, 21 Oct 2015 07:28:30 GMT', Date: 'Wed, 21 Oct 2015 07:28:00 GMT' };
  it.each<[what: string, random: number, refused: () => Response, options: Partial<ClientOptions>, ms: number]>([
    ['the seconds of Retry-After', 0, tooFrequent(1), {}, 1_000],
    ['more than these, so that callers spread', 0.999, tooFrequent(1), {}, 1_250],
    ['the least after a failure', 0, () => refusal('ServiceUnavailable', 503), {}, 250],
    ['the most after a failure', 0.999, () => refusal('ServiceUnavailable', 503), {}, 500],
    ['the date of Retry-After, by the clock of the answer', 0, () => refusal('Unavailable', 503, DATES), {}, 30_000],
    // 40 ms went by in the call.
    ['what maxWaitMs leaves of a random wait', 0.999, tooFrequent(60), { maxWaitMs: 60_200 }, 60_160],
  ])('waits for %s', async (_what, random, refused, options, ms) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    const { client, waitsMs } = clientOver(
      oneByOne(refused, () => ok({})),
      options,
    );
    await client.getRumResource();
    expect(waitsMs()).toEqual([ms]);
  });

  it('sends a call twenty times at most when Retry-After is 0', async () => {
    const { client, bodies, waitsMs } = clientOver(tooFrequent(0), { maxWaitMs: 1e9 });
    await expect(client.browseFleet()).rejects.toBeInstanceOf(RequestTooFrequentlyError);
    expect(bodies).toHaveLength(20);
    expect(Math.min(...waitsMs())).toBeGreaterThanOrEqual(100);
  });

  it('puts the app key in no error and no event when a server repeats the address', async () => {
    const lower = encodeURIComponent(APP_KEY).replace(/%../g, (code) => code.toLowerCase());
    for (const key of [APP_KEY, encodeURIComponent(APP_KEY), lower]) {
      const body = { request_id: key, error: { code: key, message: `no /x?app_key=${key}` } };
      const { client, events } = clientOver(() => json(body, { status: 400 }));
      const error = (await errorOf(client.getRumResource())) as Error;
      const shown = JSON.stringify([error.message, error.stack, error.name, { ...error }, events]);
      expect(shown).not.toContain(key);
    }
  });

  it('names itself, its version, and its language', async () => {
    const { name, version } = JSON.parse(readFileSync('packages/client/package.json', 'utf8'));
    const named = ({ headers }: { headers: Headers }) =>
      ok({ order_id: headers.get('User-Agent'), resource_name: headers.get('Accept-Language') });
    const { client } = clientOver(named, { language: 'zh-CN' });
    const order_id = `${name}/${version}`;
    expect(await client.getRumResource()).toEqual({ order_id, resource_name: 'zh-CN' });
    expect(await clientOver(named).client.getRumResource()).toEqual({ order_id, resource_name: null });
  });

  it('ends at its time-out, or when a signal aborts, even in the middle of a response body', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '99' }).write('{');
    });
    const client = createClient({ url, appKey: APP_KEY, retries: 0, timeoutMs: 200 });
    const error = await errorOf(client.getRumResource());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toBeInstanceOf(ConnectionError);
    const signal = AbortSignal.timeout(100);
    expect(await errorOf(client.getRumResource({}, { signal, timeoutMs: 600_000 }))).toBe(signal.reason);
  });

  it('reads an answer of 64 MiB, also if it was compressed, and no larger one', async () => {
    const envelope = JSON.stringify({ request_id: 'r', data: { product: 'rum' } });
    const ofBytes = (size: number) => gzipSync(envelope.padEnd(size), { level: 1 });
    const MAX_BYTES = 64 * 1024 * 1024;
    const answers = [ofBytes(MAX_BYTES), ofBytes(MAX_BYTES + 1)];
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(answers.shift());
    });
    const client = createClient({ url, appKey: APP_KEY });
    expect(await client.getRumResource()).toEqual({ product: 'rum' });
    expect(await errorOf(client.getRumResource())).toBeInstanceOf(AnswerTooLargeError);
    expect(answers).toEqual([]);
  });

  it('stops to read an answer that does not end', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await serve(async (_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).once('close', closed.resolve);
      const gzip = createGzip({ level: 1 });
      gzip.pipe(response);
      while (!response.destroyed)
        if (!gzip.write(Buffer.alloc(1024 * 1024))) await Promise.race([once(gzip, 'drain'), closed.promise]);
    });
    const client = createClient({ url, appKey: APP_KEY, timeoutMs: 60_000 });
    expect(await errorOf(client.mergeAlerts(MERGE))).toMatchObject({
      name: 'AnswerTooLargeError',
      message: `${url}/alert/merge answered with more than 64 MiB: check the url`,
      idempotencyKey: expect.any(String),
    });
    await closed.promise;
  });

  it.each([0, 0.999])('outlives an outage of half a minute with waits that grow (random: %d)', async (random) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    const { client, keys, waitsMs, elapsed } = clientOver(
      (): Response => (elapsed() < 30_000 ? refusal('ServiceUnavailable', 503) : ok(null)),
    );
    await client.mergeAlerts(MERGE);
    expect(new Set(keys).size).toBe(1);
    expect(elapsed()).toBeLessThan(65_000);
    expect(waitsMs()).toEqual(waitsMs().toSorted((a, b) => a - b));
  });

  it('tries a service that it has not reached only once, if retryUnreachable is false, but one that has answered again', async () => {
    const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
    const unreachable = (): Response => {
      throw new TypeError('fetch failed', { cause: refused });
    };
    let calls = 0;
    const answers = [unreachable, () => ok(null), unreachable, unreachable, () => ok(null)];
    const { client, waits } = clientOver(() => answers[calls++]?.() ?? ok(null), { retryUnreachable: false });
    const error = await errorOf(client.mergeAlerts(MERGE));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: expect.stringMatching(/^No answer from .*: ECONNREFUSED$/) });
    await client.mergeAlerts(MERGE);
    await client.mergeAlerts(MERGE);
    expect([calls, waits().length]).toEqual([5, 2]);
  });

  it('resumes a failed walk after the last host, by the cursor of its error', async () => {
    const fleet = limitedFleet(250);
    let calls = 0;
    const { client } = clientOver((request) => (++calls === 3 ? refusal('InternalError', 500) : fleet.serve(request)));
    const seen: string[] = [];
    const walk = async (cursor?: string) => {
      for await (const { host_id } of client.hosts(cursor === undefined ? {} : { cursor })) seen.push(host_id);
    };
    const error = await errorOf(walk());
    expect(error).toMatchObject({ code: 'InternalError', cursor: '200' });
    await walk((error as ServiceError).cursor);
    expect(seen).toEqual(Array.from({ length: 250 }, (_, index) => String(index)));
  });

  it('explains the status of a host', () => {
    const stale = { enabled: true, status: 'stale', max_age_ms: 612_000, report_interval_ms: 30_000 } as const;
    expect(explainStatus({ servicemap: stale })).toBe(
      'The latest snapshot is 10 min old: more than twice the report interval of 30 s.',
    );
    const whyUnread = (status: 'no_data' | 'initializing') =>
      explainStatus({ servicemap: { enabled: true, status, error_code: 'status_unavailable' } });
    expect(whyUnread('no_data')).toBe(
      'Its live status could not be read, so only the inventory counts. It does not tell whether the host has reported.',
    );
    expect(whyUnread('initializing')).toBe(
      'Its live status could not be read, so only the inventory counts. Its snapshot_ready is false, and it has a capability_status.',
    );
    const reason_codes = ['disk_full', 'snapshot_truncated'];
    expect(explainStatus({ servicemap: { enabled: true, status: 'degraded', max_age_ms: 1, reason_codes } })).toBe(
      'The latest snapshot is 0.0 s old, but: snapshot_truncated.',
    );
  });

  it.each([
    [{ cursor: 'c', statuses: ['stale'] }, 100],
    [{ scan_limit: 60 }, 60],
  ] as const)('asks for the pages of %j, each with %i hosts', async (request, limit) => {
    const { client, bodies } = clientOver(({ text }) =>
      ok({ items: [], next_cursor: text.includes('"d"') ? undefined : 'd' }),
    );
    expect(await Array.fromAsync(client.hosts(request as BrowseFleetRequest))).toEqual([]);
    expect(bodies.map((body) => JSON.parse(body))).toEqual([
      { ...request, limit },
      { ...request, limit, cursor: 'd' },
    ]);
  });

  it.each([
    ['503', () => refusal('ServiceUnavailable', 503, { 'Retry-After': '2' }), 'unavailable', 2_000],
    ['502 of a proxy', () => new Response('<html>', { status: 502 }), 'unavailable', undefined],
    [
      'no answer',
      () => {
        throw new TypeError('fetch failed');
      },
      'no-answer',
      undefined,
    ],
    [
      'an answer that is cut off',
      () => new Response(new ReadableStream({ pull: (body) => body.error(new TypeError('terminated')) })),
      'no-answer',
      undefined,
    ],
  ] as const)(
    'retries a merge with the same idempotency key after %s, and gives up after the given number of retries',
    async (_name, fail, reason, ms) => {
      let failures = 1;
      const { client, keys, bodies, waits, waitsMs } = clientOver(
        () => (failures-- > 0 ? fail() : ok(null, { 'Idempotent-Replayed': 'true' })),
        { retries: 2 },
      );
      expect(await client.mergeAlerts(MERGE)).toEqual({ replayed: true });
      expect(keys[0]).toMatch(/^[\da-f]{32}$/);
      expect(keys[1]).toBe(keys[0]);
      expect(bodies[1]).toBe(bodies[0]);
      expect(waits()).toMatchObject([{ reason }]);
      expect(waitsMs()[0]).toBeGreaterThanOrEqual(ms ?? 100);
      failures = 99;
      const idempotencyKey = 'mine';
      await expect(client.mergeAlerts(MERGE, { idempotencyKey })).rejects.toMatchObject({ idempotencyKey });
      expect(keys.slice(2)).toEqual(['mine', 'mine', 'mine']);
    },
  );

  it('gives records that have none the time of the first try, so that a retry after 503 changes nothing', async () => {
    const answers = oneByOne(
      () => refusal('ServiceUnavailable', 503),
      () => ok({ accepted: 3 }),
    );
    const { client, bodies } = clientOver(answers);
    const member: IngestRecord = { kind: 'member', member_id: 7, name: 'Ann' };
    const records: IngestRecord[] = [member, { ...member, at_ms: 5 }, { ...member, at_ms: undefined as never }];
    const before = Date.now();
    expect(await client.sendRecords({ records })).toEqual({ accepted: 3 });
    const after = Date.now();
    const [first, second] = bodies.map((body) => JSON.parse(body));
    expect(second).toEqual(first);
    const at_ms = expect.toSatisfy((time: number) => before <= time && time <= after);
    expect(first).toEqual({
      records: [
        { ...member, at_ms },
        { ...member, at_ms: 5 },
        { ...member, at_ms },
      ],
    });
    expect(records).toEqual([member, { ...member, at_ms: 5 }, member]);
  });

  it('leaves it to the service to refuse records that are none', async () => {
    const { client, bodies } = clientOver(() => refusal('InvalidParameter', 400));
    for (const records of [undefined, 'x', [null, 5, [1]]])
      await expect(client.sendRecords({ records } as never)).rejects.toThrow(ServiceError);
    expect(bodies).toEqual(['{}', '{"records":"x"}', '{"records":[null,5,[1]]}']);
  });

  it.each(['', 'k'.repeat(256), '合并'])('refuses the idempotency key %j at once', async (idempotencyKey) => {
    const { client, events } = clientOver(() => ok(null));
    const error = await errorOf(client.mergeAlerts(MERGE, { idempotencyKey }));
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: 'idempotencyKey must be 1 to 255 visible ASCII characters and spaces' });
    expect(events).toEqual([]);
  });

  it.each([400, 500])('does not retry a refusal with status %i', async (status) => {
    const { client, bodies } = clientOver(() => refusal('InternalError', status));
    await expect(client.getRumResource()).rejects.toBeInstanceOf(ServiceError);
    expect(bodies).toHaveLength(1);
  });

  it.each([
    ...Object.entries(ERROR_CODES).filter(([code]) => code !== 'OK'),
    ['constructor', { status: 418 }] as const,
  ])('has an error class for the code %s', async (code, { status }) => {
    const { client } = clientOver(() => refusal(code, status), { retries: 0, maxWaitMs: 0 });
    const error = (await errorOf(client.getRumResource())) as Error;
    expect(error).toMatchObject({ code, status, requestId: 'r', retryAfter: undefined, message: 'no' });
    expect(error).toBeInstanceOf(ServiceError);
    expect(error.name).toBe(code === 'InternalError' ? code : `${code}Error`);
    expect(error.constructor.name).toBe(code === 'constructor' ? 'ServiceError' : error.name);
  });

  it("reports API Gateway's own 413, which has no envelope, as EntityTooLarge", async () => {
    const init = { status: 413, headers: { 'x-amzn-requestid': 'id' } };
    const { client } = clientOver(() => new Response('HTTP content length exceeded 10485760 bytes.', init));
    const expected = { name: 'EntityTooLargeError', code: 'EntityTooLarge', status: 413, requestId: 'id' };
    expect(await errorOf(client.getRumResource())).toMatchObject(expected);
  });

  it('gives integers as numbers, ids beyond 2^53 as bigints, and rounds nothing', async () => {
    const answer = (data: string) => () => json(`{"request_id":"r","data":${data}}`);
    const data =
      '{"account_id":9223372036854775807,"offering_id":7,"later":[9007199254740993],"order_id":":9007199254740993,\\""}';
    expect(await clientOver(answer(data)).client.getRumResource()).toEqual({
      account_id: 9223372036854775807n,
      offering_id: 7,
      later: [9007199254740993n],
      order_id: ':9007199254740993,"',
    });
    const inexact = clientOver(answer('{"items":[{},{"servicemap":{"node_count":9007199254740993}}]}'));
    const error = await errorOf(inexact.client.browseFleet());
    expect(error).toBeInstanceOf(InexactNumberError);
    expect(error).toMatchObject({ field: 'data.items[1].servicemap.node_count' });

    const sent = clientOver(() => ok({}));
    await sent.client.deleteWorkItem({ work_item_id: 'w', version: 9007199254740993n });
    expect(sent.bodies).toEqual(['{"work_item_id":"w","version":9007199254740993}']);
    const record: IngestRecord = { kind: 'member', member_id: 2 ** 53, name: 'Ann' };
    await expect(sent.client.sendRecords({ records: [record] })).rejects.toMatchObject({
      field: 'records.0.member_id',
    });
    expect(sent.bodies).toHaveLength(1);
  });

  it('puts the app key in no event and no error when a call fails', async () => {
    const encoded = encodeURIComponent(APP_KEY);
    const deep = new TypeError(`fetch failed for ${APP_KEY}`, { cause: new Error(`at ?app_key=${encoded}`) });
    const { client, events } = clientOver(() => {
      throw deep;
    });
    const error = (await errorOf(client.getRumResource())) as ConnectionError;
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/^No answer from https:\/\/service\.test\/rum\/resource\/info: /);
    expect(error).toMatchObject({
      origin: 'https://service.test',
      cause: { name: 'TypeError', cause: { message: 'at ?app_key=<app_key>' } },
    });
    const shown: unknown[] = [events];
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
      shown.push({ ...cause }, cause.message, cause.stack);
    expect(events.filter(({ type }) => type === 'failure')).toHaveLength(9);
    for (const secret of [APP_KEY, encoded]) expect(JSON.stringify(shown)).not.toContain(secret);
  });

  it('reports that another service answers', async () => {
    const { client } = clientOver(() => new Response('<html>', { status: 200 }));
    const error = await errorOf(client.getRumResource());
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).toMatchObject({ status: 200, message: expect.stringContaining('check the url') });
  });

  it('ends a wait with the reason of the signal that aborts, and begins no call after it', async () => {
    const reason = new Error('enough');
    const aborted = new AbortController();
    const { client, bodies } = clientOver(() => refusal('ServiceUnavailable', 503), {
      sleep: async () => aborted.abort(reason),
    });
    for (const _call of [1, 2])
      await expect(client.getRumResource({}, { signal: aborted.signal })).rejects.toBe(reason);
    expect(bodies).toHaveLength(1);
  });

  it('completes a call although onEvent throws', async () => {
    const { client } = clientOver(() => ok(null), {
      onEvent: () => {
        throw new Error('a logger that is down');
      },
    });
    expect(await client.mergeAlerts(MERGE)).toEqual({ replayed: false });
  });

  it.each([
    ['url', { url: 'http://u:secret@service.test', appKey: 'k' }],
    ['url', { url: 'http://service.test?app_key=secret', appKey: 'k' }],
    ['appKey', { url: BASE_URL, appKey: '' }],
    ['appKey', { url: BASE_URL, appKey: 'secret\ud83d' }],
    ['language', { url: BASE_URL, appKey: 'k', language: 'zh–CN' }],
  ])('refuses a wrong %s at once, without showing it', (name, options) => {
    expect(() => createClient(options)).toThrow(TypeError);
    expect(() => createClient(options)).toThrow(new RegExp(`^${name} `));
    expect(() => createClient(options)).not.toThrow(/secret/);
  });

  it.each([
    ['http://service.test', 1],
    ['http://127.0.0.1:3000', 0],
    ['http://[::1]:3000', 0],
    ['http://127.0.0.1.evil.test', 1],
  ])('warns before it sends a key unencrypted to another machine: %s', (url, warnings) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    createClient({ url, appKey: APP_KEY });
    expect(warn).toHaveBeenCalledTimes(warnings);
    expect(String(warn.mock.calls)).not.toContain(APP_KEY);
  });
});
