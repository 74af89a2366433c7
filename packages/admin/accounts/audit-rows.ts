/** The audit trail of an account: a row for each command of an operator, kept for 400 days. */

import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys, partitions } from '../../../lib/table/keys.ts';
import { queryRows } from '../../../lib/table/read.ts';
import type { AuditEntry, CommandEvent } from '../../../lib/table/rows.ts';
import { type Action, putAction } from '../../../lib/table/write.ts';

/**
 * Makes a change whose last transaction also writes the audit row. If it fails, the row records the failure.
 * @param target what is changed, within the account
 * @param change makes the change, with `done` in its last transaction, and if there is an earlier one, `started` in that
 * @param event the event that the change publishes
 */
export type RecordChange = <Result>(
  account: Int64,
  target: string,
  change: (done: Action[], started: Action[]) => Promise<Result>,
  event?: CommandEvent,
) => Promise<Result>;

/** Makes a change that is many writes. The audit rows of the accounts say `started` while it runs, and its result afterwards. */
export type RecordWrites = <Result>(
  accounts: readonly Int64[],
  target: string,
  change: () => Promise<Result>,
) => Promise<Result>;

const KEPT_SECONDS = 400 * 86_400;

export const auditRow = (account: Int64, entry: AuditEntry) => ({
  ...keys.audit(account, entry.at_ms, entry.id),
  ...entry,
  ttl: Math.floor(entry.at_ms / 1000) + KEPT_SECONDS,
});

export const auditAction = (account: Int64, entry: AuditEntry): Action => putAction(auditRow(account, entry));

/** The entries of an account since a time in Unix milliseconds, oldest first. */
export async function readAudit(table: Table, account: Int64, sinceMs: number): Promise<AuditEntry[]> {
  const rows = await queryRows(table, partitions.audit(account), { from: keys.audit(account, sinceMs, '').sk });
  return rows.map(({ pk: _pk, sk: _sk, ttl: _ttl, ...entry }) => entry);
}
