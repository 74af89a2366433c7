/** The events that the function relay publishes for the stream records that the template's filters let through. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { eventsSchema } from '../../../infra/generate/events.ts';
import { appKeyIdOf, hashAppKey } from '../../../lib/http/app-keys.ts';
import { createEndSilentAlerts } from '../../../lib/ingest/silent-alerts.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys, partitions } from '../../../lib/table/keys.ts';
import { SETTLE_MS } from '../../../packages/admin/accounts/erase-account.ts';
import { exportData } from '../../../packages/admin/data/export.ts';
import { loadData } from '../../../packages/admin/data/load.ts';
import { adminOf } from '../../../packages/admin/test/support/run-admin.ts';
import { recordsForRelay, relayed } from '../../support/events.ts';
import { type Around, dyingAfterCommit, intercepted, losingTransactions } from '../../support/faults.ts';
import { finishEntries, newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, createHandlers, newTable, put, stored, storedUnder, testDeps } from '../../support/service.ts';

/** Small transactions, so that few alerts take several of them. */
const MERGE_LIMITS = { transactionItems: 12 };
const LARGE = 30;

const table = await newTable({ stream: true });
const admin = adminOf(table);
/** Runs a command of the operator. @returns what it prints */
async function run(line: string): Promise<string> {
  const { exitCode, out } = await admin(`${line} --yes`);
  expect(exitCode).toBe(0);
  return out.trim();
}
const handlerOf = (own: Table) => createHandlers(testDeps(own), MERGE_LIMITS).mergeAlerts;
const keyIdOf = (appKey: string) => appKeyIdOf(hashAppKey(appKey));
const OPERATOR = expect.stringMatching(/^operator ./);

const validate = new Ajv2020({ strict: false, formats: { int64: true } }).compile(eventsSchema());
const isValid = ({ type, detail }: { type: string; detail: object }) =>
  validate({ source: 'incident-monitoring-rum', 'detail-type': type, detail: JSON.parse(stringifyJson(detail)) });

/** The events of an account, which are valid, and come again with the same ids. */
async function eventsOf(account: number) {
  const records = await recordsForRelay(table, account);
  const { events } = await relayed(table, records);
  for (const event of events) expect([isValid(event), validate.errors, event]).toEqual([true, null, event]);
  expect((await relayed(table, records)).events).toEqual(events);
  return events;
}

it('events are published for merges, for large ones both at the commit and at completion, and for undos', async () => {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  await tenant.member(7);
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const [fewAlerts, manyAlerts] = [(await tenant.alerts(3)).sort(), (await tenant.alerts(LARGE)).sort()];
  const changes = { comment: 'same', title: 'New', owner_id: 7 };
  const requestIds: string[] = [];
  for (const body of [
    { alert_ids: fewAlerts, incident_id: from, ...changes },
    { alert_ids: fewAlerts.slice(0, 2), incident_id: from },
    { alert_ids: manyAlerts, incident_id: to },
  ])
    requestIds.push((await tenant.merge(handlerOf(table), body)).body.request_id);
  const [small, repeated] = await tenant.history(from);
  const [large] = await tenant.history(to);
  for (const { incident_id, sequence } of [small, large])
    await run(`merge undo ${incident_id} ${sequence} --account ${account}`);
  const [smallUndo, largeUndo] = [(await tenant.history(from)).at(-1), (await tenant.history(to)).at(-1)];

  const events = await eventsOf(account);
  const common = { version: 1, account_id: account, by: keyIdOf(appKey) };
  const ofMerge = (type: string, { incident_id, sequence, at_ms }: typeof small, call: number, more: object) => ({
    type,
    detail: { ...common, incident_id, sequence, at_ms, request_id: requestIds[call], ...more },
  });
  const ofUndo = ({ incident_id, sequence, at_ms }: typeof small, undone: typeof small, alerts: number) => {
    const detail = { ...common, by: OPERATOR, incident_id, sequence, at_ms, undone_sequence: undone.sequence, alerts };
    return { type: 'MergeUndone', detail };
  };
  expect(
    events.map(({ type, detail }) => ({
      type,
      detail: { ...detail, ...(Array.isArray(detail.alert_ids) && { alert_ids: detail.alert_ids.toSorted() }) },
    })),
  ).toMatchObject([
    ofMerge('AlertsMerged', small, 0, { alerts: 3, alert_ids: fewAlerts, ...changes, complete: true }),
    ofMerge('AlertsMerged', repeated, 1, { alerts: 0, alert_ids: [], complete: true }),
    ofMerge('AlertsMerged', large, 2, { alerts: LARGE, alert_ids: manyAlerts, complete: false }),
    ofMerge('MergeCompleted', large, 2, { alerts: LARGE, at_ms: expect.any(Number) }),
    ofUndo(smallUndo, small, 1),
    ofUndo(largeUndo, large, LARGE),
  ]);
  expect(new Set(events.map(({ detail }) => detail.id)).size).toBe(events.length);
});

