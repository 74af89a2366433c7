import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { expression, IS_NEW, is } from '../../../lib/table/expression.ts';
import type { AuditEntry, CommandEvent } from '../../../lib/table/rows.ts';
import { type Action, putRow, putUncontestedRow } from '../../../lib/table/write.ts';
import { auditAction, auditRow } from '../accounts/audit-rows.ts';
import { sentenceOf } from './command-errors.ts';
import type { Io } from './io.ts';

export type Audit = ReturnType<typeof createAudit>;

/**
 * Writes the audit rows of a command.
 * @param command such as `app-key revoke`
 * @param by who runs it
 */
export function createAudit(table: Table, command: string, by: string, now: Io['now']) {
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
    /**
     * Runs a change whose last transaction also writes the audit row. If it fails, the row records the failure.
     * @param target what is changed, within the account
     * @param change makes the change, with `done` in its last transaction, and if there is an earlier one, `started` in that
     * @param event the event that the change publishes
     */
    async inTransaction<Result>(
      account: Int64,
      target: string,
      change: (done: Action[], started: Action[]) => Promise<Result>,
      event?: CommandEvent,
    ) {
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
    /** Runs a change that is many writes. The audit rows say `started` while it runs, and its result afterwards. */
    async around<Result>(accounts: readonly Int64[], target: string, change: () => Promise<Result>) {
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
