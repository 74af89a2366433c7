/** Finds inconsistencies that a restore, or anything else, left in the table. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { checkAccounts } from './check-accounts.ts';
import { checkMerges } from './check-merges.ts';
import type { Finding } from './finding.ts';
import { readAccountRows, readMergeRows, readRowsOfAccount } from './read-rows.ts';

/** The findings of an account. Keys that it does not list are found only by a check of the whole table. */
export async function checkAccount(table: Table, account: Int64, nowMs?: number): Promise<Finding[]> {
  const ofAccount = async () => [...checkAccounts(await readRowsOfAccount(table, account))];
  return [...(await untilAgreed(ofAccount)), ...(await checkMergesOf(table, account, nowMs))];
}

/** The findings of the whole table: accounts and keys, then the merges of each account. */
export async function* checkTable(table: Table, nowMs?: number): AsyncGenerator<Finding[]> {
  const rows = await readAccountRows(table);
  const first = [...checkAccounts(rows)];
  yield await untilAgreed(async () => [...checkAccounts(await readAccountRows(table))], first);
  const accounts = [...rows.accounts.keys()].sort((one, other) => (one < other ? -1 : 1));
  for (const account of accounts) yield await checkMergesOf(table, account, nowMs);
}

const checkMergesOf = (table: Table, account: Int64, nowMs?: number) =>
  untilAgreed(async () => checkMerges(await readMergeRows(table, account), nowMs));

/** Maximum readings of a busy account, each of which finds other things. */
const MAX_READS = 5;

/**
 * The findings that two consecutive readings share. Rows are read one by one while calls change them, so an apparent inconsistency is gone
 * at the next reading. A new finding may be what such a call has left, so the account is read again.
 */
async function untilAgreed(look: () => Promise<Finding[]>, first?: Finding[]): Promise<Finding[]> {
  let before = first ?? (await look());
  for (let readings = 1; before.length > 0 && readings < MAX_READS; readings += 1) {
    const findings = await look();
    const both = agreeing(before, findings);
    if (both.length > 0) return both;
    before = findings;
  }
  return [];
}

function agreeing(first: readonly Finding[], second: readonly Finding[]): Finding[] {
  const nameOf = ({ kind, account, ids, detail }: Finding) => JSON.stringify([kind, String(account), ids, detail]);
  const names = new Set(first.map(nameOf));
  return second.filter((finding) => names.has(nameOf(finding)));
}
