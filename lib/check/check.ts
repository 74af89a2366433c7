/** Finds inconsistencies that a restore, or anything else, left in the table. */
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { checkAccounts } from './accounts.ts';
import type { Finding } from './finding.ts';
import { checkMerges } from './merges.ts';
import { readAccountRows, readMergeRows, readRowsOfAccount } from './read.ts';

/** What is wrong with an account. Keys that it does not list are looked for in a check of the whole table only. */
export async function checkAccount(table: Table, account: Int64, nowMs?: number): Promise<Finding[]> {
  const ofAccount = () => twice(async () => [...checkAccounts(await readRowsOfAccount(table, account))]);
  return [...(await ofAccount()), ...(await checkMergesOf(table, account, nowMs))];
}

/** What is wrong in the whole table: accounts and keys, then the merges of one account after the other. */
export async function* checkTable(table: Table, nowMs?: number): AsyncGenerator<Finding[]> {
  const rows = await readAccountRows(table);
  const first = [...checkAccounts(rows)];
  yield first.length === 0 ? [] : agreeing(first, [...checkAccounts(await readAccountRows(table))]);
  const accounts = [...rows.accounts.keys()].sort((one, other) => (one < other ? -1 : 1));
  for (const account of accounts) yield await checkMergesOf(table, account, nowMs);
}

const checkMergesOf = (table: Table, account: Int64, nowMs?: number) =>
  twice(async () => checkMerges(await readMergeRows(table, account), nowMs));

/**
 * Findings that two readings have in common. Rows are read one by one while calls change them: what only seems
 * wrong because of that is gone at the second reading.
 */
async function twice(look: () => Promise<Finding[]>): Promise<Finding[]> {
  const first = await look();
  return first.length === 0 ? [] : agreeing(first, await look());
}

function agreeing(first: readonly Finding[], second: readonly Finding[]): Finding[] {
  const nameOf = ({ kind, account, ids, detail }: Finding) => JSON.stringify([kind, String(account), ids, detail]);
  const names = new Set(first.map(nameOf));
  return second.filter((finding) => names.has(nameOf(finding)));
}
