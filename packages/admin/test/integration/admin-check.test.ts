import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/table/client.ts';
import { EXISTS, set } from '../../../../lib/table/expression.ts';
import { type Key, keys } from '../../../../lib/table/keys.ts';
import { updateRow } from '../../../../lib/table/write.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { aroundCalls, onceBefore } from '../../../../test/support/faults.ts';
import { newAccount, objectId } from '../../../../test/support/incidents.ts';
import { connectAgain, handlersOver, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { readAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, newAppKey, putAppKey } from '../../accounts/app-key-admin.ts';
import { checkAccount } from '../../check/check.ts';
import type { FindingKind } from '../../check/finding.ts';
import { repair } from '../../check/repair.ts';
import { loadData } from '../../data/load.ts';
import { adminOf } from '../support/run-admin.ts';
import { snapshot } from '../support/torn.ts';

/** An account that does not exist. */
const GONE = 1;
/** A time to live that does not end during the test, in Unix seconds. */
const FAR = 9_999_999_999;
let table: Table;
let admin: ReturnType<typeof adminOf>;
async function startTable(): Promise<void> {
  table = await newTable();
  admin = adminOf(table);
}
beforeAll(startTable);

/** An account with a small and a large merge; `alertKey` is of the first alert, and `large` the sequence of the large merge. */
async function merged() {
  const tenant = await newAccount(table);
  const row = await readAccount(table, tenant.account);
  const identity = identityOfAppKey(newAppKey());
  if (row) await putAppKey(table, row, identity, { created_at: 1 });
  const { mergeAlerts } = handlersOver(testDeps(table), { transactionItems: 12 });
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(20, from);
  const mergeOk = async (body: object) =>
    expectEnvelope(await tenant.merge(mergeAlerts, body, { headers: { 'Idempotency-Key': objectId() } }), 200);
  await tenant.member(7);
  await mergeOk({ alert_ids: alerts.slice(0, 5), incident_id: to, title: 'New', owner_id: 7 });
  await mergeOk({ alert_ids: alerts, incident_id: from });
  const [{ sequence }] = await tenant.feed(from);
  const alertKey = keys.alert(tenant.account, String(alerts[0]));
  return { tenant, from, to, alerts, alertKey, hash: identity.hash, large: sequence as number };
}
type Merged = Awaited<ReturnType<typeof merged>>;

/** Sets attributes of a row. One that is undefined is removed. */
const change = (key: Key, attributes: object) => updateRow(table, key as never, set(attributes), EXISTS);
const remove = (...rows: Key[]) =>
  Promise.all(
    rows.map(({ pk, sk }) => table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }))),
  );

describe('merges whose feed rows a restore has lost', () => {
  it('are reported, and not repaired, as long as the earlier incidents and titles are unknown', async () => {
    const tenant = await newAccount(table);
    const { mergeAlerts } = handlersOver(testDeps(table));
    const [from, to] = [await tenant.incident(), await tenant.incident()];
    const [alert = '', other = ''] = await tenant.alerts(2, from);
    const mergeOk = async (body: object) => expectEnvelope(await tenant.merge(mergeAlerts, body), 200);
    await mergeOk({ alert_ids: [alert, other], incident_id: to, title: 'First' });
    await mergeOk({ alert_ids: [alert], incident_id: from });
    await mergeOk({ alert_ids: [alert], incident_id: to, title: 'Second' });
    const rows = [...(await tenant.feed(to)), ...(await tenant.feed(from))];
    // The other alert's row is as before the first merge, the others are as after the last.
    await put(table, keys.alert(tenant.account, other), { alert_id: other, title: 't', incident_id: from });
    await remove(...rows);
    const run = async (command: string) => (await admin(`${command} --account ${tenant.account}`)).out;
    for (const command of ['check', 'repair --write', 'check']) {
      const out = await run(command);
      expect(out).toContain(`alert_entry_missing: account ${tenant.account}, alert_id ${alert}`);
      expect(out).toContain(`incident_entry_missing: account ${tenant.account}, incident_id ${to}`);
      expect(out).toContain('is missing too');
    }
  });
});

/** Records of the feed may cause these, and end them. */
const UNREPAIRABLE = {
  alert_incident_missing: ({ tenant }: Merged) => tenant.alerts(1, objectId()),
  incident_owner_missing: ({ tenant, from }: Merged) => change(keys.incident(tenant.account, from), { owner_id: 8 }),
};

