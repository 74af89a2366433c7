/** An import shares calls between lines, and writes what one line after another would. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringifyJson } from '../../../../lib/shared/json.ts';
import { RUM_RECORD } from '../../../../test/support/accounts.ts';
import { connectDouble } from '../../../../test/table-double/client.ts';
import { TableDouble } from '../../../../test/table-double/table-double.ts';
import { checkData } from '../../data/check-lines.ts';
import { loadData, writeRecord } from '../../data/load.ts';

const NOW = 1_800_000_000_000;
const ID = '64f00000000000000000000';
const account = JSON.stringify({ kind: 'account', account_id: 1, name: 'Acme', permissions: [] });

// Few ids and times, so that many lines are of one row or moment.
const few = fc.constantFrom(1, 2, 3);
const title = fc.constantFrom('one', 'two', 'three');
const host_id = fc.constantFrom('a', 'b');
const incident_id = fc.constantFrom(`${ID}1`, `${ID}2`);
const inventory = { agent_version: title, edge_cluster: title, enabled: fc.boolean(), snapshot_ready: fc.boolean() };
const of = (kind: string, required: Record<string, fc.Arbitrary<unknown>>, optional = {}) =>
  fc
    .tuple(fc.record(required), fc.record(optional, { requiredKeys: [] }))
    .map(([some, more]): object => ({ kind, account_id: 1, ...some, ...more }));
const record = fc.oneof(
  of('member', { member_id: few, name: title }),
  of('host', { host_id, ...inventory }),
  of('host', { host_id, retired: fc.constant(true) }),
  of('host_status', { host_id }, { node_count: few, health_at_ms: fc.constant(NOW) }),
  fc.constant({ kind: 'rum_resource', account_id: 1, ...RUM_RECORD }),
  of('work_item', { work_item_id: title, version: few, title }, { deleted_at_ms: fc.constant(NOW - 5) }),
  of('incident', { incident_id, title }, { owner_id: few }),
  of('alert', { alert_id: incident_id, title }, { incident_id }),
  of('alert', { alert_key: title, title }, { alert_status: fc.constantFrom('Ok', 'Critical', 'Info'), incident_id }),
);
const line = fc
  .tuple(record, fc.constantFrom(undefined, NOW - 3, NOW - 2, NOW - 1))
  .map(([fields, at_ms]) => stringifyJson({ at_ms, ...fields }));
const file = fc.array(line, { maxLength: 40 }).map((lines) => [account, ...lines]);

/** A table in memory, each of whose calls takes a different time, and the names of its calls. */
function newTable(delays: readonly number[]) {
  const double = new TableDouble();
  const calls: string[] = [];
  const table = connectDouble(async (request) => {
    calls.push(request.name);
    for (let turns = delays[calls.length % delays.length] ?? 0; turns > 0; turns -= 1) await nextTurn();
    return double.apply(request);
  });
  return { table, calls, rows: () => new Map(double.items().map(({ pk, sk, ...row }) => [`${pk} ${sk}`, row])) };
}

it('an import of any lines, some of one row, gives the rows that their writing one after another gives', async () => {
  const delays = fc.array(fc.nat(3), { minLength: 1, maxLength: 5 });
  const property = fc.asyncProperty(fc.array(file, { maxLength: 3 }), delays, async (files, turns) => {
    const [together, alone] = [newTable(turns), newTable([])];
    for (const [index, lines] of files.entries()) {
      const nowMs = NOW + index;
      await loadData(together.table, 'data', lines, { nowMs });
      await loadData(alone.table, 'data', [account], { nowMs });
      for (const { record } of await checkData(alone.table, 'data', lines, { nowMs }))
        if (record) await writeRecord(alone.table, record);
    }
    const { cursor_secret: _random, ...row } = together.rows().get('ACCOUNT#1#ACCOUNT ACCOUNT') ?? {};
    expect(row).toMatchObject(files.length > 0 ? { name: 'Acme' } : {});
    const rowsOf = ({ rows }: typeof alone) => [...rows()].filter(([name]) => !name.endsWith('ACCOUNT'));
    expect(new Map(rowsOf(together))).toEqual(new Map(rowsOf(alone)));
  });
  await fc.assert(property, { numRuns: 150 });
});
