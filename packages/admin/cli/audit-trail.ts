import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { expression, IS_NEW, is } from '../../../lib/table/expression.ts';
import type { AuditEntry } from '../../../lib/table/rows.ts';
import { putRow, putUncontestedRow } from '../../../lib/table/write.ts';
import { auditAction, auditRow, type RecordChange, type RecordWrites } from '../accounts/audit-rows.ts';
import { sentenceOf } from './command-errors.ts';
import type { Io } from './io.ts';

export interface Audit {
  readonly by: string;
  readonly inTransaction: RecordChange;
  readonly around: RecordWrites;
}

/**
 * Writes the audit rows of a command.
 * @param command such as `app-key revoke`
 * @param by who runs it
 */
export function createAudit(table: Table, command: string, by: string, now: Io['now']): Audit {
  const entryOf = (target: string): AuditEntry => ({
    id: randomUUID(),
    at_ms: now(),
    by,
    command,
    result: 'started',
    ...(target !== '' && { target }),
  });

  /** Records a failure, unless the change is done. */
  async function recordFailure(account: Int64, entry: AuditEntry, error: unknown): Promise<void> {
    // A put, not an update: the operator's policy allows no other write of these rows.
    const row = auditRow(account, { ...entry, result: 'failed', detail: sentenceOf(error) });
    await putRow(table, row, expression`${IS_NEW} OR ${is('result', 'started')}`);
  }

  const writeAll = (accounts: readonly Int64[], entry: AuditEntry) =>
    forEach(accounts, (account) => putUncontestedRow(table, auditRow(account, entry)));

  return {
    by,
    async inTransaction(account, target, change, event) {
      const entry = entryOf(target);
      try {
        const done = auditAction(account, { ...entry, ...event, result: 'done' });
        return await change([done], [auditAction(account, entry)]);
      } catch (error) {
        // The operator must see the original error, even if the audit row cannot be written.
        await recordFailure(account, entry, error).catch(() => undefined);
        throw error;
      }
    },
    async around(accounts, target, change) {
      const entry = entryOf(target);
      await writeAll(accounts, entry);
      try {
        const result = await change();
        await writeAll(accounts, { ...entry, result: 'done' });
        return result;
      } catch (error) {
        await writeAll(accounts, { ...entry, result: 'failed', detail: sentenceOf(error) }).catch(() => undefined);
        throw error;
      }
    },
  };
}

/** Who writes to a table outside AWS, for the audit. */
export function localUser(): string {
  try {
    return `local user ${userInfo().username}`;
  } catch {
    return `local user ${process.getuid?.()}`; // a user without a name, as in many containers
  }
}
