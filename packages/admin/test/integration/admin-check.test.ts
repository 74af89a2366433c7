import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { type Key, keys } from '../../../../lib/dynamodb/keys.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { aroundCalls } from '../../../../test/support/faults.ts';
import { type Account, newAccount, objectId } from '../../../../test/support/incidents.ts';
import { connectAgain, handlersOver, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { overwrite, snapshot } from '../../../../test/support/torn.ts';
import { readAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, newAppKey, putAppKey } from '../../accounts/app-key-admin.ts';
import { checkAccount } from '../../check/check.ts';
import { FINDINGS, type FindingKind } from '../../check/finding.ts';
import { repair } from '../../check/repair.ts';
import { loadData } from '../../data/load.ts';
import { adminOf } from '../support/run-admin.ts';

const GONE = 1;
let table: Table;
let admin: ReturnType<typeof adminOf>;
async function startTable(): Promise<void> {
  table = await newTable();
  admin = adminOf(table);
}
beforeAll(startTable);

/** An account with a small and a large merge. */
async function merged() {
  const tenant = await newAccount(table);
  const row = await readAccount(table, tenant.account);
  const identity = identityOfAppKey(newAppKey());
  if (row) await putAppKey(table, row, identity, { created_at: 1 });
  const { mergeAlerts } = handlersOver(testDeps(table), { transactionItems: 12 });
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(20, from);
  const call = async (body: object) =>
    expectEnvelope(await tenant.merge(mergeAlerts, body, { headers: { 'Idempotency-Key': objectId() } }), 200);
  await call({ alert_ids: alerts.slice(0, 5), incident_id: to, title: 'New' });
  await call({ alert_ids: alerts, incident_id: from });
  const [small] = await tenant.feed(to);
  const [large] = await tenant.feed(from);
  return {
    tenant,
    from,
    to,
    alerts,
    hash: identity.hash,
    small: small?.sequence as number,
    large: large?.sequence as number,
  };
}
type Merged = Awaited<ReturnType<typeof merged>>;

const set = (Key: Key, name: string, value: unknown) =>
  table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key,
      UpdateExpression: value === undefined ? 'REMOVE #name' : 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ...(value !== undefined && { ExpressionAttributeValues: { ':value': value } }),
    }),
  );
const remove = async (tenant: Account, ...names: Key[]) => {
  const rows = await snapshot(table, tenant.account);
  const left = new Map([...rows].filter(([, row]) => !names.some(({ pk, sk }) => row.pk === pk && row.sk === sk)));
  await overwrite(table, rows, left);
};

describe('two merges of which a restore has lost the feed rows', () => {
  it('are reported, and not repaired, as long as the earlier incidents and titles are unknown', async () => {
    const tenant = await newAccount(table);
    const { mergeAlerts } = handlersOver(testDeps(table));
    const [from, to] = [await tenant.incident(), await tenant.incident()];
    const [alert = '', other = ''] = await tenant.alerts(2, from);
    const call = async (body: object) => expectEnvelope(await tenant.merge(mergeAlerts, body), 200);
    await call({ alert_ids: [alert, other], incident_id: to, title: 'First' });
    await call({ alert_ids: [alert], incident_id: from });
    await call({ alert_ids: [alert], incident_id: to, title: 'Second' });
    const rows = [...(await tenant.feed(to)), ...(await tenant.feed(from))];
    // The other alert's row is as before the first merge, the others are as after the last.
    await put(table, keys.alert(tenant.account, other), { alert_id: other, title: 't', incident_id: from });
    await remove(tenant, ...rows.map(({ pk, sk }) => ({ pk, sk })));
    const run = async (command: string) => (await admin(`${command} --account ${tenant.account}`)).out;
    for (const command of ['check', 'repair --write', 'check']) {
      const out = await run(command);
      expect(out).toContain(`alert_entry_missing: account ${tenant.account}, alert_id ${alert}`);
      expect(out).toContain(`incident_entry_missing: account ${tenant.account}, incident_id ${to}`);
      expect(out).toContain('is missing too');
    }
  });
});