/** For each other kind of finding, a change of the account that causes it. */
const BROKEN: Record<Exclude<FindingKind, keyof typeof UNREPAIRABLE>, (merged: Merged) => Promise<unknown>> = {
  alert_misplaced: ({ alertKey, to }) => change(alertKey, { incident_id: to }),
  alert_entry_missing: ({ alertKey }) => change(alertKey, { moved_sequence: 9_999_999_999_999 }),
  entry_unlisted: ({ tenant, large }) => remove(keys.logPointer(tenant.account, large)),
  // As if the merge had read the alerts before the small one moved some of them.
  entry_origins_outdated: ({ tenant, from, large }) =>
    change(keys.historyEntry(tenant.account, from, large), {
      read_since: { last: 0, entries: 0 },
      other_ids: new Uint8Array(20 * 12),
    }),
  entry_not_applied: ({ tenant, to }) =>
    change(keys.incident(tenant.account, to), {
      ...{ title: 'Old', owner_id: undefined, last_change: undefined },
      ...{ title_order: undefined, owner_order: undefined },
    }),
  incident_entry_missing: ({ tenant, from }) =>
    change(keys.incident(tenant.account, from), { last_change: { sequence: 9_999_999_999_999, old_title: 'Old' } }),
  merge_order_behind: async ({ tenant }) => {
    await change(keys.mergeOrder(tenant.account), { last: 5 });
  },
  log_entry_missing: ({ tenant, from }) => put(table, keys.logPointer(tenant.account, 7), { incident_id: from }),
  pending_entry_missing: ({ tenant, from }) => change(keys.mergeOrder(tenant.account), { pending: { 7: from } }),
  // As after a restore to a moment right after the commit.
  merge_unfinished: async ({ tenant, from, large }) => {
    await change(keys.mergeOrder(tenant.account), { pending: { [large]: from } });
    await change(keys.historyEntry(tenant.account, from, large), { at_ms: 1 });
  },
  idempotency_entry_missing: ({ tenant, to }) =>
    put(table, keys.idempotency(tenant.account, 'merge-alerts', 'k'), { incident_id: to, sequence: 7, ttl: FAR }),
  account_missing: () => put(table, keys.listedAccount(GONE), {}),
  account_unlisted: ({ tenant }) => remove(keys.listedAccount(tenant.account)),
  app_key_missing: ({ hash }) => remove(keys.appKey(hash)),
  app_key_unlisted: ({ tenant }) => change(keys.account(tenant.account), { app_keys: undefined }),
  app_key_outdated: ({ hash }) => change(keys.appKey(hash), { permissions: ['monit', 'all'] }),
};

