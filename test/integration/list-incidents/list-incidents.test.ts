/** `/incident/list` on DynamoDB Local. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { orderOfTime } from '../../../lib/model/order.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { listIncidents } from '../../../lib/operations/list-incidents/schema.ts';
import { MAX_ROW_BYTES } from '../../../lib/operations/list-rows.ts';
import { keys } from '../../../lib/table/keys.ts';
import { undoMerge } from '../../../packages/admin/incidents/undo-merge.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, createHandlers, newTable, put, putAll, stored, testDeps } from '../../support/service.ts';

const SECOND = 1_795_000_000;
const NOW = SECOND * 1_000;
const table = await newTable();
const deps = testDeps(table, { now: () => NOW });
const handlers = createHandlers(deps);
const idOf = (index: number) => index.toString(16).padStart(24, '0');
const INT64_MIN = -(2n ** 63n);

async function newCaller() {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  const ingest = ingestOver(table, () => NOW);
  const call = (body: object) => callAlone(handlers, listIncidents, { appKey, body });
  return {
    ...tenant,
    async send(...records: object[]) {
      await ingest.send(...records.map((record) => ({ kind: 'incident', account_id: account, ...record })));
      expect(ingest.refused).toEqual([]);
    },
    list: async (body: object = {}) => expectData(listIncidents, await call(body)),
    idsOf: async (body: object = {}): Promise<string[]> =>
      expectData(listIncidents, await call(body)).items.map(({ incident_id }: { incident_id: string }) => incident_id),
    messageFor: async (body: object) => (await call(body)).body.error?.message,
  };
}

it('an incident has its title, its owner, when it was created and when either was last changed', async () => {
  const { account, send, list, member, alerts, merge } = await newCaller();
  const incident_id = idOf(0xabc);
  await send(
    { incident_id, title: 'First', at_ms: NOW - 900_500 },
    { incident_id, title: 'Down', at_ms: NOW - 800_000 },
  );
  const item = { account_id: account, incident_id, title: 'Down', owner_id: 0, created_at: SECOND - 901 };
  expect(await list()).toEqual({ items: [{ ...item, updated_at: SECOND - 800 }], has_next_page: false });

  const owner_id = 2n ** 60n + 1n;
  await member(owner_id);
  const [alert] = await alerts(1);
  await merge(handlers.mergeAlerts, { alert_ids: [alert], incident_id, owner_id });
  const owned = { ...item, owner_id, owner: { member_id: owner_id, member_name: 'Ada' }, updated_at: SECOND };
  expect((await list()).items).toEqual([owned]);
  // A late record changes nothing, and an undo neither title nor owner.
  await send({ incident_id, title: 'Late', owner_id: 8, at_ms: NOW - 999_000 });
  const { sk } = await stored(table, keys.logHead(account)).then(({ last }) => ({ sk: last as number }));
  await undoMerge(deps, { account, incidentId: incident_id, sequence: sk, by: 'operator', requestId: 'r' });
  expect((await list()).items).toEqual([owned]);
  await send({ incident_id, title: 'Down', owner_id: 8, at_ms: NOW + 1_000 });
  expect((await list()).items).toEqual([{ ...item, owner_id: 8, updated_at: SECOND + 1 }]);
});

it('incidents have the order of their ids, and fit all filters; a cursor is of no other list', async () => {
  const { send, idsOf, list, appKey } = await newCaller();
  const titles = ['Disk full', 'ΔΙΣΚΟΣ', 'STRASSE', 'disk'];
  await send(
    ...titles.map((title, index) => ({ incident_id: idOf(0xa0 + index), title, at_ms: NOW - (index + 1) * 1_000 })),
  );
  const [a, b, c, d] = titles.map((_title, index) => idOf(0xa0 + index));
  expect(await idsOf()).toEqual([d, c, b, a]);
  expect(await idsOf({ asc: true })).toEqual([a, b, c, d]);
  expect(await idsOf({ query: 'DISK' })).toEqual([d, a]);
  expect(await idsOf({ query: 'δισκος' })).toEqual([b]);
  expect(await idsOf({ query: 'σκο' })).toEqual([b]);
  for (const query of ['straße', 'STRAẞE']) expect(await idsOf({ query })).toEqual([c]);
  expect(await idsOf({ incident_ids: [idOf(1), a?.toUpperCase(), d, a] })).toEqual([d, a]);
  expect(await idsOf({ incident_ids: [a, c, d], query: 'disk', asc: true })).toEqual([a, d]);
  expect(await idsOf({ start_time: SECOND - 3, end_time: SECOND - 1 })).toEqual([c, b]);
  expect(await idsOf({ start_time: SECOND - 3, end_time: SECOND, query: 'disk' })).toEqual([a]);
  expect(await list({ incident_ids: [] })).toEqual(await list());
  const { search_after_ctx } = await list({ limit: 1 });
  const answer = await callAlone(handlers, listAlerts, { appKey, body: { search_after_ctx } });
  expectEnvelope(answer, 400, 'InvalidParameter');
});

it.each([
  [{ start_time: 5 }, 'end_time is required and must be an integer from 0 to 99999999999.'],
  [{ end_time: 5 }, 'start_time is required and must be an integer from 0 to 99999999999.'],
  [{ start_time: 5, end_time: 5 }, 'end_time must be an integer from 6 (start_time + 1) to 99999999999.'],
  [{ start_time: NOW, end_time: 5 }, 'start_time must be an integer from 0 to 99999999999.'],
])('%j is refused: %s', async (body, message) => expect(await (await newCaller()).messageFor(body)).toBe(message));

it('a call examines at most 1,000 incidents: then a page is short, or empty, and its cursor continues', async () => {
  const { account, list } = await newCaller();
  const row = (index: number, title: string) => ({
    ...keys.incident(account, idOf(index)),
    ...{ incident_id: idOf(index), title, title_order: orderOfTime(NOW), created_at_ms: NOW },
  });
  await putAll(
    table,
    Array.from({ length: 1_050 }, (_, index) => row(index, 'other')),
  );
  for (const index of [5, 1_020]) await put(table, keys.incident(account, idOf(index)), row(index, 'wanted'));
  const pages = [];
  let search_after_ctx: string | undefined;
  do {
    const page = await list({ query: 'want', limit: 1, search_after_ctx, asc: true });
    pages.push(page.items.length);
    search_after_ctx = page.search_after_ctx;
  } while (search_after_ctx);
  expect(pages).toEqual([1, 1]);
  expect(await list({ query: 'none' })).toMatchObject({ items: [], has_next_page: true });
});

it('the largest row that records and merges make is no larger than what the bound of a page expects', async () => {
  const { account, send, member, alerts, merge } = await newCaller();
  const incident_id = idOf(1);
  const title = '🔥'.repeat(512);
  await send({ incident_id, title, owner_id: INT64_MIN, at_ms: NOW - 1 });
  await member(INT64_MIN + 1n);
  const body = { alert_ids: await alerts(1), incident_id, title, owner_id: INT64_MIN + 1n };
  await merge(handlers.mergeAlerts, body);
  const bytes = itemBytes(marshall(await stored(table, keys.incident(account, incident_id))));
  expect([bytes > MAX_ROW_BYTES - 110, bytes <= MAX_ROW_BYTES]).toEqual([true, true]);
});
