import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFeed } from '../../../../lib/operations/merge-alerts/read-incidents.ts';
import { stringifyJson } from '../../../../lib/shared/json.ts';
import { loadData } from '../../../admin/data/load.ts';
import { data, equal, holds, invalid, refused } from '../expect.ts';
import { HOSTS, hostsWhere, LARGE_FLEET } from '../hosts.ts';
import { Skipped } from '../outcome.ts';
import { section, shown, shownOnData } from '../sentence.ts';
import { DELETE_PATH, FLEET, RUM, type Trial } from '../trial.ts';
import type { Item } from './fleet-host.ts';

const ALL = { limit: HOSTS.length, scan_limit: HOSTS.length };
const NOBODY = { as: null };
const isChinese = (text: string) => /\p{Script=Han}/u.test(text);
const idsOf = async (t: Trial, filter: object) =>
  data(await t.page({ ...ALL, ...filter })).items.map(({ host_id }: Item) => host_id);

/** Browses twice with a refused call between, in one minute of the clock, as a caller that nobody else uses meanwhile. */
async function quotas(t: Trial): Promise<[before: Headers, after: Headers]> {
  for (;;) {
    const minute = Math.floor(Date.now() / 60_000);
    const found = await t.lab.turns.take(undefined, async (as) => {
      const before = await t.call(FLEET, { limit: 1 }, { as });
      invalid(await t.call(FLEET, { limit: 0 }, { as }), 'limit');
      const after = await t.call(FLEET, { limit: 1 }, { as });
      return [before.headers, after.headers] as [Headers, Headers];
    });
    if (Math.floor(Date.now() / 60_000) === minute) return found;
  }
}

/** Calls left in the window, by the policy of which this is the quota and the seconds. */
function leftOf(headers: Headers, policy: string): number {
  const name = new RegExp(`"([^"]+)";${policy}`).exec(headers.get('ratelimit-policy') ?? '')?.[1];
  const left = Number(new RegExp(`"${name}";r=(\\d+)`).exec(headers.get('ratelimit') ?? '')?.[1]);
  holds(Number.isInteger(left), `RateLimit of the policy ${policy}`, headers.get('ratelimit'));
  return left;
}

const INTERVAL_MS = 3_600_000;
const MAX_TRIES = 8;
const LEAD_MS = 1_500;

/** Hosts whose reports are a millisecond apart, so that one is exactly two intervals old when the page is made. */
async function aroundTwoIntervals(t: Trial): Promise<Item[]> {
  const { table, account, caller } = t.need('changing').usage;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const at = Date.now() + LEAD_MS;
    const lines = Array.from({ length: 100 }, (_, index) => {
      const of = { account_id: account, host_id: `exact-${index}` };
      const flags = { authoritative: true, graph_available: true, snapshot_truncated: false, snapshot_degraded: false };
      const live = { received_at_ms: at - 2 * INTERVAL_MS + index, node_count: 1, edge_count: 1, ...flags };
      const host = { enabled: true, snapshot_ready: true, agent_version: '1', edge_cluster: 'x' };
      return [
        { kind: 'host', ...of, ...host, report_interval_ms: INTERVAL_MS },
        { kind: 'host_status', ...of, ...live },
      ].map((line) => stringifyJson(line));
    });
    await loadData(table, 'certify', lines.flat(), { nowSeconds: Math.floor(Date.now() / 1000) });
    await sleep(at - Date.now());
    const { items } = data(await t.call(FLEET, { limit: 100 }, { as: caller }));
    if (items.some(({ servicemap }: Item) => servicemap.max_age_ms === 2 * INTERVAL_MS)) return items;
  }
  throw new Skipped('no page was made when a report was exactly two intervals old');
}