describe('admin check and admin repair', () => {
  it('find nothing in a consistent account', async () => {
    const { tenant } = await merged();
    const checked = { exitCode: 0, out: 'No problems found.\n' };
    expect(await admin(`check --account ${tenant.account}`)).toMatchObject(checked);
    expect(await admin(`repair --account ${tenant.account} --write`)).toMatchObject({ exitCode: 0 });
  });

  it.each(Object.entries(UNREPAIRABLE))('find, and leave as it is: %s', async (kind, breakRow) => {
    const broken = await merged();
    const { account } = broken.tenant;
    await breakRow(broken);
    const rows = await snapshot(table, account);
    const findings = await checkAccount(table, account);
    expect(findings.map((finding) => finding.kind)).toEqual([kind]);
    expect((await repair(table, findings)).left).toEqual(findings);
    expect(await snapshot(table, account)).toEqual(rows);
  });

  it.each(Object.entries(BROKEN))('find and fix: %s', async (kind, breakRows) => {
    // Only a check of the whole table finds these. It takes longer the more accounts there are, so they get a new table.
    const isOfTable = kind === 'account_missing' || kind === 'app_key_unlisted';
    if (isOfTable) await startTable();
    const broken = await merged();
    const { account } = broken.tenant;
    const intact = await snapshot(table, account);
    await breakRows(broken);
    const scope = isOfTable ? '' : ` --account ${account}`;
    const about = kind === 'account_missing' ? GONE : account;
    const check = async () => {
      const { exitCode, out } = await admin(`check --json${scope}`);
      const found = JSON.parse(out) as { account_id: number; kind: FindingKind }[];
      return { exitCode, found: new Set(found.filter(({ account_id }) => account_id === about)) };
    };
    const first = await check();
    expect(first.exitCode).toBe(1);
    expect([...first.found].map((finding) => finding.kind)).toContain(kind);
    const before = await snapshot(table, account);

    const dry = await admin(`repair${scope}`);
    expect(dry.err).toMatch(/^Dry run: nothing is written\. Pass --write to write it\.\n.*would be repaired\./s);
    // The snapshot has no rows of accounts and keys.
    expect(await check()).toEqual(first);
    expect(await snapshot(table, account)).toEqual(before);

    const { exitCode } = await admin(`repair --write${scope}`);
    if (!isOfTable) expect(exitCode).toBe(0);
    expect((await check()).found).toEqual(new Set());
    if (kind === 'alert_misplaced' || kind === 'entry_not_applied')
      expect(await snapshot(table, account)).toEqual(intact);
  });

  it('say in one line for each finding what is wrong, and where', async () => {
    const { tenant, alerts, to, from, large } = await merged();
    await change(keys.alert(tenant.account, String(alerts[3])), { incident_id: to });
    const { out, err, exitCode } = await admin(`check --account ${tenant.account}`);
    expect(out).toBe(
      `alert_misplaced: account ${tenant.account}, alert_id ${alerts[3]}, sequence ${large}: it is in ${to} and belongs in ${from}, by entry ${large}\n`,
    );
    expect([err, exitCode]).toEqual(['1 finding. Run `repair` to see what it would change.\n', 1]);
  });

  it('accept what an import beside merges wrote: it takes back nothing that they did', async () => {
    const { tenant, alerts, alertKey, to } = await merged();
    const { account } = tenant;
    const incident_id = await tenant.incident();
    const importer = connectAgain(table);
    const { mergeAlerts } = handlersOver(testDeps(table));
    aroundCalls(
      importer,
      onceBefore('UpdateItem', () =>
        tenant.merge(mergeAlerts, { alert_ids: [alerts[0]], incident_id, title: 'Merged' }),
      ),
    );
    const lines = [
      { kind: 'alert', account_id: account, alert_id: alerts[0], title: 'Again', incident_id: to },
      { kind: 'incident', account_id: account, incident_id, title: 'Again' },
    ];
    for (const line of lines) await loadData(importer, 'test', [JSON.stringify(line)], { nowMs: 1_000 });
    expect(await stored(table, alertKey)).toMatchObject({ title: 'Again', incident_id });
    expect(await stored(table, keys.incident(account, incident_id))).toMatchObject({ title: 'Merged' });
    expect(await checkAccount(table, account)).toEqual([]);
    const [{ sequence }] = await tenant.feed(incident_id);
    const { out } = await admin(`merge undo ${incident_id} ${sequence} --account ${account}`);
    expect(out).toMatch(/^1 of 1 alert/);
  });

  it('leave a row that a call has changed since it was read', async () => {
    const { tenant, alertKey } = await merged();
    await change(alertKey, { incident_id: undefined });
    const findings = await checkAccount(table, tenant.account);
    await change(alertKey, { moved_sequence: 9_999_999_999_999 });
    expect(await repair(table, findings)).toMatchObject({ fixed: 0, left: [{ kind: 'alert_misplaced' }] });
    expect((await stored(table, alertKey)).moved_sequence).toBe(9_999_999_999_999);
  });

  /**
   * Two kinds of finding, each with a function that writes the row in question. In round 2 something differs: the row, or that the account
   * exists.
   */
  it.each<[kind: FindingKind, write: (account: number, round: number) => Promise<Key>]>([
    [
      'idempotency_entry_missing',
      async (account, round) => {
        const key = keys.idempotency(account, 'merge-alerts', 'again');
        await put(table, key, { incident_id: objectId(), sequence: round, ttl: FAR });
        return key;
      },
    ],
    [
      'account_missing',
      async (account, round) => {
        if (round > 1) await put(table, keys.account(account), { account_id: account });
        await put(table, keys.listedAccount(account), {});
        return keys.listedAccount(account);
      },
    ],
  ])('do not delete what has been written again meanwhile: %s', async (kind, write) => {
    const account = kind === 'account_missing' ? newAccountId() : (await newAccount(table)).account;
    const key = await write(account, 1);
    const findings = await checkAccount(table, account);
    expect(findings.map((finding) => finding.kind)).toEqual([kind]);
    await repair(table, findings);
    await write(account, 2);
    // As if DynamoDB applied the writes of an earlier repair only now.
    expect((await repair(table, findings)).left).toEqual(findings);
    expect(await stored(table, key)).toMatchObject(key);
  });

  it('find nothing while merges go on', async () => {
    const { tenant, alerts, from, to } = await merged();
    const { mergeAlerts } = handlersOver(testDeps(table), { transactionItems: 12 });
    let isChecking = true;
    async function keepMerging() {
      for (let round = 0; isChecking; round += 1)
        await tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id: [to, from][round % 2], title: `${round}` });
    }
    const merging = keepMerging();
    for (let round = 0; round < 5; round += 1) expect(await checkAccount(table, tenant.account)).toEqual([]);
    isChecking = false;
    await merging;
  });
});