it('AlertsMerged of a large merge counts and names the alerts that move, not those that are in the incident', async () => {
  const tenant = await newAccount(table);
  const incident_id = await tenant.incident();
  const [staying, moving] = [await tenant.alerts(LARGE, incident_id), (await tenant.alerts(LARGE)).sort()];
  await tenant.merge(handlerOf(table), { alert_ids: [...staying, ...moving], incident_id });
  expect(await eventsOf(tenant.account)).toMatchObject([
    { detail: { complete: false, alerts: LARGE, alert_ids: expect.arrayContaining(moving) } },
    { detail: { alerts: LARGE } },
  ]);
});

it("events are published for deletions and operators' commands, and not for what failed", async () => {
  const { account, appKey } = await newAccount(table);
  const item = { kind: 'work_item', account_id: account, work_item_id: 'w', version: 5, title: 't' };
  const load = (line: object) => loadData(table, 'item', [JSON.stringify(line)], { nowMs: Date.now() });
  await load(item);
  const call = () =>
    callAlone(createHandlers(testDeps(table)), deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 5 } });
  const { request_id } = (await call()).body;
  await call();
  const { pk: _pk, sk: _sk, row_order: _order, ...deleted } = await stored(table, keys.workItem(account, 'w'));
  await run(`work-item restore w --account ${account}`);
  for (const command of ['suspend', 'unsuspend', 'unsuspend']) await run(`account ${command} ${account}`);
  await run(`account grant ${account} monit`);
  const key = await run(`app-key issue --account ${account}`);
  const rotated = await run(`app-key rotate ${keyIdOf(key)} --account ${account}`);
  for (let times = 0; times < 2; times += 1) await run(`app-key revoke ${keyIdOf(key)} --account ${account}`);
  expect((await admin(`app-key revoke 0123456789abcdef --account ${account} --yes`)).exitCode).not.toBe(0);
  // An imported item that was deleted in another table. Its deletion has the same event as there, but for its cause.
  for (let times = 0; times < 2; times += 1) await load({ ...item, ...deleted, work_item_id: 'elsewhere' });
  await load({ ...item, work_item_id: 'y', deleted_at_ms: 1_700_000_000_000 });
  await load({ ...item, work_item_id: 'z', deleted_at_ms: 1_700_000_000_000, deleted_by: 'operator ada' });

  // Each load deletes it again: a repetition of the event, with the same id.
  const events = [...new Map((await eventsOf(account)).map((event) => [event.detail.id, event])).values()];
  const byRecord = { type: 'WorkItemDeleted', command: 'record' };
  expect(
    events.map(({ type, detail: { id: _id, version: _version, at_ms: _at, account_id: _account, ...fields } }) => ({
      type,
      ...fields,
    })),
  ).toEqual([
    { type: 'WorkItemDeleted', request_id, by: keyIdOf(appKey), work_item_id: 'w', work_item_version: 6 },
    ...[
      { type: 'WorkItemRestored', command: 'work-item restore', work_item_id: 'w', work_item_version: 7 },
      { type: 'AccountSuspended', command: 'account suspend' },
      { type: 'AccountUnsuspended', command: 'account unsuspend' },
      { type: 'AppKeyIssued', command: 'app-key issue', app_key_id: keyIdOf(key) },
      { type: 'AppKeyIssued', command: 'app-key rotate', app_key_id: keyIdOf(rotated) },
      { type: 'AppKeyRevoked', command: 'app-key revoke', app_key_id: keyIdOf(key) },
    ].map((fields) => ({ by: OPERATOR, ...fields })),
    { ...byRecord, by: `record: ${deleted.deleted_by}`, work_item_id: 'elsewhere', work_item_version: 6 },
    { ...byRecord, by: 'record', work_item_id: 'y', work_item_version: 5 },
    { ...byRecord, by: 'record: operator ada', work_item_id: 'z', work_item_version: 5 },
  ]);
  const text = stringifyJson(events);
  for (const secret of [key, rotated, appKey].flatMap((appKey) => [appKey, hashAppKey(appKey)]))
    expect(text).not.toContain(secret);
});

