/** What records do to the alerts of a key, rule by rule. `test/schedules/alert-keys` has their orders and failures. */
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { getAlert } from '../../../lib/operations/get-alert/schema.ts';
import type { ListedOperation } from '../../../lib/operations/index.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { ALERT_INDEX } from '../../../lib/table/alert-index.ts';
import { EXISTS } from '../../../lib/table/expression.ts';
import { keys, partitions, shardsOf } from '../../../lib/table/keys.ts';
import { deleteRow } from '../../../lib/table/write.ts';
import { exportData } from '../../../packages/admin/data/export.ts';
import { loadData } from '../../../packages/admin/data/load.ts';
import { intercepted } from '../../support/faults.ts';
import { newAccount, objectId } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, createHandlers, newTable, put, stored, storedUnder, testDeps } from '../../support/service.ts';

const NOW = 1_795_000_000_000;
const KEY = 'disk db-7';
const table = await newTable();

async function newSender(own = table, now = () => NOW, endedAlertDays = 400) {
  const tenant = await newAccount(own);
  const { account, appKey } = tenant;
  const deps = testDeps(own, { now, settings: { endedAlertDays } });
  const ingest = ingestOver(own, now, { settings: deps.settings });
  const handlers = createHandlers(deps);
  const record = (fields: object, at_ms: number) => ({
    kind: 'alert',
    account_id: account,
    title: 't',
    at_ms,
    ...fields,
  });
  const alerts = async () =>
    (await Promise.all(shardsOf(partitions.alert, account).map((shard) => storedUnder(own, shard))))
      .flat()
      .sort((a, b) => a.started_at_ms - b.started_at_ms);
  return {
    ...tenant,
    ingest,
    alerts,
    call: (operation: ListedOperation, body: object) => callAlone(handlers, operation, { appKey, body }),
    /** Sends records of the key, each later than the one before, one after the other. */
    async send(...records: object[]) {
      for (const [index, fields] of records.entries())
        await ingest.send(record({ alert_key: KEY, ...fields }, NOW + 1_000 * index));
      expect(ingest.refused).toEqual([]);
    },
    at: (at_ms: number, fields: object) => ingest.send(record({ alert_key: KEY, ...fields }, at_ms)),
    key: () => stored(own, keys.alertKey(account, KEY)),
    /** The only alert. */
    async alert() {
      const found = await alerts();
      expect(found).toHaveLength(1);
      return found[0];
    },
    /** State and severity of the account's alerts by the index, the earliest start first. */
    async index() {
      const pages = paginateScan({ client: own.client }, { TableName: own.name, IndexName: ALERT_INDEX.name });
      const entries = (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items);
      return entries
        .filter(({ pk }) => String(pk).startsWith(`ACCOUNT#${account}#`))
        .sort((a, b) => (a.index_place < b.index_place ? -1 : 1))
        .map(({ index_partition }) => /#ALERT_INDEX#(.+)#\d$/.exec(index_partition)?.[1]);
    },
  };
}

const END = { alert_status: 'Ok' };

it('a record opens an alert: a warning that starts at its time, unless it says otherwise', async () => {
  const { send, alert, key, index } = await newSender();
  const content = {
    ...{ description: 'd', labels: { constructor: 'c', a: '' }, source_url: 'HttpS://a/?b' },
    annotations: { constructor: 'c', runbook_url: 'https://a' },
  };
  await send(content);
  const { alert_id, index_place, ...row } = await alert();
  expect(row).toMatchObject({ alert_key: KEY, title: 't', ...content, alert_severity: 'Warning', started_at_ms: NOW });
  for (const name of ['ended_at_ms', 'incident_id', 'ttl']) expect(row).not.toHaveProperty(name);
  expect(await key()).toMatchObject({ alert_id, is_open: true });
  expect(index_place).toBe(`00${NOW}#${alert_id}`);
  expect(await index()).toEqual(['OPEN#Warning']);

  const other = await newSender();
  await other.send({ alert_status: 'Critical', started_at_ms: NOW - 5, incident_id: 'A'.repeat(24) });
  const fields = { alert_severity: 'Critical', started_at_ms: NOW - 5, incident_id: 'a'.repeat(24) };
  expect(await other.alert()).toMatchObject(fields);
});

it('a record changes the open alert whatever its start, and replaces its content', async () => {
  const { send, alert, key, index } = await newSender();
  await send(
    { description: 'd', labels: { a: 'b' }, annotations: { a: 'b' }, source_url: 'http://a' },
    { title: 'u', alert_status: 'Info', started_at_ms: NOW + 500 },
  );
  const row = await alert();
  expect(row).toMatchObject({ title: 'u', alert_severity: 'Info', started_at_ms: NOW });
  for (const name of ['description', 'labels', 'annotations', 'source_url']) expect(row).not.toHaveProperty(name);
  expect([row.index_place, await index()]).toEqual([`00${NOW}#${row.alert_id}`, ['OPEN#Info']]);
  expect(await key()).not.toHaveProperty('ttl');
});

it('Ok ends the open alert, at its time unless it says otherwise, and keeps the severity', async () => {
  const { send, alert, key, index } = await newSender();
  await send({ alert_status: 'Critical' }, { ...END, title: 'over' });
  const ttl = NOW / 1_000 + 400 * 24 * 3_600;
  expect(await alert()).toMatchObject({ title: 'over', alert_severity: 'Critical', ended_at_ms: NOW + 1_000, ttl });
  expect(await index()).toEqual(['ENDED#Critical']);
  expect(await key()).toMatchObject({ is_open: false, ttl });
});

const CONTENT = { description: 'd', labels: { a: 'b' }, source_url: 'https://a' };
it.each([
  [{}, { title: 't', ...CONTENT }],
  [{ title: 'u' }, { title: 'u', ...CONTENT }],
  [{ labels: {} }, { title: 't', labels: {} }],
  [{ source_url: 'https://u' }, { title: 't', source_url: 'https://u' }],
])('Ok with %j, of an open alert or an ended one, leaves %j', async (fields, left) => {
  const shown = ({ title, description, labels, source_url }: Record<string, unknown>) => ({
    ...{ title, description, labels, source_url },
  });
  for (const before of [[], [END]]) {
    const { send, alert } = await newSender();
    await send(CONTENT, ...before, { ...END, title: undefined, ...fields });
    expect(shown(await alert())).toEqual(left);
  }
});

it('Ok that keeps the content lets a record by alert_id which is later than the content change it', async () => {
  const { account, at, alert, ingest } = await newSender();
  await at(NOW - 3_000, CONTENT);
  await at(NOW - 1_000, { ...END, title: undefined });
  const { alert_id } = await alert();
  await ingest.send({ kind: 'alert', account_id: account, alert_id, title: 'by id', at_ms: NOW - 2_000 });
  expect(await alert()).toMatchObject({ title: 'by id', ended_at_ms: NOW - 1_000 });
});

it.each([
  ['of an earlier episode changes nothing', { started_at_ms: NOW - 50 }, { ended_at_ms: NOW - 51 }, undefined],
  ['is not before a start that a record gave', { started_at_ms: NOW + 5_000 }, {}, NOW + 5_000],
  ['at a start that a record gave is one', { started_at_ms: NOW - 50 }, { ended_at_ms: NOW - 50 }, NOW - 50],
  ['is not before a start that no record gave', {}, { ended_at_ms: NOW - 51 }, NOW],
])('the end that Ok tells %s', async (_what, opening, end, endedAtMs) => {
  const { send, at, alert, key } = await newSender();
  await send(opening, { ...END, ...end, title: 'over' });
  const row = await alert();
  expect([row.ended_at_ms, row.title, (await key()).is_open]).toEqual(
    endedAtMs ? [endedAtMs, 'over', false] : [undefined, 't', true],
  );
  if (endedAtMs !== undefined) return;
  // So it is after the end, which the order of the next record shows.
  await at(NOW + 2_000, { ...END });
  const before = [await alert(), await key()];
  await at(NOW + 4_000, { ...END, ...end, title: 'over' });
  expect([await alert(), await key()]).toEqual(before);
});

it('Ok without an open alert changes the last alert, and without any alert makes one that has ended', async () => {
  const { send, alert, key, index } = await newSender();
  const times = { started_at_ms: NOW - 5, ended_at_ms: NOW - 5 };
  await send({ ...END, title: undefined, ended_at_ms: NOW - 5 });
  expect(await alert()).toMatchObject({ title: KEY, ...times });
  await send(END, { ...END, title: 'again' });
  const row = await alert();
  expect(row).toMatchObject({ title: 'again', ...times });
  expect(row).not.toHaveProperty('alert_severity');
  expect([await key(), await index()]).toMatchObject([{ alert_id: row.alert_id, is_open: false }, ['ENDED#None']]);
});

describe('rows expire', () => {
  const DAY = 24 * 3_600;

  it('that of an ended alert and of its key together, after the last record that told the end; none that is open', async () => {
    const ttls = async ({ alerts, key }: Awaited<ReturnType<typeof newSender>>) => [
      (await alerts()).map(({ ttl }) => ttl),
      (await key()).ttl,
    ];
    const own = { ...table, now: () => NOW };
    let nowMs = NOW;
    const sender = await newSender(own, () => nowMs, 30);
    await sender.at(nowMs, {});
    await sender.at(nowMs + 1, END);
    const first = NOW / 1_000 + 30 * DAY;
    expect(await ttls(sender)).toEqual([[first], first]);
    nowMs += 1_000 * DAY;
    await sender.at(nowMs, END);
    expect(await ttls(sender)).toEqual([[first + DAY], first + DAY]);
    await sender.at(nowMs + 1, {});
    expect(await ttls(sender)).toEqual([[first + DAY, undefined], undefined]);
  });

  it.each([
    ['a record opens another alert', {}, true],
    ['Ok makes an alert that has ended', END, false],
  ])('once they have, they are as gone although they are stored: %s', async (_what, fields, isOpen) => {
    let nowMs = NOW;
    const own = { ...table, now: () => nowMs };
    const { account, at, key, alerts, ingest, call } = await newSender(own, () => nowMs, 30);
    await at(NOW, {});
    await at(NOW + 1, END);
    const { alert_id } = await key();
    await ingest.send({ kind: 'alert', account_id: account, alert_id, title: 'by id', at_ms: NOW + 2 });
    const read = async () => [
      (await call(getAlert, { alert_id })).status,
      (await call(listAlerts, { alert_keys: [KEY] })).body.data.items.length,
      (await Array.fromAsync(exportData(own, [account]))).filter(({ kind }) => kind === 'alert').length,
    ];
    nowMs += 30 * DAY * 1_000 - 1_000;
    expect(await read()).toEqual([200, 1, 1]);
    nowMs += 1_000;
    expect(await read()).toEqual([400, 0, 0]);
    for (const [index, title] of ['as new', 'later'].entries())
      await ingest.send({ kind: 'alert', account_id: account, alert_id, title, at_ms: nowMs + index });
    const { row_order: _order, pk: _pk, sk: _sk, ...byId } = await stored(own, keys.alert(account, alert_id));
    expect([byId, ingest.refused]).toEqual([{ alert_id, title: 'later' }, []]);
    expect(await read()).toEqual([200, 0, 1]);
    await at(nowMs, fields);
    expect(await key()).toMatchObject({ is_open: isOpen });
    expect((await key()).alert_id).not.toBe(alert_id);
    expect(await alerts()).toHaveLength(2);
  });
});

it('a record by alert_id is not lost if DynamoDB removes the expired row while it is written', async () => {
  const own = intercepted(table, async (send, { input }) => {
    if (stringifyJson(input).includes('"#ttl <= ')) await deleteRow(table, alert, EXISTS);
    return send();
  });
  const { account, ingest } = await newSender(own);
  const [alert_id, row] = [objectId(), { title: 'old', labels: { a: 'b' }, ttl: 1 }];
  const alert = keys.alert(account, alert_id);
  await put(table, alert, { alert_id, ...row });
  await ingest.send({ kind: 'alert', account_id: account, alert_id, title: 'new' });
  expect(Object.keys(await stored(table, alert)).sort()).toEqual(['alert_id', 'pk', 'row_order', 'sk', 'title']);
});

it('a key that fires again has a new alert, which is in no incident unless its record names one', async () => {
  const { send, alerts, key } = await newSender();
  const incident_id = objectId();
  await send({ incident_id }, END, {}, END, { incident_id });
  const found = await alerts();
  expect(found.map(({ incident_id }) => incident_id)).toEqual([incident_id, undefined, incident_id]);
  expect(found.map(({ ended_at_ms }) => ended_at_ms)).toEqual([NOW + 1_000, NOW + 3_000, undefined]);
  expect(await key()).toMatchObject({ alert_id: found[2].alert_id, is_open: true });
});

it('a late record does nothing, also if it names an incident', async () => {
  const late = { title: 'late', alert_status: 'Info', incident_id: objectId() };
  for (const last of [{}, END]) {
    const { at, alerts, ingest } = await newSender();
    await at(NOW - 3_000, {});
    await at(NOW - 1_000, { ...last, title: 'last' });
    const before = await alerts();
    for (const fields of [late, { ...late, ...END }])
      for (const at_ms of [NOW - 4_000, NOW - 2_000]) await at(at_ms, fields);
    expect(await alerts()).toEqual(before);
    expect(ingest.counts()).toEqual({ records: 6, late: 4, refused: 0, failed: 0 });
  }
});

it('records of one batch apply in their order, whatever the order of their lines', async () => {
  const { account, ingest, alerts } = await newSender();
  const lines = [{}, {}, END, END, {}].map((fields, index) => ({
    ...{ kind: 'alert', account_id: account, alert_key: KEY, title: `${index}`, at_ms: NOW - 50 + index },
    ...fields,
  }));
  await ingest.send(...lines.toReversed());
  const row = (title: string, started_at_ms: number, ended_at_ms?: number) =>
    expect.objectContaining({ title, started_at_ms, ...(ended_at_ms && { ended_at_ms }) });
  expect(await alerts()).toEqual([row('3', NOW - 50, NOW - 48), row('4', NOW - 46)]);
});

it('of a batch that opens and ends alerts of a key a thousand times, the last hundred records are applied', async () => {
  const { account, ingest, alerts, key } = await newSender();
  const line = { kind: 'alert', account_id: account, alert_key: KEY, title: 't' };
  await ingest.send(
    ...Array.from({ length: 1_000 }, (_, index) => ({
      ...line,
      at_ms: NOW - 1_000 + index,
      ...(index % 2 === 1 && END),
    })),
  );
  expect([(await alerts()).length, (await key()).is_open]).toEqual([50, false]);
});

it('merges decide where an alert of a key is, over records that change or end it', async () => {
  const { account: _account, merge, incident, send, alert, at } = await newSender();
  const [from, to] = [await incident(), await incident()];
  await send({ incident_id: from });
  const { alert_id } = await alert();
  expect(
    (await merge(createHandlers(testDeps(table)).mergeAlerts, { alert_ids: [alert_id], incident_id: to })).status,
  ).toBe(200);
  await at(NOW + 1_000, { title: 'u', incident_id: from });
  await at(NOW + 2_000, END);
  expect(await alert()).toMatchObject({ incident_id: to, ended_at_ms: NOW + 2_000 });
});

it('a record with the id of an alert that has a key changes its content, not its status, and ends no further record', async () => {
  const { account, send, alert, at, ingest, index } = await newSender();
  await send({ alert_status: 'Critical' });
  const { alert_id } = await alert();
  await ingest.send({ kind: 'alert', account_id: account, alert_id, title: 'by id', at_ms: NOW + 5_000 });
  expect(await alert()).toMatchObject({ title: 'by id', alert_severity: 'Critical', alert_key: KEY });
  await ingest.send({ kind: 'alert', account_id: account, alert_id, title: 'late', at_ms: NOW + 4_000 });
  expect([(await alert()).title, ingest.counts().late]).toEqual(['by id', 1]);
  expect(await index()).toEqual(['OPEN#Critical']);
  await at(NOW + 1_000, { ...END, title: 'older than that' });
  expect(await alert()).toMatchObject({ title: 'by id', ended_at_ms: NOW + 1_000 });
  expect(await index()).toEqual(['ENDED#Critical']);
});

it('an alert that was written by its id alone has no status and is not among the open ones', async () => {
  const { account, ingest, alert, index } = await newSender();
  await ingest.send({ kind: 'alert', account_id: account, alert_id: objectId(), title: 't', labels: { a: 'b' } });
  expect(Object.keys(await alert()).sort()).toEqual(['alert_id', 'labels', 'pk', 'row_order', 'sk', 'title']);
  expect(await index()).toEqual([]);
});

describe('the feed refuses', () => {
  const text = (length: number) => '🔥'.repeat(length);
  const labels = (count: number, name = 'n', value = 'v') =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, value]));
  const LABELS = /^labels must be an object of at most 64 strings of at most 1024 characters/;
  const ANNOTATIONS = /^annotations must be an object of at most 32 strings of at most 2048 characters/;
  const SILENT = 'silent_after_s must be an integer from 60 to 2592000';
  const id = { alert_key: undefined, alert_id: 'a'.repeat(24) };
  it.each<[fields: object, reason: string | RegExp]>([
    [{ alert_key: undefined }, 'exactly one of alert_id and alert_key is required'],
    [{ alert_id: 'a'.repeat(24) }, 'exactly one of alert_id and alert_key is required'],
    [{ ...id, alert_status: 'Ok' }, 'alert_status requires an alert_key in place of alert_id'],
    [{ ...id, started_at_ms: NOW }, 'started_at_ms requires an alert_key in place of alert_id'],
    [{ ...id, silent_after_s: 60 }, 'silent_after_s requires an alert_key in place of alert_id'],
    [{ alert_key: '' }, 'alert_key must be a string of 1 to 255 characters'],
    [{ alert_key: text(256) }, 'alert_key must be a string of 1 to 255 characters'],
    [{ alert_status: 'ok' }, 'alert_status must be one of Critical, Warning, Info, Ok'],
    [{ title: undefined }, 'title is required and must be a string of 1 to 512 characters'],
    [{ start_given: true }, 'start_given is not a field of this kind'],
    [{ title: '' }, 'title must be a string of 1 to 512 characters'],
    [{ description: 'd'.repeat(4_097) }, 'description must be a string of at most 4096 characters'],
    ...[labels(65), labels(1, text(128)), labels(1, 'n', text(1_025)), { a: 1 }, { a: null }, ['a'], null].map(
      (given): [object, RegExp] => [{ labels: given }, LABELS],
    ),
    [{ labels: { '': 'v' } }, LABELS],
    ...[labels(33), labels(1, text(128)), labels(1, 'n', 'v'.repeat(2_049)), { a: 1 }, { '': 'v' }, null].map(
      (given): [object, RegExp] => [{ annotations: given }, ANNOTATIONS],
    ),
    ...[59, 2_592_001, '60', 60.5].map((given): [object, string] => [{ silent_after_s: given }, SILENT]),
    [{ labels: { a: '\ud800' } }, /^labels must be an object of .*, in well-formed Unicode$/],
    ...['javascript:alert(1)', 'http://', 'https://a b', 'https://a\u0000', `https://${'u'.repeat(2_041)}`].map(
      (source_url): [object, RegExp] => [{ source_url }, /^source_url must be an http or https URL/],
    ),
    [{ started_at_ms: NOW / 1_000 }, /^started_at_ms must be .* is in seconds$/],
    [{ ended_at_ms: NOW + 300_001 }, /^ended_at_ms is 300001 ms after the record was sent/],
    [{ source_id: 's' }, 'source_id is not a field of this kind'],
    [
      { alert_id: 'a'.repeat(24), alert_status: 'Ok', key_order: '00'.repeat(24), started_at_ms: NOW },
      /key_order is not a field/,
    ],
  ])('%j', async (fields, reason) => {
    const { account, ingest, alerts } = await newSender();
    await ingest.send({ kind: 'alert', account_id: account, alert_key: KEY, title: 't', ...fields });
    expect([await alerts(), ingest.refused]).toMatchObject([
      [],
      [{ reason: typeof reason === 'string' ? reason : expect.stringMatching(reason) }],
    ]);
  });

  it('nothing that is as long as the bounds allow', async () => {
    const { send, alert, alerts } = await newSender();
    const alert_key = text(255);
    const fields = { alert_key, title: text(512), description: 'd'.repeat(4_096), labels: labels(64) };
    const others = { labels: labels(1, 'n'.repeat(127), text(1_024)), source_url: `https://${'u'.repeat(2_040)}` };
    const noted = { annotations: { ...labels(31), ['n'.repeat(128)]: 'v'.repeat(2_048) }, silent_after_s: 2_592_000 };
    await send({ alert_key, ...noted }, { alert_key, ...others }, fields);
    expect(await alert()).toMatchObject(fields);
    await send({ ...fields, ...END, title: 'x' }, { ...fields, alert_status: 'Ok' });
    expect(await alerts()).toHaveLength(1);
  });
});

