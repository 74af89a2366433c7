/** A point-in-time restore may have any part of a recent transaction. Whichever part it is, a repair completes the transaction or undoes it. */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { parseKey, type RowKind } from '../../lib/table/keys.ts';
import { checkMerges } from '../../packages/admin/check/check-merges.ts';
import type { Finding } from '../../packages/admin/check/finding.ts';
import { mergeRowsOf } from '../../packages/admin/check/read-rows.ts';
import { changedRows, type Rows, snapshot, torn } from '../../packages/admin/test/support/torn.ts';
import { LIMITS, newWorld } from '../integration/merge-alerts/merging.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { TableDouble } from '../table-double/table-double.ts';

const random = seededRandom(SEED);
/** Maximum parts of each merge that are tried. */
const MAX_PARTS = process.env.FAULTS === 'full' ? 2 ** 16 : 512;
const CHANGE = { title: 'New', owner_id: 7 };

/**
 * An account with alerts in an incident and in none, every second of which has been merged before, and its rows before one more merge
 * and after it.
 */
async function merged(count: number, change: object, limits: object) {
  const world = await newWorld(count - Math.ceil(count / 2));
  const { table, tenant, start, connectDying } = world;
  const to = await tenant.incident({ owner_id: 3 });
  for (const member of [3, 7]) await tenant.member(member);
  const alerts = [...(await tenant.alerts(Math.ceil(count / 2))), ...world.alerts];
  const staying = 'title' in change ? [] : await tenant.alerts(1, to);
  const earlier = alerts.filter((_id, index) => index % 2 === 0);
  await world.merge({ alert_ids: earlier, incident_id: start, title: 'Earlier' }, { limits: {} });
  const rowsNow = () => snapshot(table, tenant.account);
  const before = await rowsNow();
  const body = { alert_ids: [...alerts, ...staying], incident_id: to, ...change };
  await world.merge(body, { key: 'one', through: connectDying(), limits });
  await world.finish();
  return { account: tenant.account, before, after: await rowsNow() };
}

/** Applies the fixes of findings to rows in memory. */
function applied(rows: Rows, findings: readonly Finding[]): Rows {
  const double = new TableDouble(rows as TableDouble['rows']);
  for (const fix of findings.flatMap(({ fixes }) => fixes))
    double.apply({ name: 'TransactWriteCommand', input: { TransactItems: [fix] } });
  return double.rows as unknown as Rows;
}

/** What callers and operators see of merges: alerts, incidents, histories and Idempotency-Keys, without the service's own attributes. */
function visible(rows: Rows, ...omitted: (RowKind | undefined)[]): Map<string, unknown> {
  const shown = [...rows].filter(([, row]) => !['logHead', ...omitted].includes(parseKey(row)?.kind));
  return new Map(shown.map(([name, { moved_sequence, moved_from, ...rest }]) => [name, rest]));
}

/** Parts of a set of rows, chosen at random: all of them if there are no more than `max`. */
const partsOf = (names: readonly string[], max: number): string[][] =>
  sample([...Array(2 ** names.length).keys()], max, random).map((mask) =>
    names.filter((_name, bit) => (mask >> bit) & 1),
  );

/**
 * What is wrong with repaired rows; undefined: nothing. Only if the restored rows have the entry of the merge, the repair completes the merge. A
 * complete merge may lack the row of its Idempotency-Key: a retry then merges again.
 */
function problemOf(repaired: Rows, { before, after }: { before: Rows; after: Rows }, names: string[]) {
  const isEntry = ([pk = '', sk = '']: string[]) => parseKey({ pk, sk })?.kind === 'historyEntry';
  if (names.some((name) => isEntry(name.split('\n'))))
    return isDeepStrictEqual(visible(repaired, 'idempotency'), visible(after, 'idempotency')) ? undefined : 'not whole';
  return isDeepStrictEqual(visible(repaired), visible(before)) ? undefined : 'not absent';
}

it.each([
  { count: 2, change: CHANGE, limits: {} },
  { count: 5, change: CHANGE, limits: {} },
  { count: 4, change: {}, limits: {} },
  { count: 6, change: {}, limits: LIMITS },
])(
  `a merge of $count alerts with $change and the limits $limits is whole or absent after the repair of a part (SEED=${SEED})`,
  async ({ count, change, limits }) => {
    const merge = await merged(count, change, limits);
    const { account, before, after } = merge;
    const check = (rows: Rows) => checkMerges(mergeRowsOf(account, [...rows.values()] as never));
    expect([check(before), check(after)]).toEqual([[], []]);
    for (const names of partsOf(changedRows(before, after), MAX_PARTS)) {
      const restored = torn(before, after, names);
      const repaired = applied(restored, check(restored));
      const problem = problemOf(repaired, merge, names) ?? check(repaired)[0]?.kind;
      expect(problem, String(names.map((name) => name.replace('\n', ' ')))).toBeUndefined();
    }
  },
);