it('an erasure is told once, at its end; what it deletes has no events', async () => {
  const { account } = await newAccount(table);
  const item = { kind: 'work_item', account_id: account, work_item_id: 'w', version: 1, title: 't' };
  await loadData(table, 'item', [JSON.stringify(item)], { nowMs: Date.now() });
  let atMs = Date.now();
  const leaping = () => (atMs += SETTLE_MS);
  for (let times = 0; times < 2; times += 1)
    expect((await admin(`account erase ${account} --yes`, { now: leaping })).exitCode).toBe(0);
  const by = { by: OPERATOR, command: 'account erase', account_id: account };
  expect(await eventsOf(account)).toMatchObject([{ type: 'AccountErased', detail: by }]);
});

it('each deletion of a work item has one event of its own, also if it says the same as an earlier one', async () => {
  const { account, appKey } = await newAccount(table);
  const item = { kind: 'work_item', account_id: account, work_item_id: 'w', version: 1, title: 't' };
  const at = Date.now() - 60_000;
  const send = (more: object, at_ms: number) => ingestOver(table).send({ ...item, at_ms, ...more });
  await send({}, at);
  await send({ deleted_at_ms: at }, at + 1);
  await send({ deleted_at_ms: at + 7, deleted_by: 'other' }, at + 2); // it is deleted already
  await run(`work-item restore w --account ${account}`);
  // Both have the version and the time of deletion of one that was restored.
  for (const later of [at + 9, at + 11]) {
    await send({ deleted_at_ms: at + 7, deleted_by: 'other' }, later);
    await run(`work-item restore w --account ${account}`);
  }
  const { version } = await stored(table, keys.workItem(account, 'w'));
  const call = { appKey, body: { work_item_id: 'w', version } };
  for (let times = 0; times < 2; times += 1)
    expect((await callAlone(createHandlers(testDeps(table)), deleteWorkItem, call)).status).toBe(200);
  const events = await eventsOf(account);
  const [deleted, restored] = ['WorkItemDeleted', 'WorkItemRestored'];
  expect(events.map(({ type }) => type)).toEqual([deleted, restored, deleted, restored, deleted, restored, deleted]);
  expect(events[2]?.detail).toMatchObject({ at_ms: at + 7, by: 'record: other' });
  expect(new Set(events.map(({ detail }) => detail.id)).size).toBe(events.length);
});

it('a write that only repeats what a row said before tells nothing', async () => {
  const tenant = await newAccount(table);
  const { account } = tenant;
  const [alert_ids, incident_id] = [await tenant.alerts(LARGE), await tenant.incident()];
  await tenant.merge(handlerOf(table), { alert_ids, incident_id });
  await run(`account suspend ${account}`);
  const before = await eventsOf(account);
  expect(before.map(({ type }) => type)).toEqual(['AlertsMerged', 'MergeCompleted', 'AccountSuspended']);
  const [suspension] = await storedUnder(table, partitions.audit(account));
  const [entry] = await tenant.history(incident_id);
  const entryKey = keys.historyEntry(account, incident_id, entry.sequence);
  for (const key of [entryKey, keys.logHead(account), { pk: suspension.pk, sk: suspension.sk }])
    await put(table, key, { ...(await stored(table, key)), more: 1 });
  expect(await eventsOf(account)).toEqual(before);
});

it('relay logs an entry of the audit that replaces a finished one, which no command does', async () => {
  const { account } = await newAccount(table);
  await run(`account suspend ${account}`);
  const stdin = stringifyJson({ kind: 'member', account_id: account, member_id: 1, name: 'n' });
  expect((await admin('import - --yes', { stdin })).exitCode).toBe(0); // its entry is replaced when it ends
  expect((await admin(`rum restore --account ${account} --yes`)).exitCode).toBe(1);
  const loggedBy = async () =>
    (await relayed(table, await recordsForRelay(table, account))).log.lines.filter(({ level }) => level === 'error');
  expect(await loggedBy()).toEqual([]);
  const [suspension] = await storedUnder(table, partitions.audit(account));
  const key = { pk: partitions.audit(account), sk: String(suspension?.sk) };
  await put(table, key, { ...suspension, by: 'nobody', command: 'audit' });
  const [was, is] = [suspension, { by: 'nobody', command: 'audit' }].map(({ by, command }) => ({ by, command }));
  const fields = { account_id: account, id: suspension.id, was: expect.objectContaining(was), is };
  expect(await loggedBy()).toMatchObject([{ message: 'audit entry replaced', fields }]);
});

