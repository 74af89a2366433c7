/** Exports that come back: to an empty table as they were, and onto a table that has gone on without undoing anything. */
import { describe, expect, it } from 'vitest';
import { deleteWorkItem } from '../../../../lib/operations/delete-work-item/schema.ts';
import { stringifyJson } from '../../../../lib/shared/json.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { RUM_RECORD, RUM_USAGE } from '../../../../test/support/accounts.ts';
import { inventory } from '../../../../test/support/fleet.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { ingestOver } from '../../../../test/support/ingest.ts';
import { callAlone, createHandlers, newTable, rowsIn, stored, testDeps } from '../../../../test/support/service.ts';
import { adminOf } from '../support/run-admin.ts';

const NOW = 1_795_000_000_000;
const HOUR_MS = 3_600_000;
const ID = (digit: string) => digit.repeat(24);
/** For each kind, a record, and another one of the same row. */
const PAIRS: [what: string, first: object, second: object][] = [
  ['member', { member_id: 1, name: 'a' }, { member_id: 1, name: 'b' }],
  ['host', { host_id: 'h', ...inventory() }, { host_id: 'h', ...inventory({ agent_version: 'b' }) }],
  [
    'host_status',
    { host_id: 'h', node_count: 1, health_at_ms: NOW },
    { host_id: 'h', node_count: 2, health_at_ms: NOW - 1 },
  ],
  ['rum_resource', RUM_RECORD, { ...RUM_RECORD, resource_name: 'b' }],
  ['rum_usage', RUM_USAGE, { ...RUM_USAGE, 'session_replay.used_cnt': 4 }],
  ['work_item', { work_item_id: 'w', version: 1, title: 'a' }, { work_item_id: 'w', version: 1, title: 'b' }],
  [
    'work_item, deleted',
    { work_item_id: 'w', version: 1, title: 'a', deleted_at_ms: NOW },
    { work_item_id: 'w', version: 2, title: 'b', deleted_at_ms: NOW },
  ],
  ['incident', { incident_id: ID('a'), title: 'a' }, { incident_id: ID('a'), title: 'b', owner_id: 2 }],
  [
    'alert',
    { alert_id: ID('b'), title: 'a', incident_id: ID('a') },
    { alert_id: ID('b'), title: 'b', incident_id: ID('c') },
  ],
];

