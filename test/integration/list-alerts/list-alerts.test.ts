/** `/alert/list` and `/alert/info` on DynamoDB Local. */
import { describe, expect, it } from 'vitest';
import type { AlertRow, Severity } from '../../../lib/model/alert.ts';
import { getAlert } from '../../../lib/operations/get-alert/schema.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { alertIndex } from '../../../lib/table/alert-index.ts';
import { keys } from '../../../lib/table/keys.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { hookedTable } from '../../support/faults.ts';
import { newAccount, objectId } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, createHandlers, newTable, put, putAll, stored, testDeps } from '../../support/service.ts';
import type { Request } from '../../table-double/client.ts';

const NOW = 1_795_000_000_000;
const table = await newTable();
const handlers = createHandlers(testDeps(table));

/** An account whose alerts start a second after each other. */
async function newCaller() {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  const ingest = ingestOver(table, () => NOW);
  const call = (body: object) => callAlone(handlers, listAlerts, { appKey, body });
  const list = async (body: object = {}) => expectData(listAlerts, await call(body));
  return {
    ...tenant,
    async send(...records: object[]) {
      await ingest.send(
        ...records.map((fields) => ({ kind: 'alert', account_id: account, title: 't', at_ms: NOW, ...fields })),
      );
      expect(ingest.refused).toEqual([]);
    },
    idOf: async (key: string) => (await stored(table, keys.alertKey(account, key))).alert_id as string,
    list,
    keysOf: async (body?: object) => (await list(body)).items.map(({ alert_key }: { alert_key: string }) => alert_key),
    async refused(body: object) {
      const answer = await call(body);
      expectEnvelope(answer, 400, 'InvalidParameter');
      return answer.body.error;
    },
    info: async (alert_id: string) =>
      expectData(getAlert, await callAlone(handlers, getAlert, { appKey, body: { alert_id } })),
  };
}
const started = (alert_key: string, second: number, fields: object = {}) => ({
  ...{ alert_key, started_at_ms: NOW - 100_000 + 1_000 * second },
  ...fields,
});
/** The row of an open alert. */
const rowOf = (account: number, row: Pick<AlertRow, 'alert_id' | 'started_at_ms'> & { alert_severity: Severity }) => ({
  ...{ ...keys.alert(account, row.alert_id), ...alertIndex.entry(account, row) },
  ...{ ...row, title: 't', key_order: new Uint8Array(24) },
});
const idOf = (number: number) => number.toString(16).padStart(24, '0');
const END = { alert_status: 'Ok' };
const INFO = { alert_status: 'Info' };

it('an alert has all that its records say, and the service knows', async () => {
  const { account, send, idOf, list, info, incident } = await newCaller();
  const incident_id = await incident({ title: 'Down' });
  const content = {
    ...{ title: 'Disk', description: 'd', labels: { constructor: 'c' }, source_url: 'https://a' },
    annotations: { constructor: 'c' },
  };
  await send({ ...started('k', 1), ...content, alert_status: 'Critical', incident_id, at_ms: NOW - 5_000 });
  const alert_id = await idOf('k');
  const seconds = NOW / 1_000;
  const item = {
    ...{
      account_id: account,
      alert_id,
      alert_key: 'k',
      alert_severity: 'Critical',
      alert_status: 'Critical',
      ...content,
    },
    ...{ start_time: seconds - 99, last_time: seconds - 5, end_time: 0, created_at: seconds, updated_at: seconds },
    incident: { incident_id, title: 'Down' },
  };
  expect(await list()).toEqual({ items: [item], has_next_page: false });
  expect(await info(alert_id.toUpperCase())).toEqual(item);

  await send({ alert_key: 'k', ...END, ended_at_ms: NOW - 1_500 });
  const ended = { title: 't', alert_status: 'Ok', end_time: seconds - 2, last_time: seconds };
  expect(await info(alert_id)).toEqual({ ...item, ...ended });
  expect(await list()).toEqual({ items: [], has_next_page: false });
});

it('an alert without a key has no status, and one in an incident that is not there no title of it', async () => {
  const { account, send, list, info } = await newCaller();
  const [alert_id, incident_id] = [objectId(), objectId()];
  await send({ alert_id, incident_id });
  const seconds = NOW / 1_000;
  const item = {
    account_id: account,
    alert_id,
    title: 't',
    labels: {},
    last_time: seconds,
    updated_at: seconds,
    incident: { incident_id },
  };
  expect(await info(alert_id)).toEqual(item);
  expect((await list()).items).toEqual([]);
  expect((await list({ alert_ids: [alert_id.toUpperCase()] })).items).toEqual([item]);
});