it.each([1, LARGE])('a merge of %d alerts has its events if and only if it is committed', async (count) => {
  const tenant = await newAccount(table);
  const [alert_ids, incident_id] = [await tenant.alerts(count), await tenant.incident()];
  const mergeWith = async (around: Around) => {
    const { status } = await tenant.merge(handlerOf(intercepted(table, around)), { alert_ids, incident_id });
    return status;
  };
  const typesOf = async () => (await eventsOf(tenant.account)).map(({ type }) => type);
  expect([await mergeWith(losingTransactions), await typesOf()]).toEqual([503, []]);
  expect([await mergeWith(dyingAfterCommit()), await typesOf()]).toEqual([200, ['AlertsMerged']]);
  await finishEntries(table, await tenant.history(incident_id), MERGE_LIMITS);
  expect(await typesOf()).toEqual(count === 1 ? ['AlertsMerged'] : ['AlertsMerged', 'MergeCompleted']);
});

it('MergeCompleted is not dated before the AlertsMerged of its merge, whose clock may be ahead', async () => {
  const tenant = await newAccount(table);
  const [alert_ids, incident_id] = [await tenant.alerts(LARGE), await tenant.incident()];
  const { mergeAlerts } = createHandlers(testDeps(table, { now: () => Date.now() + 90_000 }), MERGE_LIMITS);
  await tenant.merge(mergeAlerts, { alert_ids, incident_id });
  const [merged, completed] = await eventsOf(tenant.account);
  expect([completed?.type, completed?.detail.at_ms]).toEqual(['MergeCompleted', merged?.detail.at_ms]);
});

it('AlertTriggered and AlertResolved are published once for each alert of a key, and not when it changes or moves', async () => {
  const tenant = await newAccount(table);
  const { account } = tenant;
  const now = Date.now();
  const ingest = ingestOver(table, () => now);
  const incident_id = await tenant.incident();
  const told = { labels: { host: 'db-7' }, annotations: { runbook_url: 'https://a/disk' } };
  const line = { kind: 'alert', account_id: account, alert_key: 'k', title: 'Disk full', ...told };
  let at_ms = now - 60_000;
  const send = (fields: object) => {
    at_ms += 1_000;
    return ingest.send({ ...line, at_ms, ...fields });
  };
  const idOf = async () => (await stored(table, keys.alertKey(account, 'k'))).alert_id as string;
  const merge = async () => {
    const { status } = await tenant.merge(handlerOf(table), { alert_ids: [await idOf()], incident_id });
    expect(status).toBe(200);
  };
  await send({});
  await merge();
  await send({ alert_status: 'Critical' });
  await ingest.send({ kind: 'alert', account_id: account, alert_id: await idOf(), title: 'Named', at_ms });
  const first = await idOf();
  await send({ alert_status: 'Ok' });
  await merge();
  await send({ alert_status: 'Ok', title: 'Again' });
  await send({ alert_status: 'Info', started_at_ms: now - 3_000, incident_id, silent_after_s: 60 });
  const second = await idOf();
  const exported = (await Array.fromAsync(exportData(table, [account]))).map((record) => stringifyJson(record));
  const silent = { getRemainingTimeInMillis: () => 60_000 };
  await createEndSilentAlerts(testDeps(table, { now: () => now + 60_000 }), async () => 0)({}, silent);
  const other = await newAccount(table);
  const load = (lines: string[]) => loadData(table, 'alerts', lines, { nowMs: now });
  await load(exported.map((text) => text.replaceAll(String(account), String(other.account))));
  await load([JSON.stringify({ ...line, alert_key: 'missed', alert_status: 'Ok', ended_at_ms: now - 7_000 })]);
  const missed = (await stored(table, keys.alertKey(account, 'missed'))).alert_id;

  const common = { version: 1, account_id: account, by: 'record', command: 'record', ...told };
  const seconds = (ms: number) => Math.floor(ms / 1_000);
  const opened = now - 59_000;
  const event = (type: string, alert_id: string, fields: object) => ({
    type,
    detail: { ...common, id: expect.any(String), alert_id, alert_key: 'k', ...fields },
  });
  const times = { start_time: seconds(opened), end_time: seconds(now - 57_000) };
  const events = (await eventsOf(account)).filter(({ type }) => type !== 'AlertsMerged');
  expect(events).toEqual([
    event('AlertTriggered', first, {
      ...{ alert_severity: 'Warning', title: 'Disk full', at_ms: opened },
      ...{ start_time: times.start_time, end_time: 0 },
    }),
    event('AlertResolved', first, {
      alert_severity: 'Critical',
      title: 'Disk full',
      incident_id,
      at_ms: now - 57_000,
      ...times,
    }),
    event('AlertTriggered', second, {
      ...{ alert_severity: 'Info', title: 'Disk full', incident_id, at_ms: now - 55_000 },
      ...{ start_time: seconds(now - 3_000), end_time: 0 },
    }),
    event('AlertResolved', second, {
      ...{ alert_severity: 'Info', title: 'Disk full', incident_id, at_ms: now + 60_000 },
      ...{ by: 'service', command: 'end-silent-alerts', reason: 'silent' },
      ...{ start_time: seconds(now - 3_000), end_time: seconds(now + 60_000) },
    }),
    event('AlertResolved', missed, {
      ...{ alert_key: 'missed', title: 'Disk full', at_ms: now },
      ...{ start_time: seconds(now - 7_000), end_time: seconds(now - 7_000) },
    }),
  ]);
  expect(await eventsOf(other.account)).toEqual([]);
});