/** All rows of a table but the audit, with their orders, by their keys. */
async function rowsOf(table: Table): Promise<Record<string, object>> {
  const rows = (await rowsIn(table)).filter(({ pk }) => /#(MEMBERS|HOST|RUM|WORK|INCI|ALERTS)/.test(pk));
  return Object.fromEntries(rows.map((row) => [`${row.pk} ${row.sk}`, row]));
}
const exported = async (table: Table, account: number) => (await adminOf(table)(`export --account ${account}`)).out;
const imported = (table: Table, stdin: string, nowMs = NOW + 3) =>
  adminOf(table)('import - --yes', { stdin, now: () => nowMs });

describe('an export', () => {
  it.each(PAIRS)('overwrites nothing newer that has the same at_ms: %s', async (what, first, second) => {
    const table = await newTable();
    const { account } = await newAccount(table);
    const send = (fields: object, sentMs: number) =>
      ingestOver(table, () => sentMs).send({ kind: what.split(',')[0], account_id: account, at_ms: NOW, ...fields });
    await send(first, NOW + 1);
    const old = await exported(table, account);
    await send(second, NOW + 2);
    const newer = await rowsOf(table);
    expect(await imported(table, old)).toMatchObject({ exitCode: 0 });
    expect(await rowsOf(table)).toEqual(newer);
  });

  it('of rows from clocks that are ahead is taken, though senders may not be so far ahead', async () => {
    const [from, to] = [await newTable(), await newTable()];
    const tenant = await newAccount(from);
    const { account } = tenant;
    const send = (fields: object) => ingestOver(from, () => NOW).send({ account_id: account, ...fields });
    await send({ kind: 'alert', alert_id: ID('a'), title: 't', at_ms: NOW + 299_000 });
    await send({ kind: 'incident', incident_id: ID('b'), title: 't', at_ms: NOW });
    await send({ kind: 'work_item', work_item_id: 'w', version: 1, title: 't', at_ms: NOW });
    const ahead = testDeps(from, { now: () => NOW + HOUR_MS });
    const merge = { alert_ids: [ID('a')], incident_id: ID('b'), title: 'Merged' };
    expect((await tenant.merge(createHandlers(ahead).mergeAlerts, merge)).status).toBe(200);
    const deletion = { appKey: tenant.appKey, body: { work_item_id: 'w', version: 1 } };
    expect((await callAlone(createHandlers(ahead), deleteWorkItem, deletion)).status).toBe(200);
    expect(await imported(to, await exported(from, account))).toMatchObject({ exitCode: 0 });
    expect(await stored(to, keys.incident(account, ID('b')))).toMatchObject({ title: 'Merged' });
    expect(await stored(to, keys.alert(account, ID('a')))).toMatchObject({ incident_id: ID('b') });
    expect(await stored(to, keys.workItem(account, 'w'))).toMatchObject({ deleted_at_ms: NOW + HOUR_MS });
  });

  it('gives an empty table the same rows with the same orders, so that later and repeated records do the same there', async () => {
    const [from, to] = [await newTable(), await newTable()];
    const { account } = await newAccount(from);
    const send = async (table: Table, fields: object, at_ms: number) => {
      const ingest = ingestOver(table, () => NOW);
      await ingest.send({ account_id: account, at_ms, ...fields });
      expect(ingest.refused).toEqual([]);
    };
    for (const [what, first, second] of PAIRS) {
      const kind = what.split(',')[0];
      if (what === kind) await send(from, { kind, ...first }, NOW - 9);
      if (what === kind) await send(from, { kind, ...second }, NOW - 8);
    }
    await send(from, { kind: 'host_status', host_id: 'h', health_at_ms: NOW, reason_codes: ['a'] }, NOW - 5);
    await send(from, { kind: 'host_status', host_id: 'flags', authoritative: true }, NOW - 5);
    await send(from, { kind: 'host_status', host_id: 'health', health_at_ms: NOW }, NOW - 4);
    const alert = { kind: 'alert', alert_id: ID('b') };
    await send(from, { ...alert, title: 'c', incident_id: ID('c'), incident_at_ms: NOW - 7 }, NOW - 6);
    const item = { kind: 'work_item', work_item_id: 'restored', version: 1, title: 't' };
    const deletion = { ...item, deleted_at_ms: NOW - 20 };
    await send(from, deletion, NOW - 3);
    expect((await adminOf(from)(`work-item restore restored --account ${account}`)).exitCode).toBe(0);
    const rows = await rowsOf(from);
    expect(await imported(to, await exported(from, account))).toMatchObject({ exitCode: 0 });
    expect(await rowsOf(to)).toEqual(rows);
    // The record that deleted the item, once more.
    await send(to, deletion, NOW - 3);
    expect(await rowsOf(to)).toEqual(rows);
  });

  it.each([
    ['characters that an export escapes', '\u007f'.repeat(65_000)],
    ['numbers that an export writes in full', Array.from({ length: 13_000 }, () => 9_000_000_000_000_000_000n)],
  ])('of a line with %s, which takes more bytes than the line did, is taken', async (_what, more) => {
    const [from, to] = [await newTable(), await newTable()];
    const { account } = await newAccount(from);
    const item = { kind: 'work_item', account_id: account, work_item_id: 'w', version: 1, title: 't', more };
    const line = stringifyJson(item).replaceAll('9000000000000000000', '9e18');
    expect(await imported(from, line)).toMatchObject({ exitCode: 0 });
    const text = await exported(from, account);
    expect(Math.max(...text.split('\n').map((each) => each.length))).toBeGreaterThan(4 * line.length - 2_000);
    expect(await imported(to, text)).toMatchObject({ exitCode: 0 });
    expect(await rowsOf(to)).toEqual(await rowsOf(from));
    const ingest = ingestOver(to, () => NOW);
    const exportedItem = text.split('\n').filter((each) => each.includes('work_item'));
    await ingest.deliver(exportedItem);
    const reason = `must be at most 8192 bytes: it has ${Buffer.byteLength(`${exportedItem}`)}`;
    expect(ingest.refused).toMatchObject([{ reason }]);
  });
});
