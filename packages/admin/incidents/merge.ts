import { randomUUID } from 'node:crypto';
import { createMergeAlerts, previewMerge } from '../../../lib/operations/merge-alerts/handler.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { readSettings, TIME_LIMITS } from '../../../lib/shared/settings.ts';
import type { Table } from '../../../lib/table/client.ts';
import { checkNotErased } from '../accounts/accounts.ts';
import { SILENT } from '../silent.ts';

type Body = { incident_id: string; alert_ids: string[]; title?: string; comment?: string; owner_id?: Int64 };

/**
 * A merge, done by the API's own operation; `preview` only reads what it would do.
 * @param request `by`: who merges, for the history
 * @throws ApiError as callers get it, AccountError if the account is erased
 */
export function operatorMerge(
  { table, now, regionDigit }: { table: Table; now: () => number; regionDigit: number },
  { account, by, body }: { account: Int64; by: string; body: Body },
  signal: AbortSignal,
) {
  const call = {
    body,
    caller: { accountId: account, appKeyId: by, permissions: [], cursorSecret: new Uint8Array() },
    requestId: randomUUID(),
    arrivedMs: now(),
    idempotencyKey: undefined,
    signal,
  };
  const deps = {
    ...SILENT,
    table,
    now,
    monotonicNow: performance.now.bind(performance),
    newId: randomUUID,
    timeLimits: TIME_LIMITS,
    settings: { ...readSettings({ TABLE_NAME: table.name }), regionDigit },
  };
  const checkAccount = () => checkNotErased(table, account);
  return { preview: () => previewMerge(deps, call), merge: () => createMergeAlerts(deps, {}, checkAccount)(call) };
}