export const combined = section('10', 'What the contract leaves to decisions, and rules together', [
  shown('HEAD and OPTIONS are refused as other methods are', async (t) => {
    for (const method of ['HEAD', 'OPTIONS'])
      equal((await t.fetch(RUM, { method })).status, 405, `status of ${method}`);
  }),
  shown('An unknown path is 404 for every method', async (t) => {
    for (const method of ['GET', 'PUT']) refused(await t.call('/no/such', undefined, { method }), 'RouteNotFound');
  }),
  shown('A trailing slash is the same route', async (t) =>
    refused(await t.call(`${RUM}/`, {}, NOBODY), 'Unauthorized'),
  ),
  shown('A body needs a content type, no body needs none and counts as {}', async (t) => {
    const body = new TextEncoder().encode('{}');
    const path = `${DELETE_PATH}?app_key=${t.lab.main.appKey}`;
    const codeOf = async (response: Response) => ((await response.json()) as Item).error?.code;
    equal(await codeOf(await t.fetch(path, { method: 'POST', body })), 'InvalidContentType', 'code with a body');
    equal(await codeOf(await t.fetch(path, { method: 'POST' })), 'InvalidParameter', 'code without a body');
  }),
  shown('A body is a JSON object in UTF-8 of at most 256 KiB', async (t) => {
    for (const raw of ['[]', '"x"', '7', 'null', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])])
      refused(await t.call(RUM, undefined, { raw }), 'InvalidParameter');
    refused(await t.call(RUM, undefined, { raw: `{"x":"${'x'.repeat(1_000_000)}"}` }), 'EntityTooLarge');
  }),
  shown('The key is taken from the query alone, and once', async (t) => {
    const { appKey } = t.lab.main;
    refused(await t.call(RUM, {}, { as: null, headers: { 'x-api-key': appKey } }), 'Unauthorized');
    equal((await t.fetch(`${RUM}?app_key=${appKey}&app_key=${appKey}`, { method: 'POST' })).status, 401, 'status');
  }),
  shown('The key is checked before content type and body', async (t) => {
    const as = { appKey: 'unknown' };
    refused(await t.call(RUM, {}, { as, headers: { 'Content-Type': 'text/plain' } }), 'Unauthorized');
    refused(await t.call(RUM, {}, { as, raw: '{' }), 'Unauthorized');
  }),
  shown('An expired key is answered as an unknown one', async (t) => {
    const expired = await t.call(RUM, {}, { as: t.need('expired') });
    const unknown = await t.call(RUM, {}, { as: { appKey: 'unknown' } });
    equal(expired.body.error, unknown.body.error, 'error of the expired key');
  }),
  shown('Every refusal is localized, and Content-Language says how', async (t) => {
    for (const [language, chinese] of [
      ['zh-CN', true],
      ['zh-CN;q=0.1, en;q=0.9', false],
    ] as const) {
      const headers = { 'Accept-Language': language };
      for (const answer of [
        await t.remove({}, { headers }),
        await t.remove({ work_item_id: 'certify-none', version: 1 }, { headers }),
        await t.remove({}, { headers: { ...headers, 'Content-Type': 'text/plain' } }),
        await t.remove({}, { headers, as: { appKey: 'unknown' } }),
      ]) {
        equal(isChinese(answer.body.error.message), chinese, `Chinese for ${language}`);
        equal(/^zh/.test(answer.headers.get('content-language') ?? ''), chinese, 'Chinese by Content-Language');
        holds(answer.headers.has('content-language'), 'Content-Language');
      }
    }
  }),
  shown('A refusal names every wrong field', async (t) => {
    const answer = await t.call(FLEET, { limit: 0, statuses: 'x', edge_clusters: 1 });
    for (const field of ['limit', 'statuses', 'edge_clusters']) invalid(answer, field);
  }),
  shown('The same call twice at once has two request_ids', async (t) => {
    const [one, other] = await Promise.all([t.remove({}), t.remove({})]);
    holds(one.body.request_id !== other.body.request_id, 'two request_ids', one.body.request_id);
  }),
  shown('null is not absence, and a number counts by its value', async (t) => {
    for (const field of ['cursor', 'limit', 'scan_limit', 'statuses', 'agent_versions', 'capture_modes'])
      invalid(await t.call(FLEET, { [field]: null }), field);
    invalid(await t.remove({ work_item_id: 'x', version: null }), 'version');
    for (const version of ['1.0', '1e1'])
      refused(
        await t.call(DELETE_PATH, undefined, { raw: `{"work_item_id":"certify-none","version":${version}}` }),
        'ResourceNotFound',
      );
  }),
  shown('Unknown fields are ignored', async (t) => {
    refused(await t.remove({ work_item_id: 'certify-none', version: 1, more: { deep: [1] } }), 'ResourceNotFound');
  }),
  shownOnData('An empty cursor and empty filters count as not given', async (t) => {
    const none = { cursor: '', statuses: [], agent_versions: [], edge_clusters: [], capture_modes: [] };
    equal(await idsOf(t, none), await idsOf(t, {}), 'hosts');
  }),
  shownOnData('Filters are ANDed, their values are ORed', async (t) => {
    equal(
      await idsOf(t, { statuses: ['active', 'degraded'], edge_clusters: ['core-b'], agent_versions: ['2.0.1'] }),
      hostsWhere(
        ({ status, host }) =>
          ['active', 'degraded'].includes(status) && host.edge_cluster === 'core-b' && host.agent_version === '2.0.1',
      ),
      'hosts of three filters',
    );
    equal(
      await idsOf(t, { capture_modes: ['polling', 'unknown'] }),
      hostsWhere(({ host }) => host.capture_mode !== 'ebpf'),
      'hosts of polling and unknown',
    );
  }),
  shown('A cursor of another account is refused', async (t) => {
    const { burst } = t.need('spare');
    if (burst === t.lab.main) throw new Skipped('needs a second account with the permission');
    const { next_cursor: cursor } = data(await t.fleet({ limit: 2 }));
    holds(cursor !== undefined, 'a cursor');
    refused(await t.call(FLEET, { cursor }, { as: burst }), 'InvalidParameter');
  }),
  shownOnData('A scan that ends on the last host is not truncated', async (t) => {
    const body = { edge_clusters: ['nowhere'], scan_limit: LARGE_FLEET };
    const { coverage, truncated, partial, next_cursor } = data(await t.fleet(body, { as: t.lab.main }));
    equal([coverage.scanned, truncated, partial, next_cursor], [LARGE_FLEET, false, false, undefined], 'the scan');
  }),
  shown('A host is fresh at exactly two intervals and stale after them', async (t) => {
    for (const { servicemap } of await aroundTwoIntervals(t)) {
      const { max_age_ms: age, freshness_status, report_interval_ms } = servicemap;
      equal(freshness_status, age <= 2 * report_interval_ms ? 'fresh' : 'stale', `freshness_status at ${age} ms`);
    }
  }),
  shown('In an outage of the live status no host has a status that needs it', async (t) => {
    const url = await t.need('impaired')('live-status');
    for (const { servicemap } of data(await t.fleet(ALL, { url })).items) {
      holds(!['active', 'stale'].includes(servicemap.status), 'a status by inventory', servicemap.status);
      equal(servicemap.freshness_status, 'unknown', 'freshness_status');
    }
  }),
  shown('Rate headers tell what is left; refused calls do not count', async (t) => {
    t.need('entities');
    const [before, after] = await quotas(t);
    const [second, minute] = ['q=2;w=1', 'q=30;w=60'];
    equal(leftOf(after, minute), leftOf(before, minute) - 1, 'calls left in the minute');
    for (const headers of [before, after]) {
      const [limit, left, reset] = ['limit', 'remaining', 'reset'].map((name) =>
        Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
      );
      holds(limit === 2 || limit === 30, 'X-RateLimit-Limit of a window', limit);
      equal(left, leftOf(headers, limit === 2 ? second : minute), 'X-RateLimit-Remaining');
      holds(Number(reset) * 1_000 > Date.parse(headers.get('date') ?? '') - 2_000, 'X-RateLimit-Reset ahead', reset);
    }
  }),
  shown('RUM needs no permission, and a record: without one it is ResourceNotFound', async (t) => {
    refused(await t.call(RUM, {}, { as: t.need('otherAccount') }), 'ResourceNotFound');
  }),
  shown('Age of the RUM record in seconds', async (t) => {
    const { headers } = await t.rum();
    holds(/^\d+$/.test(headers.get('age') ?? ''), 'Age', headers.get('age'));
  }),
  shownOnData(
    'Another account’s entities do not exist, though they are there',
    async (t, { otherAccount, alerts, ...of }) => {
      const { alert, incident, work_item_id } = otherAccount;
      const item = { work_item_id, version: 2 };
      const as = t.need('otherAccount');
      invalid(await t.remove(item, { as }), 'version');
      data(await t.merge({ alert_ids: [alert], incident_id: incident }, { as }));
      refused(await t.remove({ ...item, version: 1 }), 'ResourceNotFound', work_item_id);
      refused(await t.merge({ alert_ids: [alert], incident_id: of.incidents.bounds }), 'ResourceNotFound', alert);
      refused(await t.merge({ alert_ids: [alerts[2]], incident_id: incident }), 'ResourceNotFound', incident);
    },
  ),
  shownOnData('Alert ids count in either letter case', async (t, { alerts, incidents }) => {
    data(await t.merge({ alert_ids: [alerts[2]?.toUpperCase()], incident_id: incidents.bounds }));
  }),
  shownOnData('An empty title or comment counts as not given; an unknown owner is refused', async (t, entities) => {
    const ids = { alert_ids: [entities.alerts[11]], incident_id: entities.incidents.target };
    refused(await t.merge({ ...ids, owner_id: 999_999 }), 'ResourceNotFound', '999999');
    data(await t.merge({ ...ids, title: '', comment: '' }));
  }),
  shownOnData('Idempotency-Key: the same call again is replayed, another body refused', async (t, entities) => {
    const body = { alert_ids: [entities.alerts[11]], incident_id: entities.incidents.target };
    const headers = { 'Idempotency-Key': randomUUID() };
    data(await t.merge(body, { headers }));
    const again = await t.merge(body, { headers });
    equal(again.headers.get('idempotent-replayed'), 'true', 'Idempotent-Replayed');
    refused(await t.merge({ ...body, title: 'Other' }, { headers }), 'InvalidParameter');
  }),
  shown('A comment of 1024 characters is recorded whole', async (t) => {
    const { table, account } = t.need('stored');
    const { alerts, incidents } = t.need('entities');
    const comment = randomUUID().padEnd(1_024, 'c');
    data(await t.merge({ alert_ids: [alerts[7]], incident_id: incidents.titled, comment }));
    const entries = await readFeed(table, account, incidents.titled);
    holds(
      entries.some(({ entry }) => entry.comment === comment),
      'the comment on the feed',
    );
  }),
]);