/** For each kind of finding, a change of the account that causes it. */
const BROKEN: Record<FindingKind, (merged: Merged) => Promise<unknown>> = {
  alert_misplaced: ({ tenant, alerts, to }) => set(keys.alert(tenant.account, alerts[0] as string), 'incident_id', to),
  alert_entry_missing: ({ tenant, alerts }) =>
    set(keys.alert(tenant.account, alerts[0] as string), 'moved_sequence', 9_999_999_999_999),
  entry_incomplete: ({ tenant, from, large }) => remove(tenant, keys.feedAlerts(tenant.account, from, large, 0)),
  entry_rows_orphaned: ({ tenant, from, large }) => remove(tenant, keys.feedEntry(tenant.account, from, large)),
  entry_not_applied: ({ tenant, to }) => set(keys.incident(tenant.account, to), 'last_change', undefined),
  incident_entry_missing: ({ tenant, from }) =>
    set(keys.incident(tenant.account, from), 'last_change', { sequence: 9_999_999_999_999, old_title: 'Old' }),
  merge_order_behind: async ({ tenant }) => {
    await remove(tenant, ...[0, 1, 2, 3].map((shard) => keys.mergeOrderShard(tenant.account, shard)));
    await set(keys.mergeOrder(tenant.account), 'last', 5);
  },
  pending_mark_missing: ({ tenant, from, large }) => remove(tenant, keys.feedMoves(tenant.account, from, large, 0)),
  pending_mark_left: ({ tenant, from, large }) => set(keys.mergeOrder(tenant.account), 'pending', { [large]: from }),
  // As after a restore to a moment right after the commit.
  merge_unfinished: async ({ tenant, from, large }) => {
    await remove(tenant, keys.feedMoves(tenant.account, from, large, 0));
    await set(keys.mergeOrder(tenant.account), 'pending', { [large]: from });
    await set(keys.feedEntry(tenant.account, from, large), 'at_ms', 1);
  },
  idempotency_entry_missing: ({ tenant, to }) =>
    put(table, keys.idempotency(tenant.account, 'merge-alerts', 'k'), {
      incident_id: to,
      sequence: 7,
      ttl: 9_999_999_999,
    }),
  account_missing: () => put(table, keys.listedAccount(GONE), {}),
  account_unlisted: async ({ tenant }) => {
    const key = keys.listedAccount(tenant.account);
    await overwrite(table, new Map([[`${key.pk}\n${key.sk}`, key]]), new Map());
  },
  app_key_missing: async ({ hash }) => {
    const key = keys.appKey(hash);
    await overwrite(table, new Map([[`${key.pk}\n${key.sk}`, key]]), new Map());
  },
  app_key_unlisted: ({ tenant }) => set(keys.account(tenant.account), 'app_keys', undefined),
  app_key_outdated: ({ hash }) => set(keys.appKey(hash), 'permissions', ['monit', 'all']),
};
/** Kinds that are found in the account {@link GONE}. */
const OF_ANOTHER = new Set<FindingKind>(['account_missing']);

