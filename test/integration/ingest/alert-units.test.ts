/**
 * The write units of alert records, by AWS's rules, since DynamoDB Local counts transactions and indexes otherwise: a write takes one for each
 * started KB of the larger of the row before and after, in a transaction two (Developer Guide, "DynamoDB read and write operations"); an
 * entry of an index one to write it and one to remove it ("Using Global Secondary Indexes in DynamoDB", on writes).
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import type { Key } from '../../../lib/table/keys.ts';
import { rowName } from '../../../lib/table/read.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { connectDouble, type Transaction, type Write } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';
import type { Item } from '../../table-double/values.ts';

const NOW = 1_795_000_000_123;
const INDEXED = ['index_partition', 'index_place'];

/** A table in memory, and the write units that its requests have taken. */
function newMeteredTable() {
  const double = new TableDouble();
  const taken = { units: 0 };
  const table = connectDouble(async (request) => {
    const { name, input } = request;
    const single: Write[] = /^(Put|Update)/.test(name) ? [input] : [];
    const actions = (input as Transaction).TransactItems?.flatMap((action) => Object.values(action)) ?? single;
    const rows = () => actions.map(({ Key, Item }) => double.rows.get(rowName((Key ?? Item) as Key)));
    const before = rows();
    const reply = double.apply(request);
    for (const [index, after] of rows().entries())
      taken.units += unitsOf(before[index], after) * (actions.length > 1 ? 2 : 1) + indexUnitsOf(before[index], after);
    return reply;
  });
  return { table, taken };
}

const kilobytes = (row: Item | undefined) =>
  Math.ceil(itemBytes(marshall(row ?? {}, { convertClassInstanceToMap: true })) / 1_024);
const unitsOf = (before: Item | undefined, after: Item | undefined) => Math.max(kilobytes(before), kilobytes(after));

function indexUnitsOf(before: Item = {}, after: Item = {}): number {
  if (INDEXED.every((name) => before[name] === after[name])) return 0;
  return [before, after].filter((row) => INDEXED.every((name) => name in row)).length;
}

it('a record of 1 KB that changes no state takes two write units, one that does at most twice as many and four more', async () => {
  const { table, taken } = newMeteredTable();
  const { account } = await newAccount(table);
  const ingest = ingestOver(table, () => NOW);
  // Every five minutes, a record of a kind takes a unit more, for its time.
  await ingest.send({ kind: 'alert', account_id: account, alert_key: 'of another', alert_status: 'Ok', title: 't' });
  expect(taken.units).toBeGreaterThan(0);
  let atMs = NOW;
  const unitsFor = async (alert_status: string, bytes = 1_024) => {
    atMs += 1_000;
    const labels = { cluster: 'production', instance: 'db-7.example.com:9100', severity: 'page' };
    const line = {
      kind: 'alert',
      account_id: account,
      alert_key: 'alertmanager 9a1c0f3f6ed1c1a4',
      alert_status,
      title: 'Disk 7 is full',
      labels,
      description: '',
      at_ms: atMs,
    };
    line.description = 'd'.repeat(bytes - JSON.stringify(line).length);
    taken.units = 0;
    await ingest.send(line);
    expect([ingest.refused, ingest.counts().late]).toEqual([[], 0]);
    return taken.units;
  };
  const units: Record<string, number> = {};
  for (const [what, status] of [
    ['opens the first alert', 'Warning'],
    ['changes it', 'Warning'],
    ['changes its severity', 'Critical'],
    ['ends it', 'Ok'],
    ['tells the end again', 'Ok'],
    ['opens another', 'Warning'],
  ] as const)
    units[what] = await unitsFor(status);
  expect(units).toEqual({
    'opens the first alert': 7,
    'changes it': 2,
    'changes its severity': 4,
    // It moves in the index.
    'ends it': 8,
    'tells the end again': 6,
    'opens another': 7,
  });
  await unitsFor('Ok', 700);
  expect(await unitsFor('Ok', 700)).toBe(4);
});
