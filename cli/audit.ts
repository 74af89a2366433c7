import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { auditAction, auditRow } from '../lib/accounts/audit.ts';
import type { AuditEntry } from '../lib/accounts/rows.ts';
import type { Int64 } from '../lib/json.ts';
import type { Table } from '../lib/table/client.ts';
import { set } from '../lib/table/expression.ts';
import { forEach } from '../lib/table/pool.ts';
import { updateRow } from '../lib/table/row.ts';
import { type Action, putOwnRow } from '../lib/table/transact.ts';
import { sentenceOf } from './errors.ts';
import type { Io } from './io.ts';

export type Audit = ReturnType<typeof createAudit>;

/** @param command such as `app-key revoke` */
export function createAudit(table: Table, command: string, by: string, now: Io['now']) {
  const entryOf = (target: string): AuditEntry => ({
    ...{ id: randomUUID(), at_ms: now(), by, command, result: 'started' },
    ...(target !== '' && { target }),
  });

  /** A committed change stays `done`, even if what followed failed. */
  async function noteFailure(account: Int64, entry: AuditEntry, error: unknown): Promise<void> {
    const { pk, sk, result: _result, ...fields } = auditRow(account, entry);
    const update = set({ ...fields, detail: sentenceOf(error) }, { result: 'failed' });
    await updateRow(table, { pk, sk }, update);
  }

  const writeAll = (accounts: readonly Int64[], entry: AuditEntry) =>
    forEach(accounts, (account) => putOwnRow(table, auditRow(account, entry)));

  return {
    by,
    /**
     * Runs a change in one transaction that also writes its audit row. A failure is recorded instead.
     * @param target what it is done to, within the account
     */
    async inTransaction<Result>(account: Int64, target: string, act: (also: Action[]) => Promise<Result>) {
      const entry = entryOf(target);
      try {
        return await act([auditAction(account, { ...entry, result: 'done' })]);
      } catch (error) {
        // The operator must see the original error, even if this cannot be written.
        await noteFailure(account, entry, error).catch(() => undefined);
        throw error;
      }
    },
    /** Runs a change of many writes: records `started` before and the result after it. */
    async around<Result>(accounts: readonly Int64[], target: string, act: () => Promise<Result>) {
      const entry = entryOf(target);
      await writeAll(accounts, entry);
      try {
        const result = await act();
        await writeAll(accounts, { ...entry, result: 'done' });
        return result;
      } catch (error) {
        await writeAll(accounts, { ...entry, result: 'failed', detail: sentenceOf(error) }).catch(() => undefined);
        throw error;
      }
    },
  };
}

/** The local user, for the audit. */
export function localUser(): string {
  try {
    return `local user ${userInfo().username}`;
  } catch {
    return `local user ${process.getuid?.()}`; // a user without a name, as in many containers
  }
}
