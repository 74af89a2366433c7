import { describe, expect, it } from 'vitest';
import { createAppKeys } from '../../../../lib/http/app-keys.ts';
import { writeRow } from '../../../../lib/ingest/write-records.ts';
import { orderOf, orderOfTime } from '../../../../lib/model/order.ts';
import { mergeAlerts } from '../../../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { EXISTS, set } from '../../../../lib/table/expression.ts';
import { type Key, keys, ofKind, parseKey } from '../../../../lib/table/keys.ts';
import { updateRow } from '../../../../lib/table/write.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { intercepted } from '../../../../test/support/faults.ts';
import { createHandlers } from '../../../../test/support/handlers.ts';
import { newAccount, objectId } from '../../../../test/support/incidents.ts';
import { recordFrom } from '../../../../test/support/ingest.ts';
import { callAlone, newDouble, newTable, put, remove, stored, testDeps } from '../../../../test/support/service.ts';
import { changeAccount, readAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, putAppKey } from '../../accounts/app-key-admin.ts';
import { deleteRows, endErasure, markErased } from '../../accounts/erase-account.ts';
import { checkAccount, checkTable } from '../../check/check.ts';
import type { Finding, FindingKind } from '../../check/finding.ts';
import { repair } from '../../check/repair.ts';
import { repairAccounts, repairMerges } from '../../check/repair-table.ts';
import { adminOf } from '../support/run-admin.ts';
import { snapshot } from '../support/snapshot.ts';

/** An account that does not exist. */
const GONE = 1;
/** A time to live that does not end during the test, in Unix seconds. */
const FAR = 9_999_999_999;
const ORIGIN = { sentMs: Date.now(), messageId: 'm', line: 1 };
/** Sequence of an entry that no history has. */
const LOST = 5;

/** An account with a small and a large merge; `alertKey` is of the first alert, and `large` the sequence of the large merge. */
async function merged(table = newDouble()) {
  const tenant = await newAccount(table);
  const { account } = tenant;
  const row = await readAccount(table, account);
  const identity = identityOfAppKey(tenant.appKey);
  if (row) await putAppKey(table, row, identity, { created_at: 1 });
  const handlers = createHandlers(testDeps(table), { transactionItems: 12 });
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(20, from);
  const merge = async (body: object) =>
    expectEnvelope(await callAlone(handlers, mergeAlerts, { appKey: tenant.appKey, body }), 200);
  await tenant.member(7);
  await merge({ alert_ids: alerts.slice(0, 5), incident_id: to, title: 'New', owner_id: 7 });
  await merge({ alert_ids: alerts, incident_id: from });
  const [{ sequence }] = await tenant.history(from);
  const alert = { kind: 'alert', account_id: account, alert_key: 'k', title: 't' };
  for (const [index, alert_status] of ['Info', 'Ok', 'Info'].entries())
    await writeRow(table, [recordFrom({ ...alert, alert_status, at_ms: Date.now() + index })]);
  return {
    ...{ table, tenant, account, from, to, alerts, merge, hash: identity.hash, large: sequence as number },
    alertKey: keys.alert(account, String(alerts[0])),
    /** Sets attributes of a row. One that is undefined is removed. */
    change: (key: Key, attributes: object) => updateRow(table, key as never, set(attributes), EXISTS),
    put: (key: Key, row: object = {}) => put(table, key, row),
    remove: (key: Key) => remove(table, key),
  };
}
/** The alerts of a key, in their order. */
const alertsOfKey = async (table: Table, account: number) =>
  ofKind('alert', [...(await snapshot(table, account)).values()])
    .filter(({ alert_key }) => alert_key !== undefined)
    .sort((a, b) => Buffer.compare(a.key_order as Uint8Array, b.key_order as Uint8Array));
type Break = (account: Awaited<ReturnType<typeof merged>>) => Promise<unknown>;