it('a record that names an alert by its id, or says its incident late, does not tell again that it was triggered', async () => {
  const tenant = await newAccount(table);
  const { account } = tenant;
  const ingest = ingestOver(table);
  const at = Date.now() - 60_000;
  const open = async (alert_key: string) => {
    await ingest.send({ kind: 'alert', account_id: account, alert_key, title: 't', at_ms: at });
    return (await stored(table, keys.alertKey(account, alert_key))).alert_id;
  };
  const change = (alert_id: unknown, fields: object) =>
    ingest.send({ kind: 'alert', account_id: account, alert_id, title: 'changed', ...fields });
  await change(await open('named'), { at_ms: at + 1 });
  // Its title is older than that of the row, so only the incident is written.
  await change(await open('in an incident'), { at_ms: at - 1, incident_id: await tenant.incident() });
  const rows = await Promise.all(['named', 'in an incident'].map((key) => stored(table, keys.alertKey(account, key))));
  const alerts = await Promise.all(rows.map(({ alert_id }) => stored(table, keys.alert(account, alert_id))));
  expect(alerts).toMatchObject([{ title: 'changed' }, { title: 't', incident_id: expect.any(String) }]);
  expect((await eventsOf(account)).map(({ type }) => type)).toEqual(['AlertTriggered', 'AlertTriggered']);
});

it("an alert's event has at most 64 KB, and says that it lacks the labels and annotations that would not fit", async () => {
  const { account } = await newAccount(table);
  const labelsOf = (length: number) => ({
    ...Object.fromEntries(Array.from({ length: 63 }, (_, index) => [`l${index + 10}`, 'é'.repeat(length / 2)])),
    l99: 'small',
  });
  const lineOf = (alert_key: string, length: number, fields: object = {}) =>
    JSON.stringify({ kind: 'alert', account_id: account, alert_key, title: 't', labels: labelsOf(length), ...fields });
  const annotations = { a: 'x'.repeat(1_900), z: 'small' };
  for (const line of [lineOf('a', 990), lineOf('b', 1_010), lineOf('c', 990, { annotations })]) // only import takes such large ones
    await loadData(table, 'data', [line], { nowMs: Date.now() });
  const [whole, cut, noted] = await eventsOf(account);
  expect(whole?.detail).toMatchObject({ labels: labelsOf(990) });
  expect(whole?.detail).not.toHaveProperty('labels_cut');
  const bytes = Buffer.byteLength(stringifyJson(cut?.detail));
  expect([cut?.detail.labels_cut, bytes > 63_000, bytes <= 64_000]).toEqual([true, true, true]);
  const { l72: _left, ...kept } = labelsOf(1_010) as Record<string, string>;
  expect(cut?.detail.labels).toEqual(kept);
  expect(noted?.detail).toMatchObject({ labels: labelsOf(990), annotations: { z: 'small' }, labels_cut: true });
});
