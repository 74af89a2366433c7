import { randomUUID } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { data, invalid, refused } from '../answers.ts';
import { type ApiClient, DELETE, FLEET, RUM } from '../api-client.ts';
import { MAX_BODY_BYTES } from '../contract.ts';
import { Skipped } from '../environment.ts';
import { LARGE_FLEET } from '../hosts.ts';
import { type Requirements, withData } from '../requirement.ts';
import {
  ALL,
  finds,
  type Item,
  localizesMessages,
  MISSING,
  namesEveryInvalidField,
  onEach,
  refuses,
  store,
} from './common.ts';
import { recordsComment } from './operations/merge-alerts.ts';

/** The calls left in the window of `quota` calls in `seconds`, by the headers `RateLimit-Policy` and `RateLimit`. */
function callsLeft(headers: Headers, quota: number, seconds: number): number {
  const policy = new RegExp(`"([^"]+)";q=${quota};w=${seconds}`).exec(headers.get('ratelimit-policy') ?? '')?.[1];
  const remaining = new RegExp(`"${policy}";r=(\\d+)`).exec(headers.get('ratelimit') ?? '')?.[1];
  expect(remaining, `RateLimit of ${quota} calls in ${seconds} s, in "${headers.get('ratelimit')}"`).toBeDefined();
  return Number(remaining);
}

async function reportsCallsLeft(api: ApiClient): Promise<void> {
  api.need('dataSet');
  // Both calls that count must be in the same minute.
  if (Date.now() % 60_000 > 50_000) await api.environment.wait(60_020 - (Date.now() % 60_000));
  const browse = async () => (await api.fleet({ limit: 1 })).headers;
  let before = await browse();
  if (callsLeft(before, 30, 60) === 0) before = await browse(); // in the next minute
  invalid(await api.fleet({ limit: 0 }), 'limit');
  const after = await browse();
  expect(callsLeft(after, 30, 60), 'calls left in the minute').toBe(callsLeft(before, 30, 60) - 1);
  for (const headers of [before, after]) {
    const limit = Number(headers.get('x-ratelimit-limit'));
    expect([2, 30], 'X-RateLimit-Limit').toContain(limit);
    const remaining = limit === 2 ? callsLeft(headers, 2, 1) : callsLeft(headers, 30, 60);
    expect(headers.get('x-ratelimit-remaining'), 'X-RateLimit-Remaining').toBe(String(remaining));
    const resetMs = Number(headers.get('x-ratelimit-reset')) * 1_000;
    expect(resetMs, 'X-RateLimit-Reset').toBeGreaterThan(Date.parse(headers.get('date') ?? '') - 2_000);
  }
}

const INTERVAL_MS = 3_600_000;
const MAX_TRIES = 8;
/** Long enough to store the reports before the page is requested. */
const LEAD_MS = 1_500;

/** Hosts whose reports are a millisecond apart, so that one is exactly two intervals old when the page is made. */
async function hostsAroundTwoIntervals(api: ApiClient): Promise<Item[]> {
  const { usageAccount } = api.need('furtherAccounts');
  const inventory = { agent_version: '1', edge_cluster: 'x', enabled: true, snapshot_ready: true };
  const flags = { authoritative: true, graph_available: true, snapshot_truncated: false, snapshot_degraded: false };
  const report = { node_count: 1, edge_count: 1, ...flags };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const pageMs = Date.now() + LEAD_MS;
    const lines = Array.from({ length: 100 }, (_, index) => {
      const ids = { account_id: usageAccount.account, host_id: `exact-${index}` };
      return [
        { kind: 'host', ...ids, ...inventory, report_interval_ms: INTERVAL_MS },
        { kind: 'host_status', ...ids, ...report, received_at_ms: pageMs - 2 * INTERVAL_MS + index },
      ];
    });
    await store(usageAccount, lines.flat());
    await api.environment.wait(pageMs - Date.now());
    const { items } = data(await api.call(FLEET, { limit: 100 }, { as: usageAccount.appKey }));
    if (items.some(({ servicemap }: Item) => servicemap.max_age_ms === 2 * INTERVAL_MS)) return items;
  }
  throw new Skipped('no page was made when a report was exactly two intervals old');
}