/** As when a row arrives from a lost region after the account was erased. */
const arriveLate =
  (keyOf: (account: number) => Key): Break =>
  async ({ table, account, put }) => {
    const { signal } = new AbortController();
    await markErased(table, account, 1, []);
    await deleteRows(table, account, signal);
    await endErasure(table, account, 1, []);
    expect(await kindsIn(table)).toEqual(new Set());
    await put(keyOf(account), { merge_id: 'm' });
  };

/** Changes of an account that cause a finding that only a record or an import ends. */
const AWAITED: [FindingKind, Break][] = [
  ['alert_incident_missing', ({ tenant }) => tenant.alerts(1, objectId())],
  ['incident_owner_missing', ({ change, account, from }) => change(keys.incident(account, from), { owner_id: 8 })],
  ['entry_incident_missing', ({ remove, account, to }) => remove(keys.incident(account, to))],
  ['entry_alert_missing', ({ remove, alertKey }) => remove(alertKey)],
  ['erasure_unfinished', ({ change, account }) => change(keys.account(account), { erased_at_ms: 1 })],
  ['erasure_unfinished', arriveLate((account) => keys.alert(account, objectId()))],
  ['erasure_unfinished', arriveLate((account) => keys.workItem(account, 'w'))],
  ['erasure_unfinished', arriveLate((account) => keys.historyEntry(account, objectId(), 5))],
];

const ONLY_FOUND = [
  ...(['alert_incident_missing', 'incident_owner_missing', 'entry_incident_missing', 'entry_alert_missing'] as const),
  ...(['erasure_unfinished', 'app_key_valid'] as const),
] as const;
/** For each other kind of finding, a change of the account that causes it. */
const BROKEN: Record<Exclude<FindingKind, (typeof ONLY_FOUND)[number]>, Break> = {
  alert_misplaced: ({ change, alertKey, to }) => change(alertKey, { incident_id: to }),
  alert_entry_missing: ({ change, alertKey }) => change(alertKey, { moved_sequence: LOST }),
  alert_key_outdated: ({ change, account }) => change(keys.alertKey(account, 'k'), { is_open: false }),
  alert_not_ended: ({ change, account }) =>
    change(keys.alertKey(account, 'k'), { is_open: false, row_order: orderOf(Date.now() + 9, ORIGIN), ttl: FAR }),
  // As if the opening of the last alert had not read that the one before is open.
  alert_open_twice: async ({ change, account, table }) => {
    const [first] = await alertsOfKey(table, account);
    await change(keys.alert(account, String(first?.alert_id)), {
      index_partition: 'p',
      index_place: 'a',
      ended_at_ms: undefined,
    });
  },
  entry_unlisted: ({ remove, account, large }) => remove(keys.logPointer(account, large)),
  // As if the merge had read the alerts before the small one moved some of them.
  entry_origins_outdated: ({ change, account, from, large }) =>
    change(keys.historyEntry(account, from, large), {
      read_since: { last: 0, entries: 0 },
      other_ids: new Uint8Array(20 * 12),
    }),
  merged_in_two_regions: async (broken) => {
    const { change, account, tenant, from, to, large } = broken;
    const [{ sequence }] = await tenant.history(to);
    await change(keys.historyEntry(account, to, sequence), { region: 1 });
    await change(keys.historyEntry(account, from, large), { region: 2 });
    await BROKEN.entry_origins_outdated(broken);
  },
  entry_not_applied: ({ change, account, to }) =>
    change(keys.incident(account, to), {
      ...{ title: 'Checkout is down', title_order: undefined, title_by: undefined, feed_title: undefined },
      ...{ owner_id: undefined, owner_order: undefined, owner_by: undefined, feed_owner_id: undefined },
    }),
  incident_entry_missing: ({ change, account, from }) =>
    change(keys.incident(account, from), {
      ...{ title_by: LOST, feed_title: 'Old', owner_id: 7, owner_by: LOST, feed_owner_id: null },
    }),
  log_head_behind: ({ change, account }) => change(keys.logHead(account), { last: 5, last_large: 5 }),
  log_count_wrong: ({ change, account }) => change(keys.logHead(account), { entries: 7 }),
  log_entry_missing: ({ put, account, from }) => put(keys.logPointer(account, 7), { incident_id: from }),
  pending_entry_missing: ({ change, account, from }) => change(keys.logHead(account), { pending: { 7: from } }),
  // As after a restore to a moment right after the commit.
  merge_unfinished: async ({ change, account, from, large }) => {
    await change(keys.logHead(account), { pending: { [large]: from } });
    await change(keys.historyEntry(account, from, large), { at_ms: 1 });
  },
  idempotency_entry_missing: ({ put, account, to }) =>
    put(keys.idempotency(account, 'merge-alerts', 'k'), { incident_id: to, sequence: 7, ttl: FAR }),
  // As if only the mark of the retirement had arrived, and of the status a report that kept an earlier snapshot.
  host_not_retired: async ({ put, account }) => {
    const [before, retired, after] = [1, 2, 3].map(orderOfTime);
    await put(keys.retirement(account, 'h'), { row_order: retired, ttl: FAR });
    await put(keys.host(account, 'h'), { row_order: before });
    await put(keys.hostStatus(account, 'h'), { row_order: after, snapshot_order: before, node_count: 5 });
  },
  account_missing: ({ put }) => put(keys.listedAccount(GONE)),
  // As after a suspension of which only the key's row has arrived.
  account_outdated: async ({ table, change, account }) => {
    const row = await readAccount(table, account);
    await changeAccount(table, account, () => ({ permissions: [] }));
    await change(keys.account(account), { permissions: row?.permissions, revision: row?.revision });
  },
  account_unlisted: ({ remove, account }) => remove(keys.listedAccount(account)),
  app_key_missing: ({ remove, hash }) => remove(keys.appKey(hash)),
  app_key_unlisted: ({ change, account }) => change(keys.account(account), { app_keys: undefined }),
  app_key_outdated: ({ change, hash }) => change(keys.appKey(hash), { permissions: ['monit', 'all'] }),
};
/** What is as it was after the repair; the others keep what a merge does not write again. */
const RESTORED = /^(alert_misplaced|alert_entry_missing|entry_not_applied|entry_unlisted|log_head_behind)$/;

