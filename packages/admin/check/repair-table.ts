/** Repairs a whole table whose rows are of different moments, such as a restored one or a replica whose region has failed. */
import type { Table } from '../../../lib/table/client.ts';
import { checkAccountsOfTable, checkMergesOfTable } from './check.ts';
import type { Finding } from './finding.ts';
import { repair } from './repair.ts';

/** Findings that were repaired, and those that are left, since they wait for a record or their rows have changed meanwhile. */
export interface Repaired {
  fixed: Finding[];
  left: Finding[];
}

/** A fix may uncover a finding, which another reading finds. */
const MAX_ROUNDS = 5;

async function untilNothingIsFixed(
  table: Table,
  find: () => AsyncIterable<Finding[]>,
  finishes: boolean,
): Promise<Repaired> {
  const fixed: Finding[] = [];
  let left: Finding[] = [];
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    left = [];
    let fixedNow = 0;
    for await (const findings of find()) {
      const result = await repair(table, findings, undefined, finishes);
      const unfixed = new Set(result.left);
      fixed.push(...findings.filter((finding) => !unfixed.has(finding)));
      left.push(...result.left);
      fixedNow += result.fixed;
    }
    if (fixedNow === 0) break;
  }
  return { fixed, left };
}

/**
 * Repairs accounts and app keys. Do this first: until then, a key may be let in that a row forbids. May be repeated. It finishes no merge, since
 * entries and the log may not have arrived.
 */
export const repairAccounts = (table: Table): Promise<Repaired> =>
  untilNothingIsFixed(table, () => checkAccountsOfTable(table), false);

/**
 * Repairs the merges of all accounts, and finishes the pending ones. May be repeated.
 * @param nowMs the current time
 */
export const repairMerges = (table: Table, nowMs: number): Promise<Repaired> =>
  untilNothingIsFixed(table, () => checkMergesOfTable(table, { nowMs, overdueMs: Number.NEGATIVE_INFINITY }), true);