describe('the list', () => {
  it('has named alerts, open or not, and only those that match the other filters', async () => {
    const { send, keysOf, idOf } = await newCaller();
    await send(
      started('open', 1),
      started('ended', 2, { alert_status: 'Info' }),
      started('again', 3),
      started('other', 4),
    );
    await send(...['ended', 'again'].map((alert_key) => ({ alert_key, ...END, at_ms: NOW + 1 })));
    const first = await idOf('again');
    await send(started('again', 5, { at_ms: NOW + 2 }));
    const named = { alert_keys: ['again', 'ended', 'open', 'open', 'none'] };
    expect(await keysOf(named)).toEqual(['again', 'ended', 'open']);
    expect(await keysOf({ ...named, is_active: true, asc: true })).toEqual(['open', 'again']);
    expect(await keysOf({ ...named, is_active: false })).toEqual(['ended']);
    expect(await keysOf({ ...named, alert_severity: 'Info' })).toEqual(['ended']);
    expect(await keysOf({ alert_ids: [first, first.toUpperCase()], alert_keys: ['open'] })).toEqual(['again', 'open']);
    expect(await keysOf({ alert_ids: [], alert_keys: [], alert_severity: '' })).toEqual(['again', 'other', 'open']);
  });

  it('with times has those that started then, open and ended; is_active keeps one of both', async () => {
    const { account, send, keysOf, refused, list } = await newCaller();
    await send(...[1, 2, 3, 4, 5].map((second) => started(`k${second}`, second, second === 3 ? INFO : {})));
    await send(...['k2', 'k3'].map((alert_key) => ({ alert_key, ...END, at_ms: NOW + 1 })));
    const start_time = NOW / 1_000 - 98;
    const times = { start_time, end_time: start_time + 3 };
    expect(await keysOf(times)).toEqual(['k4', 'k3', 'k2']);
    expect(await keysOf({ ...times, asc: true, is_active: false })).toEqual(['k2', 'k3']);
    expect(await keysOf({ ...times, is_active: true })).toEqual(['k4']);
    expect(await keysOf({ ...times, alert_severity: 'Info,Info' })).toEqual(['k3']);
    // An end that was told alone has no severity.
    await send({ ...started('end', 2), ...END, ended_at_ms: NOW - 98_000 });
    const { search_after_ctx, items } = await list({ ...times, limit: 2, is_active: false, asc: true });
    expect(items).toHaveLength(2);
    expect((await refused({ ...times, limit: 2, search_after_ctx })).message).toMatch(/^search_after_ctx must/);
    expect((await keysOf({ ...times, is_active: false })).sort()).toEqual(['end', 'k2', 'k3']);
    // DynamoDB removes an expired row some days later.
    const { alert_id } = await stored(table, keys.alertKey(account, 'k3'));
    const row = await stored(table, keys.alert(account, alert_id));
    await put(table, keys.alert(account, alert_id), { ...row, ttl: NOW / 1_000 - 1 });
    expect((await keysOf({ ...times, is_active: false })).sort()).toEqual(['end', 'k2']);
    expect(await keysOf({ alert_ids: [alert_id] })).toEqual([]);
  });

  it.each<[body: object, message: string]>([
    [{ start_time: 5 }, 'end_time is required and must be an integer from 0 to 99999999999.'],
    [
      { start_time: 5, end_time: 5 },
      'end_time must be an integer from 6 (start_time + 1) to 2678405 (start_time + 31 days).',
    ],
    [
      { start_time: 0, end_time: 2_678_401 },
      'end_time must be an integer from 1 (start_time + 1) to 2678400 (start_time + 31 days).',
    ],
    ...[{ alert_ids: ['a'.repeat(24)] }, { alert_keys: ['k'] }].map((named): [object, string] => [
      { ...named, start_time: 0, end_time: 1 },
      'alert_ids and alert_keys cannot be combined with start_time and end_time: leave out either.',
    ]),
    [
      { is_active: false },
      'is_active may be false only with start_time and end_time, or with alert_ids or alert_keys.',
    ],
  ])('refuses %j: %s', async (body, message) => {
    const caller = await newCaller();
    expect(await caller.refused(body)).toEqual({ code: 'InvalidParameter', message });
    expect(await caller.keysOf({ start_time: 0, end_time: 2_678_400 })).toEqual([]);
  });

  it('has the latest, or the earliest, also if one partition of the index has most of them', async () => {
    const { account, list } = await newCaller();
    const rows = Array.from({ length: 180 }, (_, index) => {
      // The ids of the 60 latest, and of the 60 earliest, select one shard.
      const alert_id = idOf(index >= 60 && index < 120 ? index : 4_000 + 4 * index);
      const alert_severity = index >= 120 ? 'Critical' : 'Info';
      return rowOf(account, { alert_id, alert_severity, started_at_ms: NOW - 180_000 + index });
    });
    await putAll(table, rows);
    const ids = rows.map(({ alert_id }) => alert_id);
    for (const asc of [false, true]) {
      const met: string[] = [];
      let search_after_ctx: string | undefined = '';
      for (const limit of [70, 100, 10, 1]) {
        if (search_after_ctx === undefined) break;
        const page = await list({ limit, asc, search_after_ctx });
        met.push(...page.items.map(({ alert_id }: { alert_id: string }) => alert_id));
        search_after_ctx = page.search_after_ctx;
      }
      expect(met).toEqual(asc ? ids : ids.toReversed());
      expect(search_after_ctx).toBeUndefined();
    }
  });

  it('refuses a cursor of another account, order or filter, and unknown severities', async () => {
    const [a, b] = [await newCaller(), await newCaller()];
    await a.send(started('a', 1), started('b', 2));
    const { search_after_ctx } = await a.list({ limit: 1 });
    const CURSOR = {
      code: 'InvalidParameter',
      message: expect.stringMatching(/^search_after_ctx must be a search_after_ctx that/),
    };
    const again = { limit: 1, search_after_ctx };
    expect((await a.list({ ...again, limit: 2 })).items).toHaveLength(1);
    expect(await b.refused(again)).toEqual(CURSOR);
    for (const filter of [{ asc: true }, { alert_severity: 'Warning' }, { is_active: true }, { alert_keys: ['a'] }])
      expect(await a.refused({ ...again, ...filter })).toEqual(CURSOR);
    expect(await a.refused({ alert_severity: 'Critical,critical' })).toEqual({
      code: 'InvalidParameter',
      message: 'alert_severity must be one of Critical, Warning, Info.',
    });
    const alert_ids = Array(60).fill('a'.repeat(24));
    expect(await a.keysOf({ alert_ids, alert_keys: Array(40).fill('a') })).toEqual(['a']);
    expect((await a.refused({ alert_ids, alert_keys: Array(41).fill('a') })).message).toBe(
      'alert_ids and alert_keys must have at most 100 items together, not 101.',
    );
  });

  it('ends a page at 4 MB, and goes on after it', async () => {
    const { account, list } = await newCaller();
    const labels = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`l${index}`, 'v'.repeat(1_000)]));
    // Only imports make rows so large.
    const rows = Array.from({ length: 70 }, (_, index) =>
      rowOf(account, { alert_id: idOf(index), alert_severity: 'Info', started_at_ms: NOW }),
    );
    await putAll(
      table,
      rows.map((row) => ({ ...row, labels })),
    );
    const first = await list({ limit: 100 });
    expect(first.has_next_page).toBe(true);
    const bytes = Buffer.byteLength(JSON.stringify(first.items));
    expect([bytes > 3_900_000, bytes <= 4_000_200]).toEqual([true, true]);
    const second = await list({ limit: 100, search_after_ctx: first.search_after_ctx });
    expect([first.items.length + second.items.length, second.has_next_page]).toEqual([70, false]);
  });
});

it('an alert whose severity changes while its list is read is listed once', async () => {
  const { table, hooked, hook } = hookedTable();
  const { account, appKey } = await newAccount(table);
  const send = (alert_status: string, at_ms: number) =>
    ingestOver(table, () => NOW).send({
      ...{ kind: 'alert', account_id: account, alert_key: 'k', title: 't', alert_status, at_ms },
    });
  await send('Critical', NOW);
  const partitionOf = ({ input }: Request) => JSON.stringify(input.ExpressionAttributeValues ?? {});
  const changed = Promise.withResolvers<void>();
  hook.around = async (reply, request) => {
    if (partitionOf(request).includes('#Warning#')) await changed.promise;
    const result = reply();
    if (partitionOf(request).includes('#Critical#'))
      changed.resolve(await send('Warning', NOW + 1).then(() => undefined));
    return result;
  };
  const { body } = await callAlone(createHandlers(testDeps(hooked)), listAlerts, { appKey, body: {} });
  expect(body.data.items).toMatchObject([{ alert_key: 'k', alert_severity: 'Warning' }]);
});
