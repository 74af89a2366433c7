/** Finds inconsistencies in the table, such as a point-in-time restore leaves. */

import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type AccountRows, checkAccounts } from './check-accounts.ts';
import { checkHosts } from './check-hosts.ts';
import { checkMerges, type When } from './check-merges.ts';
import type { Finding } from './finding.ts';
import { readAccountRows, readMergeRows, readRowsOfAccount } from './read-rows.ts';

/** The findings of an account. Keys that it does not list are found only by a check of the whole table. */
export async function checkAccount(table: Table, account: Int64, nowMs?: number): Promise<Finding[]> {
  const readFindings = async () => [...checkAccounts(await readRowsOfAccount(table, account))];
  return [...(await confirmed(readFindings)), ...(await checkMergesOf(table, account, { nowMs }))];
}

/** The findings of the whole table: accounts and keys, then the merges of each account. */
export async function* checkTable(table: Table, nowMs?: number): AsyncGenerator<Finding[]> {
  const rows = await readAccountRows(table);
  yield* checkAccountsOfTable(table, rows);
  yield* checkMergesOfTable(table, { nowMs }, rows);
}

/** The findings of all accounts and app keys. @param rows as they have just been read; absent: they are read */
export async function* checkAccountsOfTable(table: Table, rows?: AccountRows): AsyncGenerator<Finding[]> {
  const firstFindings = [...checkAccounts(rows ?? (await readAccountRows(table)))];
  yield await confirmed(async () => [...checkAccounts(await readAccountRows(table))], firstFindings);
}

/** The findings of the merges of each account, and of its retired hosts. */
export async function* checkMergesOfTable(
  table: Table,
  when: When = {},
  rows?: Awaited<ReturnType<typeof readAccountRows>>,
): AsyncGenerator<Finding[]> {
  const { accounts, histories } = rows ?? (await readAccountRows(table));
  const remaining = [...accounts].flatMap(([account, row]) => (row?.erased_at_ms === undefined ? account : []));
  for (const account of remaining.sort((a, b) => (a < b ? -1 : 1)))
    yield await checkMergesOf(table, account, when, histories.get(account));
}

const checkMergesOf = async (table: Table, account: Int64, when: When, histories?: Iterable<string>) => [
  ...(await confirmed(async () => checkMerges(await readMergeRows(table, account, histories), when))),
  ...(await confirmed(() => checkHosts(table, account))),
];

/** Maximum readings of a busy account, if each reading has other findings. */
const MAX_READS = 5;

/**
 * The findings that two consecutive readings share. Rows are read one by one while calls change them, which may look
 * inconsistent; at the next reading such a finding is gone. If all findings of a reading are new, the rows are read once
 * more.
 */
async function confirmed(readFindings: () => Promise<Finding[]>, firstFindings?: Finding[]): Promise<Finding[]> {
  const nameOf = ({ kind, account, ids, detail }: Finding) => JSON.stringify([kind, String(account), ids, detail]);
  let before = firstFindings ?? (await readFindings());
  for (let readings = 1; before.length > 0 && readings < MAX_READS; readings += 1) {
    const findings = await readFindings();
    const known = new Set(before.map(nameOf));
    const shared = findings.filter((finding) => known.has(nameOf(finding)));
    if (shared.length > 0) return shared;
    before = findings;
  }
  return [];
}