describe('an import of exported alerts', () => {
  const linesOf = async (account: number, from = table) =>
    (await Array.fromAsync(exportData(from, [account]))).map((line) => stringifyJson(line));
  const shown = (rows: Record<string, unknown>[]) =>
    rows.map(({ event: _event, row_order: _order, created_at_ms: _created, ...row }) => row);
  const load = (to: typeof table, lines: string[]) => loadData(to, 'export', lines, { nowMs: NOW + 60_000 });

  it('keeps their ids, times and states, in any order of the lines', async () => {
    const { account, send, alerts, key } = await newSender();
    const [first, ...others] = ['Critical', 'Info', 'Warning'].map((alert_status) => ({ alert_status }));
    await send({ ...first }, END, { labels: { a: 'b' } }, END, ...others);
    const lines = await linesOf(account);
    for (const given of [lines, lines.toReversed()]) {
      const other = await newTable();
      await load(other, given);
      const found = (
        await Promise.all(shardsOf(partitions.alert, account).map((shard) => storedUnder(other, shard)))
      ).flat();
      expect(shown(found.sort((a, b) => a.started_at_ms - b.started_at_ms))).toEqual(shown(await alerts()));
      const { alert_id, is_open } = await key();
      expect(await stored(other, keys.alertKey(account, KEY))).toMatchObject({ alert_id, is_open });
    }
  });

  it('changes nothing that is newer: neither an alert that has ended since, nor one that fires again', async () => {
    const { account, at, alerts, key } = await newSender();
    await at(NOW, {});
    const lines = await linesOf(account);
    for (const fields of [END, { title: 'again' }]) {
      await at(NOW + 1_000 + (await alerts()).length, fields);
      const before = [await alerts(), await key()];
      await load(table, lines);
      expect([await alerts(), await key()]).toEqual(before);
    }
  });

  it('ends an alert that is open in the table, and leaves one open that the table has opened otherwise', async () => {
    const [a, b] = [await newSender(), await newSender()];
    await a.at(NOW, {});
    const [open] = (await linesOf(a.account)).slice(-1);
    await a.at(NOW + 1_000, END);
    const ended = await linesOf(a.account);
    const other = await newTable();
    await load(other, [...ended.slice(0, -1), open as string]);
    await load(other, ended);
    expect(await stored(other, keys.alertKey(a.account, KEY))).toMatchObject({ is_open: false });

    // The same key has another open alert here: it stays the only one.
    await b.at(NOW - 1_000, {});
    const [{ alert_id }] = await b.alerts();
    const foreign = JSON.parse(open as string);
    await load(table, [stringifyJson({ ...foreign, account_id: b.account })]);
    expect(await b.index()).toEqual(['OPEN#Warning', 'ENDED#Warning']);
    expect(await b.key()).toMatchObject({ alert_id, is_open: true });
    expect(await stored(table, keys.alert(b.account, foreign.alert_id))).toMatchObject({ ended_at_ms: NOW });
  });

  it('changes only the content of edited lines, once they have neither row_order nor at_ms', async () => {
    const { account, send, alerts, key, ingest } = await newSender();
    await send({ labels: { a: 'b' } }, END, { alert_status: 'Critical' });
    const { alert_id } = await key();
    await ingest.send({ kind: 'alert', account_id: account, alert_id, title: 'by id', at_ms: NOW + 9_000 });
    const [before, keyBefore] = [shown(await alerts()), await key()];
    const lines = (await linesOf(account)).slice(-2).map((line) => ({ ...JSON.parse(line), title: 'edited' }));
    for (const [removed, title] of [
      [{}, {}],
      [{ row_order: undefined, at_ms: undefined }, { title: 'edited' }],
    ]) {
      const edited = lines.map((line) => stringifyJson({ ...line, ...removed }));
      await load(table, edited);
      expect([shown(await alerts()), await key()]).toEqual([before.map((row) => ({ ...row, ...title })), keyBefore]);
    }
  });

  it('does nothing to an alert of another key', async () => {
    const { account, send, alerts } = await newSender();
    await send({});
    const [line = ''] = (await linesOf(account)).slice(-1);
    const before = await alerts();
    const other = { alert_key: 'other', key_order: JSON.parse(line).key_order.replace(/.$/, 'f') };
    await load(table, [stringifyJson({ ...JSON.parse(line), ...other, alert_status: 'Ok' })]);
    expect(await alerts()).toEqual(before);
  });

  it.each([
    [{ alert_key: undefined }, /alert_status/],
    [{ alert_status: undefined }, /alert_status is required/],
    [{ key_order: undefined }, /key_order must be/],
    [{ key_order: 'x'.repeat(34) }, /key_order must be/],
    [{ key_order: 'ff'.repeat(24) }, /key_order must be/],
  ])('refuses %j', async (fields, problem) => {
    const { account, send } = await newSender();
    await send({});
    const [line = ''] = (await linesOf(account)).slice(-1);
    await expect(load(table, [stringifyJson({ ...JSON.parse(line), ...fields })])).rejects.toThrow(problem);
  });
});