describe('admin check and admin repair', () => {
  it('find nothing in a consistent account', async () => {
    const { tenant } = await merged();
    expect(await admin(`check --account ${tenant.account}`)).toMatchObject({
      exitCode: 0,
      out: 'No problems found.\n',
    });
    expect(await admin(`repair --account ${tenant.account} --write`)).toMatchObject({ exitCode: 0 });
  });

  it.each(Object.keys(FINDINGS) as FindingKind[])('find and fix: %s', async (kind) => {
    // Only a check of the whole table finds these. It takes longer the more accounts there are, so they get a new table.
    const ofTable = ['account_missing', 'app_key_unlisted'].includes(kind);
    if (ofTable) await startTable();
    const broken = await merged();
    const { account } = broken.tenant;
    await BROKEN[kind](broken);
    const where = ofTable ? '' : ` --account ${account}`;
    const check = async () => {
      const { exitCode, out } = await admin(`check --json${where}`);
      const owner = OF_ANOTHER.has(kind) ? GONE : account;
      return { exitCode, found: JSON.parse(out).filter((one: { account_id: number }) => one.account_id === owner) };
    };
    const { exitCode, found } = await check();
    expect(exitCode).toBe(1);
    expect(found.map((one: { kind: string }) => one.kind)).toContain(kind);
    const before = await snapshot(table, account);

    const dry = await admin(`repair${where}`);
    expect(dry.err).toMatch(/^Dry run: nothing is written\. Pass --write to write it\.\n/);
    expect(dry.err).toContain('would be repaired.');
    // The snapshot has no rows of accounts and keys.
    expect(new Set((await check()).found)).toEqual(new Set(found));
    expect(await snapshot(table, account)).toEqual(before);

    const repaired = await admin(`repair --write${where}`);
    if (!ofTable) expect(repaired).toMatchObject({ exitCode: 0 });
    expect((await check()).found).toEqual([]);
  });

  it('say in one line for each finding what is wrong, and where', async () => {
    const { tenant, alerts, to, from, large } = await merged();
    await set(keys.alert(tenant.account, alerts[3] as string), 'incident_id', to);
    const { out, err, exitCode } = await admin(`check --account ${tenant.account}`);
    expect(out).toBe(
      `alert_misplaced: account ${tenant.account}, alert_id ${alerts[3]}, sequence ${large}: it is in ${to} and belongs in ${from}, by entry ${large}\n`,
    );
    expect([err, exitCode]).toEqual(['1 finding. Run `repair` to see what it would change.\n', 1]);
  });

  it('accept an alert where a second import put it, until the next merge moves it', async () => {
    const { tenant, alerts, to } = await merged();
    const line = { kind: 'alert', account_id: tenant.account, alert_id: alerts[0], title: 'Again', incident_id: to };
    const incident = { kind: 'incident', account_id: tenant.account, incident_id: to, title: 'Again' };
    await loadData(table, 'test', [JSON.stringify(line), JSON.stringify(incident)], { nowSeconds: 1 });
    expect(await admin(`check --account ${tenant.account}`)).toMatchObject({ exitCode: 0 });
    const { mergeAlerts } = handlersOver(testDeps(table));
    const third = await tenant.incident();
    await tenant.merge(mergeAlerts, { alert_ids: [alerts[0]], incident_id: third });
    expect(await admin(`check --account ${tenant.account}`)).toMatchObject({ exitCode: 0 });
    await set(keys.alert(tenant.account, alerts[0] as string), 'moved_sequence', undefined);
    expect(await admin(`check --account ${tenant.account}`)).toMatchObject({ exitCode: 1 });
  });

  it.each(['alert', 'incident'])('accept an %s as an import wrote it while a merge was changing it', async (kind) => {
    const { tenant, alerts, to } = await merged();
    const [third, alertId] = [await tenant.incident(), alerts[0] as string];
    const [key, line] =
      kind === 'alert'
        ? [keys.alert(tenant.account, alertId), { alert_id: alertId, title: 'Again', incident_id: to }]
        : [keys.incident(tenant.account, third), { incident_id: third, title: 'Again' }];
    const { mergeAlerts } = handlersOver(testDeps(table));
    const own = connectAgain(table);
    let raced = false;
    // The import has read the merge order, and writes.
    aroundCalls(own, async ({ command }, send) => {
      if (/Put|BatchWrite/.test(command) && !raced) {
        raced = true;
        await tenant.merge(mergeAlerts, { alert_ids: [alertId], incident_id: third, title: 'Merged' });
      }
      return send();
    });
    await loadData(own, 'test', [JSON.stringify({ kind, account_id: tenant.account, ...line })], { nowSeconds: 1 });
    expect(raced).toBe(true);
    expect(await stored(table, key)).toMatchObject(line);
    expect(await admin(`check --account ${tenant.account}`)).toMatchObject({ exitCode: 0 });
  });

  it('leave a row that a call has changed since it was read', async () => {
    const { tenant, alerts } = await merged();
    const key = keys.alert(tenant.account, alerts[0] as string);
    await set(key, 'incident_id', undefined);
    const findings = await checkAccount(table, tenant.account);
    await set(key, 'moved_sequence', 9_999_999_999_999);
    expect(await repair(table, findings)).toMatchObject({ fixed: 0, left: [{ kind: 'alert_misplaced' }] });
    expect((await stored(table, key)).moved_sequence).toBe(9_999_999_999_999);
  });

  it('do not mark a merge as pending that has been finished meanwhile', async () => {
    const { tenant, from, large } = await merged();
    await remove(tenant, keys.feedMoves(tenant.account, from, large, 0));
    const findings = await checkAccount(table, tenant.account);
    expect(findings.map(({ kind }) => kind)).toContain('pending_mark_missing');
    await repair(table, findings);
    // As if DynamoDB applied the writes of an earlier repair only now.
    expect((await repair(table, findings)).left.map(({ kind }) => kind)).toContain('pending_mark_missing');
  });

  it.each<[what: FindingKind, make: (tenant: Account, sequence: number) => Promise<Key>]>([
    [
      'idempotency_entry_missing',
      async ({ account }, sequence) => {
        const key = keys.idempotency(account, 'merge-alerts', 'again');
        await put(table, key, { incident_id: objectId(), sequence, ttl: 9_999_999_999 });
        return key;
      },
    ],
    [
      'account_missing',
      async ({ account }, sequence) => {
        const other = 1_000_000_000 + account;
        if (sequence > 1) await put(table, keys.account(other), { account_id: other });
        await put(table, keys.listedAccount(other), {});
        return keys.listedAccount(other);
      },
    ],
  ])('do not delete what has been written again meanwhile: %s', async (kind, make) => {
    const tenant = await newAccount(table);
    const key = await make(tenant, 1);
    const of = kind === 'account_missing' ? 1_000_000_000 + tenant.account : tenant.account;
    const findings = await checkAccount(table, of);
    expect(findings.map((one) => one.kind)).toEqual([kind]);
    await repair(table, findings);
    await make(tenant, 2);
    // As if DynamoDB applied the writes of an earlier repair only now.
    expect((await repair(table, findings)).left).toEqual(findings);
    expect(await stored(table, key)).toMatchObject(key);
  });

  it('find nothing while merges go on', async () => {
    const { tenant, alerts, from, to } = await merged();
    const { mergeAlerts } = handlersOver(testDeps(table), { transactionItems: 12 });
    let going = true;
    const merging = (async () => {
      for (let turn = 0; going; turn += 1)
        await tenant.merge(mergeAlerts, {
          alert_ids: alerts,
          incident_id: turn % 2 === 0 ? to : from,
          title: `${turn}`,
        });
    })();
    const found = [];
    for (let look = 0; look < 5; look += 1)
      found.push(JSON.parse((await admin(`check --json --account ${tenant.account}`)).out));
    going = false;
    await merging;
    expect(found.flat()).toEqual([]);
  });
});
