/** A point-in-time restore may have any part of a recent transaction. Whichever part it is, a repair completes the transaction or undoes it. */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { MergeLimits } from '../../lib/operations/merge-alerts/alerts.ts';
import { type Key, parseKey, type RowKind } from '../../lib/table/keys.ts';
import { rowName } from '../../lib/table/read.ts';
import { checkAccount } from '../../packages/admin/check/check.ts';
import { checkMerges } from '../../packages/admin/check/check-merges.ts';
import type { Finding } from '../../packages/admin/check/finding.ts';
import { mergeRowsOf } from '../../packages/admin/check/read-rows.ts';
import { repair } from '../../packages/admin/check/repair.ts';
import { changedRows, overwrite, type Rows, snapshot, torn } from '../../packages/admin/test/support/torn.ts';
import { newMergeInstance } from '../integration/merging.ts';
import { expectEnvelope } from '../support/answers.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { dyingAfterCommit } from '../support/faults.ts';
import { newAccount } from '../support/incidents.ts';
import { handlersOver, newTable, testDeps } from '../support/service.ts';
import { TableDouble } from '../table-double/table-double.ts';

const random = seededRandom(SEED);
const SHORT = process.env.FAULTS === undefined;
/** Maximum parts of each merge that are tried, in memory and in DynamoDB Local. */
const MAX_IN_MEMORY = SHORT ? 128 : Number.POSITIVE_INFINITY;
const MAX_IN_TABLE = SHORT ? 2 : 20;
const SIZES = SHORT ? [1, 2, 5] : [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

const table = await newTable();
afterAll(() => table.client.destroy());

/** Applies the fixes of findings to rows in memory. */
function applied(rows: Rows, findings: readonly Finding[]): Rows {
  const double = new TableDouble();
  const input = { TableName: 'double' };
  for (const Item of rows.values()) double.apply({ name: 'PutCommand', input: { ...input, Item } });
  for (const fix of findings.flatMap(({ fixes }) => fixes))
    double.apply({ name: 'TransactWriteCommand', input: { TransactItems: [fix] } });
  const { Items } = double.apply({ name: 'ScanCommand', input }) as { Items: Key[] };
  return new Map(Items.map((row) => [rowName(row), { ...row }]));
}

/** What callers and operators see of merges: alerts, incidents, feeds and Idempotency-Keys, without the service's own attributes. */
function visible(rows: Rows, ...omitted: (RowKind | undefined)[]): Map<string, unknown> {
  const seen = new Map<string, unknown>();
  for (const [name, row] of rows) {
    if (['mergeOrder', ...omitted].includes(parseKey(row)?.kind)) continue;
    const { moved_sequence, moved_from, last_change, ...rest } = row;
    seen.set(name, rest);
  }
  return seen;
}

/** Makes a merge of few alerts large. */
const LARGE = { transactionItems: 5 };

/**
 * An account with alerts in an incident and in none, some of them merged before, and its rows before one more merge, right after its commit,
 * and after it.
 */
async function merged(count: number, change: object, limits: MergeLimits = {}) {
  const tenant = await newAccount(table);
  const handlers = handlersOver(testDeps(table));
  const [from, to] = [await tenant.incident(), await tenant.incident({ owner_id: 3 })];
  await tenant.member(7);
  const unassigned = Math.ceil(count / 2);
  const alerts = [...(await tenant.alerts(unassigned)), ...(await tenant.alerts(count - unassigned, from))];
  const staying = 'title' in change ? [] : await tenant.alerts(1, to);
  // Every second alert has been merged before.
  const earlier = alerts.filter((_id, index) => index % 2 === 0);
  const earlierMerge = { alert_ids: earlier, incident_id: from, title: 'Earlier' };
  expectEnvelope(await tenant.merge(handlers.mergeAlerts, earlierMerge), 200);
  const before = await snapshot(table, tenant.account);
  const body = { alert_ids: [...alerts, ...staying], incident_id: to, ...change };
  const options = { headers: { 'Idempotency-Key': 'one' } };
  const { table: dying, mergeAlerts } = newMergeInstance(table, { around: dyingAfterCommit(), ...limits });
  expectEnvelope(await tenant.merge(limits === LARGE ? mergeAlerts : handlers.mergeAlerts, body, options), 200);
  dying.client.destroy();
  const committed = await snapshot(table, tenant.account);
  await tenant.finish(to);
  const after = await snapshot(table, tenant.account);
  return { tenant, to, before, committed, after, changed: changedRows(before, after) };
}

/** Parts of a set of rows, chosen at random: all of them if there are no more than `max`. */
function partsOf(names: readonly string[], max: number): string[][] {
  const masks = Array.from({ length: 2 ** names.length }, (_, mask) => mask);
  return sample(masks, max, random).map((mask) => names.filter((_name, bit) => (mask >> bit) & 1));
}
function isFeedEntry(name: string): boolean {
  const [pk = '', sk = ''] = name.split('\n');
  return parseKey({ pk, sk })?.kind === 'feedEntry';
}

/**
 * What is wrong with repaired rows; undefined: nothing. A complete merge may lack the row of its Idempotency-Key: a retry then merges again.
 * @param hasEntry whether the restored rows have the feed entry of the merge: only then does the repair complete the merge
 */
function problemOf(
  repaired: Rows,
  { before, after }: { before: Rows; after: Rows },
  hasEntry: boolean,
): string | undefined {
  if (hasEntry)
    return isDeepStrictEqual(visible(repaired, 'idempotency'), visible(after, 'idempotency')) ? undefined : 'not whole';
  return isDeepStrictEqual(visible(repaired), visible(before)) ? undefined : 'not absent';
}

describe(`a merge of which a restore holds a part (SEED=${SEED})`, () => {
  it.each(SIZES)(
    'of %i alerts is whole or absent after the repair',
    async (count) => {
      for (const [change, limits] of [
        [{ title: 'New', owner_id: 7 }, {}],
        [{}, {}],
        [{}, LARGE],
      ] as const) {
        const merge = await merged(count, change, limits);
        const { tenant, before, after, changed } = merge;
        const check = (rows: Rows) => checkMerges(mergeRowsOf(tenant.account, [...rows.values()] as never));
        expect([check(before), check(after)]).toEqual([[], []]);
        const wrong: string[] = [];
        for (const names of partsOf(changed, MAX_IN_MEMORY)) {
          const restored = torn(before, after, names);
          const repaired = applied(restored, check(restored));
          const problem =
            problemOf(repaired, merge, names.some(isFeedEntry)) ??
            (check(repaired).length > 0 ? 'takes a second repair' : undefined);
          if (problem) wrong.push(`${problem}: ${names.map((name) => name.replace('\n', ' '))}`);
        }
        expect(wrong.slice(0, 3)).toEqual([]);
      }
    },
    120_000,
  );

  it.each([
    ['in DynamoDB Local, too', {}],
    ['if the restore is to a moment right after the commit', LARGE],
  ])('is whole or absent %s', async (_when, limits) => {
    const merge = await merged(4, { title: 'New', owner_id: 7 }, limits);
    const { tenant, to, before, committed } = merge;
    for (const names of partsOf(changedRows(before, committed), MAX_IN_TABLE)) {
      await overwrite(table, await snapshot(table, tenant.account), torn(before, committed, names));
      const { left } = await repair(table, await checkAccount(table, tenant.account));
      expect(left).toEqual([]);
      // If only the key is missing, there is nothing to repair: the schedule finishes the merge.
      await tenant.finish(to);
      expect(problemOf(await snapshot(table, tenant.account), merge, names.some(isFeedEntry))).toBeUndefined();
      expect(await checkAccount(table, tenant.account)).toEqual([]);
    }
  });
});