const NO_FILTERS = { cursor: '', statuses: [], agent_versions: [], edge_clusters: [], capture_modes: [] };

export const decisions = {
  'HEAD and OPTIONS are refused, like other methods': async (api) => {
    for (const { path } of api.operations)
      for (const method of ['HEAD', 'OPTIONS']) {
        const { status, headers } = await api.request(path, { method });
        expect([status, headers.get('allow')], `${method} ${path}`).toEqual([405, 'POST']);
      }
  },
  'An unknown path is 404 for every method': async (api) => {
    for (const method of ['GET', 'PUT']) refused(await api.call('/no/such', undefined, { method }), 'RouteNotFound');
  },
  'A trailing slash is the same route': async (api) =>
    refused(await api.call(`${RUM}/`, {}, { as: null }), 'Unauthorized'),
  'A body needs a content type; a request without a body needs none and counts as {}': async (api) => {
    const path = `${DELETE}?app_key=${api.environment.appKey}`;
    // Bytes, since fetch adds a content type to a string.
    const withBody = await api.request(path, { method: 'POST', body: new TextEncoder().encode('{}') });
    expect(JSON.parse(withBody.text).error?.code, 'code with a body').toBe('InvalidContentType');
    const withoutBody = await api.request(path, { method: 'POST' });
    expect(JSON.parse(withoutBody.text).error?.code, 'code without a body').toBe('InvalidParameter');
  },
  'A body is a JSON object in UTF-8 of at most 256 KiB': async (api) => {
    for (const raw of ['[]', '"x"', '7', 'null', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])])
      refused(await api.call(RUM, undefined, { raw }), 'InvalidParameter');
    const ofSize = (bytes: number) => ({ raw: `{"no_cache":0,"xx":"${'é'.repeat((bytes - 22) / 2)}"}` });
    invalid(await api.call(RUM, undefined, ofSize(256 * 1_024)), 'no_cache');
    for (const bytes of [256 * 1_024 + 2, 1_000_000])
      refused(await api.call(RUM, undefined, ofSize(bytes)), 'EntityTooLarge');
  },
  'A body may be in gzip, small or large; in another encoding it is refused, and named': async (api) => {
    const zipped = (text: string) => ({
      raw: new Uint8Array(gzipSync(text)),
      headers: { 'Content-Encoding': 'gzip' },
    });
    for (const space of [0, 100_000])
      invalid(await api.call(RUM, undefined, zipped(`{"no_cache":0${' '.repeat(space)}}`)), 'no_cache');
    refused(await api.call(RUM, undefined, zipped(' '.repeat(1_000_000))), 'EntityTooLarge');
    const headers = { 'Content-Encoding': 'deflate' };
    refused(
      await api.call(RUM, undefined, { raw: new Uint8Array(deflateSync('{}')), headers }),
      'InvalidParameter',
      'deflate',
    );
  },
  'A body is read exactly: unknown fields are ignored whatever their names, the last of equal fields counts': async (
    api,
  ) => {
    for (const field of ['"constructor":1', '"__proto__":{"no_cache":7}', '"\\ud800":1', '"x":1e400', '"x":[[],{}]'])
      for (const raw of [`{${field}}`, `{"no_cache":true,${field}}`]) data(await api.rum(undefined, { raw }));
    invalid(await api.call(RUM, undefined, { raw: '{"no_cache":true,"no_cache":7}' }), 'no_cache');
  },
  'A syntax error is named with its line and column': async (api) => {
    for (const [raw, ...position] of [
      ['{', '1', '2'],
      ['{\n  "a": 1,\r\n}', '3', '1'],
      ['\ufeff{}', 'U+FEFF'],
    ] as const)
      for (const number of position) refused(await api.call(RUM, undefined, { raw }), 'InvalidParameter', number);
  },
  'A body may be nested 1,000 levels deep': async (api) => {
    const nested = (levels: number, open: string, close: string) => ({
      raw: `{"x":${open.repeat(levels - 1)}"[{"${close.repeat(levels - 1)}}`,
    });
    for (const [open, close] of [
      ['[', ']'],
      ['{"é":', '}'],
    ] as const) {
      data(await api.rum(undefined, nested(1_000, open, close)));
      invalid(await api.call(RUM, undefined, nested(1_001, open, close)), '1000');
    }
  },
  'The key is taken only from the query, where it must be given once': async (api) => {
    const { appKey } = api.environment;
    refused(await api.call(RUM, {}, { as: null, headers: { 'x-api-key': appKey } }), 'Unauthorized');
    const twice = await api.request(`${RUM}?app_key=${appKey}&app_key=${appKey}`, { method: 'POST' });
    expect(twice.status, 'status with app_key twice').toBe(401);
  },
  'Checks have an order: key, permission, content type, size, body': async (api) => {
    await onEach(api, async ({ path, permission, maxBodyBytes = MAX_BODY_BYTES }) => {
      const tooLarge = `{"limit":0,"no_cache":0,"x":"${'x'.repeat(maxBodyBytes)}`;
      const all = { raw: tooLarge, headers: { 'Content-Type': 'text/plain' } };
      refused(await api.call(path, {}, { ...all, as: 'unknown' }), 'Unauthorized');
      refused(await api.call(path, {}, { as: 'unknown', raw: '{' }), 'Unauthorized');
      refused(await api.call(path, {}, all), 'InvalidContentType');
      refused(await api.call(path, {}, { raw: tooLarge }), 'EntityTooLarge');
      if (permission !== undefined)
        refused(await api.call(path, {}, { ...all, as: api.need('otherKey') }), 'AccessDenied', permission);
    });
  },
  'An expired key gets the same answer as an unknown one': async (api) => {
    const expired = await api.call(RUM, {}, { as: api.need('expiredKey') });
    const unknown = await api.call(RUM, {}, { as: 'unknown' });
    expect(expired.body.error).toEqual(unknown.body.error);
  },
  'Every refusal is localized, and Content-Language names the language': localizesMessages,
  'A refusal names every wrong field': namesEveryInvalidField,
  'The same call twice at once has different request_ids': async (api) => {
    const [first, second] = await Promise.all([api.remove({}), api.remove({})]);
    expect(first.body.request_id).not.toBe(second.body.request_id);
  },
  'null is not absence, and a number is compared by its value': async (api) => {
    for (const field of ['cursor', 'limit', 'scan_limit', 'statuses', 'agent_versions', 'capture_modes'])
      await refuses(FLEET, field, [null])(api);
    await refuses(DELETE, 'version', [null], { work_item_id: 'x' })(api);
    for (const version of ['1.0', '1e1']) {
      const raw = `{"work_item_id":"certify-none","version":${version}}`;
      refused(await api.call(DELETE, undefined, { raw }), 'ResourceNotFound');
    }
  },
  'Unknown fields are ignored': async (api) =>
    refused(await api.remove({ ...MISSING, more: { deep: [1] } }), 'ResourceNotFound'),
  'An empty cursor and empty filters count as not given': finds(NO_FILTERS),
  'Filters are ANDed, their values are ORed': finds(
    { statuses: ['active', 'degraded'], edge_clusters: ['core-b'], agent_versions: ['2.0.1'] },
    { capture_modes: ['polling', 'unknown'] },
  ),
  'A cursor of another account is refused': async (api) => {
    const as = api.need('furtherAccounts').recordAccount.appKey;
    const { next_cursor: cursor } = data(await api.fleet({ limit: 2 }));
    expect(cursor).toBeDefined();
    refused(await api.call(FLEET, { cursor }, { as }), 'InvalidParameter');
  },
  'A scan that ends on the last host is not truncated': withData(async (api) => {
    const body = { edge_clusters: ['nowhere'], scan_limit: LARGE_FLEET };
    const page = data(await api.fleet(body));
    expect(page).toMatchObject({ coverage: { scanned: LARGE_FLEET }, truncated: false, partial: false });
    expect(page).not.toHaveProperty('next_cursor');
  }),
  'A host is fresh at exactly two intervals and stale after them': async (api) => {
    for (const { servicemap } of await hostsAroundTwoIntervals(api)) {
      const { max_age_ms: age, freshness_status } = servicemap;
      expect(freshness_status, `freshness at ${age} ms`).toBe(age <= 2 * INTERVAL_MS ? 'fresh' : 'stale');
    }
  },
  'In an outage of the live status no host has a status that needs it': async (api) => {
    const url = await api.need('startDefective')('live-status');
    for (const { servicemap } of data(await api.fleet(ALL, { url })).items) {
      expect(['active', 'stale']).not.toContain(servicemap.status);
      expect(servicemap.freshness_status).toBe('unknown');
    }
  },
  'Rate headers give the number of calls left; refused calls do not count': { usesUpRateLimit: reportsCallsLeft },
  'RUM needs no permission; without a record it is ResourceNotFound': async (api) =>
    refused(await api.call(RUM, {}, { as: api.need('otherKey') }), 'ResourceNotFound'),
  'Age is the age of the RUM record in seconds': async (api) =>
    expect((await api.rum()).headers.get('age') ?? '', 'Age').toMatch(/^\d+$/),
  'Another account’s entities are treated as if they did not exist': withData(
    async (api, { otherAccount, alerts, incidents }) => {
      const { alert, incident, work_item_id } = otherAccount;
      const as = api.need('otherKey');
      invalid(await api.remove({ work_item_id, version: 2 }, { as }), 'version');
      data(await api.merge({ alert_ids: [alert], incident_id: incident }, { as }));
      refused(await api.remove({ work_item_id, version: 1 }), 'ResourceNotFound', work_item_id);
      refused(await api.merge({ alert_ids: [alert], incident_id: incidents.bounds }), 'ResourceNotFound', alert);
      refused(await api.merge({ alert_ids: [alerts[2]], incident_id: incident }), 'ResourceNotFound', incident);
    },
  ),
  'Alert ids are accepted in either letter case': withData(async (api, { alerts, incidents }) =>
    data(await api.merge({ alert_ids: [alerts[2]?.toUpperCase()], incident_id: incidents.bounds })),
  ),
  'An empty title or comment counts as not given; an unknown owner is refused': withData(
    async (api, { alerts, incidents }) => {
      const ids = { alert_ids: [alerts[11]], incident_id: incidents.target };
      refused(await api.merge({ ...ids, owner_id: 999_999 }), 'ResourceNotFound', '999999');
      data(await api.merge({ ...ids, title: '', comment: '' }));
    },
  ),
  'Idempotency-Key: the same call again is replayed, another body refused': withData(
    async (api, { alerts, incidents }) => {
      const body = { alert_ids: [alerts[11]], incident_id: incidents.target };
      const headers = { 'Idempotency-Key': randomUUID() };
      data(await api.merge(body, { headers }));
      const repeated = await api.merge(body, { headers });
      expect(repeated.headers.get('idempotent-replayed'), 'Idempotent-Replayed').toBe('true');
      refused(await api.merge({ ...body, title: 'Other' }, { headers }), 'InvalidParameter');
    },
  ),
  'A comment of 1024 characters is recorded whole': (api) => recordsComment(api, randomUUID().padEnd(1_024, 'c')),
  'An account_id in a body is ignored: the key decides whose data a call is about': async (api) => {
    const { account_id, resource_name } = data(await api.rum());
    expect(data(await api.rum({ account_id: 1 }))).toMatchObject({ account_id, resource_name });
  },
  'A work item id has 1 to 128 characters, a version that can be deleted is from 1 to 2^63 - 2': async (api) => {
    await refuses(DELETE, 'work_item_id', ['', 'x'.repeat(129)], { version: 1 })(api);
    await refuses(DELETE, 'version', [0, 2n ** 63n - 1n], { work_item_id: 'x' })(api);
    const longest = { work_item_id: '😀'.repeat(128), version: 2n ** 63n - 2n };
    refused(await api.remove(longest), 'ResourceNotFound');
  },
} satisfies Requirements;
