/** A point-in-time restore may have any part of a recent transaction. Whichever part it is, a repair completes the transaction or undoes it. */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { parseKey, type RowKind } from '../../lib/table/keys.ts';
import { checkAccount } from '../../packages/admin/check/check.ts';
import { checkMerges } from '../../packages/admin/check/check-merges.ts';
import type { Finding } from '../../packages/admin/check/finding.ts';
import { mergeRowsOf } from '../../packages/admin/check/read-rows.ts';
import { repair } from '../../packages/admin/check/repair.ts';
import { changedRows, overwrite, type Rows, snapshot, torn } from '../../packages/admin/test/support/torn.ts';
import { LIMITS, newWorld } from '../integration/merge-alerts/merging.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { TableDouble } from '../table-double/table-double.ts';

const random = seededRandom(SEED);
/** Maximum parts of each merge that are tried, and that are repaired by the command. */
const [MAX_PARTS, MAX_REPAIRED] = process.env.FAULTS === 'full' ? [2 ** 16, 2_000] : [512, 64];
const CHANGE = { title: 'New', owner_id: 7 };

/**
 * An account with alerts in an incident and in none, every second of which has been merged before, and its rows before one more merge,
 * right after its commit, and after it.
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
  const committed = await rowsNow();
  await world.finish();
  return { world, rowsNow, before, committed, after: await rowsNow() };
}

/** Applies the fixes of findings to rows in memory. */
function applied(rows: Rows, findings: readonly Finding[]): Rows {
  const double = new TableDouble(rows as TableDouble['rows']);
  for (const fix of findings.flatMap(({ fixes }) => fixes))
    double.apply({ name: 'TransactWriteCommand', input: { TransactItems: [fix] } });
  return double.rows as unknown as Rows;
}

/** What callers and operators see of merges: alerts, incidents, feeds and Idempotency-Keys, without the service's own attributes. */
function visible(rows: Rows, ...omitted: (RowKind | undefined)[]): Map<string, unknown> {
  const shown = [...rows].filter(([, row]) => !['mergeOrder', ...omitted].includes(parseKey(row)?.kind));
  return new Map(shown.map(([name, { moved_sequence, moved_from, last_change, ...rest }]) => [name, rest]));
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
    const { before, after } = merge;
    const { account } = merge.world.tenant;
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

it.each([
  { what: 'a small merge', limits: {} },
  { what: 'a large merge that was restored to a moment right after the commit', limits: LIMITS },
])('the command repairs any part of $what', async ({ limits }) => {
  const merge = await merged(4, CHANGE, limits);
  const { world, rowsNow, before, committed } = merge;
  const { table, tenant } = world;
  for (const names of partsOf(changedRows(before, committed), MAX_REPAIRED)) {
    await overwrite(table, await rowsNow(), torn(before, committed, names));
    expect((await repair(table, await checkAccount(table, tenant.account))).left).toEqual([]);
    // If only the key is missing, there is nothing to repair: the schedule finishes the merge.
    await world.finish();
    expect(problemOf(await rowsNow(), merge, names), String(names)).toBeUndefined();
    expect(await checkAccount(table, tenant.account)).toEqual([]);
  }
});