const findIn = async (table: Table) => (await Array.fromAsync(checkTable(table, Date.now()))).flat();
const kindsIn = async (table: Table) => new Set((await findIn(table)).map(({ kind }) => kind));

describe('admin check and admin repair', () => {
  it.each(AWAITED)('find, and leave as it is: %s', async (kind, breakRow) => {
    const broken = await merged();
    const { table, account } = broken;
    await breakRow(broken);
    const rows = await snapshot(table, account);
    const findings = await findIn(table);
    expect(findings).toMatchObject([{ kind }]);
    expect(await repair(table, findings)).toEqual({ fixed: 0, left: findings });
    expect(await snapshot(table, account)).toEqual(rows);
    // A month after the entry, an alert that it names may have expired.
    const later = await Array.fromAsync(checkTable(table, Date.now() + 31 * 24 * 3_600_000));
    expect(later.flat()).toMatchObject(kind === 'entry_alert_missing' ? [] : [{ kind }]);
  });

  it.each(Object.entries(BROKEN))('find and fix: %s', async (kind, breakRows) => {
    const broken = await merged();
    const { table, account } = broken;
    const intact = await snapshot(table, account);
    await breakRows(broken);
    expect(await kindsIn(table)).toEqual(new Set([kind]));
    await repair(table, await findIn(table));
    expect(await kindsIn(table)).toEqual(new Set());
    if (RESTORED.test(kind)) expect(await snapshot(table, account)).toEqual(intact);
    if (kind === 'host_not_retired') {
      expect(await stored(table, keys.host(account, 'h'))).toBeUndefined();
      expect(await stored(table, keys.hostStatus(account, 'h'))).toMatchObject({ node_count: 0 });
      expect(await stored(table, keys.hostStatus(account, 'h'))).not.toHaveProperty('snapshot_order');
    }
    if (kind !== 'incident_entry_missing') return;
    const { title, owner_id } = await broken.tenant.incidentRow(broken.from);
    expect([title, owner_id]).toEqual(['Old', undefined]);
  });

  it('miss no alert that merges and an undo have named after its end, once it has expired', async () => {
    const { table, tenant, account, alerts, from, to, merge, change, remove } = await merged(await newTable());
    const [ended = ''] = await tenant.alerts(1, from);
    const expiresMs = Date.now() + 24 * 3_600_000;
    await change(keys.alert(account, ended), { ttl: Math.ceil(expiresMs / 1_000) });
    await merge({ alert_ids: [ended], incident_id: to });
    await merge({ alert_ids: [ended, ...alerts], incident_id: from });
    const { sequence } = (await tenant.history(from)).at(-1);
    expect(await adminOf(table)(`merge undo ${from} ${sequence} --account ${account} --yes`)).toMatchObject({
      exitCode: 0,
    });
    await remove(keys.alert(account, ended));
    const kindsAt = async (nowMs: number) =>
      (await Array.fromAsync(checkTable(table, nowMs))).flat().map(({ kind }) => kind);
    expect(await kindsAt(expiresMs - 1)).toEqual(['entry_alert_missing']);
    expect(await kindsAt(expiresMs + 1_000)).toEqual([]);
  });

  it('repair a whole table: accounts first, then merges, and name what is left', async () => {
    const broken = await merged();
    const { table } = broken;
    for (const kind of ['app_key_outdated', 'alert_misplaced', 'pending_entry_missing'] as const)
      await BROKEN[kind](broken);
    await AWAITED[0]?.[1](broken);
    const kindsOf = (findings: readonly Finding[]) => findings.map(({ kind }) => kind).sort();
    const accounts = await repairAccounts(table);
    expect([kindsOf(accounts.fixed), accounts.left]).toEqual([['app_key_outdated'], []]);
    const merges = await repairMerges(table, Date.now());
    expect(kindsOf(merges.fixed)).toEqual(['alert_misplaced', 'pending_entry_missing']);
    expect(kindsOf(merges.left)).toEqual(['alert_incident_missing']);
    expect(await kindsIn(table)).toEqual(new Set(['alert_incident_missing']));
  });

  it('repair once more when entries arrive of which there was none before', async () => {
    const { table, account, put, remove } = await merged();
    const log = [...(await snapshot(table, account)).values()].filter((row) =>
      ['historyEntry', 'logPointer', 'logHead'].includes(String(parseKey(row)?.kind)),
    );
    for (const row of log) await remove(row);
    await repairMerges(table, Date.now());
    for (const { pk, sk, ...row } of log) if (pk !== keys.logHead(account).pk) await put({ pk, sk }, row);
    await repairMerges(table, Date.now());
    expect(await kindsIn(table)).toEqual(new Set());
  });

  it('let in no key that any row forbids, whichever row of an account has not arrived', async () => {
    const { table, tenant, account, hash, remove, change } = await merged();
    const isLetIn = async () => (await createAppKeys(testDeps(table)).find(tenant.appKey)) !== undefined;
    const before = await readAccount(table, account);
    await changeAccount(table, account, () => ({ suspended: true }));
    // The row of the account is from before its suspension, that of the key from after it.
    await change(keys.account(account), { suspended: before?.suspended, revision: before?.revision });
    await repairAccounts(table);
    expect([await isLetIn(), (await readAccount(table, account))?.suspended]).toEqual([false, true]);

    const suspended = await readAccount(table, account);
    for (const suspended of [false, true, false]) await changeAccount(table, account, () => ({ suspended }));
    await change(keys.account(account), { suspended: false, revision: suspended?.revision });
    await expect(changeAccount(table, account, () => ({ suspended: true }))).rejects.toThrow(/later state .* `repair`/);
    await repairAccounts(table);
    await changeAccount(table, account, () => ({ suspended: true }));
    expect(await isLetIn()).toBe(false);

    await changeAccount(table, account, () => ({ suspended: false }));
    expect(await isLetIn()).toBe(true);
    await remove(keys.account(account));
    expect((await findIn(table)).map(({ kind }) => kind)).toEqual(['account_missing', 'app_key_valid']);
    await repairAccounts(table);
    expect([await isLetIn(), await kindsIn(table)]).toEqual([false, new Set(['account_missing'])]);
    expect(await stored(table, keys.appKey(hash))).toHaveProperty('revoked_at');
  });

  it('say in one line for each finding what is wrong, and where, and write only with --write', async () => {
    const { table, account, alerts, to, from, large, change } = await merged(await newTable());
    const admin = (words: string) => adminOf(table)(`${words} --account ${account}`);
    expect(await admin('check')).toMatchObject({ exitCode: 0, out: 'No problems found.\n' });
    await change(keys.alert(account, String(alerts[3])), { incident_id: to });
    const { exitCode, out, err } = await admin('check');
    const line = `^alert_misplaced: account ${account}, alert_id ${alerts[3]}, .*${to}.*${from}.*${large}\n$`;
    expect([exitCode, out]).toEqual([3, expect.stringMatching(line)]);
    expect(err).toMatch(/^1 finding\. .*`repair`/);
    await change(keys.incident(account, from), { owner_id: 8 });
    const dry = /^Dry run: nothing is written\. Pass --write to write it\.\n.*1 of 2 findings would be repaired\./s;
    expect((await admin('repair')).err).toMatch(dry);
    expect(await kindsIn(table)).toEqual(new Set(['alert_misplaced', 'incident_owner_missing']));
    const written = await admin('repair --write');
    expect([written.exitCode, written.err]).toEqual([1, expect.stringContaining('1 of 2 findings repaired.')]);
    expect(await kindsIn(table)).toEqual(new Set(['incident_owner_missing']));
  });

  it.each<[what: string, breakRows: Break, meanwhile: Break]>([
    [
      'moved',
      ({ change, alertKey }) => change(alertKey, { incident_id: undefined }),
      ({ change, alertKey }) => change(alertKey, { moved_sequence: LOST }),
    ],
    [
      'issued',
      BROKEN.app_key_missing,
      ({ put, account, hash }) => put(keys.appKey(hash), { account_id: account, permissions: ['monit'] }),
    ],
  ])('change nothing of what has been %s since it was read', async (_what, breakRows, meanwhile) => {
    const broken = await merged();
    const { table, account } = broken;
    await breakRows(broken);
    const findings = await checkAccount(table, account);
    await meanwhile(broken);
    const rowsOf = async () => [await snapshot(table, account), await stored(table, keys.account(account))];
    const before = await rowsOf();
    expect(await repair(table, findings)).toEqual({ fixed: 0, left: [findings[0]] });
    expect(await rowsOf()).toEqual(before);
  });

  it('find nothing, and what else is wrong, while merges are committed between their reads', async () => {
    const { table, account, alerts, from, to, merge, put } = await merged(await newTable());
    let merges = 0;
    const checking = intercepted(table, async (send, { input }) => {
      // After the log head and before the histories of the incidents are read.
      if (JSON.stringify(input).includes('#INCIDENTS') && merges < 3) {
        merges += 1;
        await merge({ alert_ids: alerts, incident_id: merges % 2 ? to : from, title: `${merges}` });
      }
      return send();
    });
    expect(await checkAccount(checking, account)).toEqual([]);
    expect(merges).toBe(3);
    await put(keys.logPointer(account, 7), { incident_id: from });
    merges = 2;
    expect(await checkAccount(checking, account)).toMatchObject([{ kind: 'log_entry_missing' }]);
  });
});
