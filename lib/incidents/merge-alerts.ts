import { createHash } from 'node:crypto';
import { type ApiError, refuse } from '../api/errors.ts';
import type { mergeAlerts, RequestOf } from '../api/operations.ts';
import type { Call } from '../api/serve.ts';
import type { Deps } from '../deps.ts';
import { stringifyJson } from '../json.ts';
import { batchGet, type Row, rowName } from '../table/batch-get.ts';
import { keys } from '../table/keys.ts';
import {
  commit,
  fitsOneTransaction,
  type Outcome,
  type Relocation,
  type SeenAlert,
  TRANSACTION_ITEMS,
} from './commit.ts';
import type { AlertRow, IncidentRow } from './feed.ts';
import { effectiveWhereabouts, readEntry, readLedger } from './ledger.ts';
import { moveAlerts, unmark } from './move.ts';
import { pause } from './pause.ts';

type MergeCall = Call<RequestOf<typeof mergeAlerts>>;

/** Milliseconds that a call gives the moves of a large merge; what is left then is finish-merges' to do. */
export const MOVE_BUDGET_MS = 15_000;
const IDEMPOTENCY_SECONDS = 24 * 60 * 60;
const NAMED_MISSING = 10;

interface Merge {
  alertIds: string[];
  incidentId: string;
  idempotency: Relocation['idempotency'];
}

/**
 * Merges alerts into an incident, all or nothing at any size. What fits into one transaction is done in one. A larger merge
 * is committed by one (feed entry, incident, and the mark that moves are pending), then its alerts are moved, then the
 * mark is taken away; `finish-merges` does what is left when this function dies in between.
 * @param transactionItems what one transaction holds; less makes small merges take the way of large ones
 */
export function createMergeAlerts(deps: Deps, transactionItems = TRANSACTION_ITEMS) {
  const { table, log, metrics } = deps;

  return async function merge(call: MergeCall) {
    const request = mergeOf(call, deps);
    for (let attempt = 1; ; attempt += 1) {
      const relocation = await prepare(call, request, deps, transactionItems);
      if (relocation === 'done already') return { data: null };
      const outcome: Outcome = await commit(table, relocation, call.signal);
      if (outcome === 'pending') await moveNow(relocation);
      if (outcome !== 'changed') return { data: null };
      await pause(attempt, call.signal);
    }
  };

  /** The merge stands: whatever fails here is finished by finish-merges, and the answer is success. */
  async function moveNow({ account, entry, moves }: Relocation): Promise<void> {
    const signal = AbortSignal.timeout(MOVE_BUDGET_MS);
    try {
      await moveAlerts(table, account, entry.stamp, moves, signal);
      await unmark(table, account, entry, signal);
    } catch (error) {
      metrics.event('merge_left_pending');
      log.warn('merge left to finish-merges', { request_id: entry.request_id, error_name: (error as Error).name });
    }
  }
}

function mergeOf({ body, caller, idempotencyKey }: MergeCall, { now }: Deps): Merge {
  const { alert_ids, incident_id, comment = null, title = null, owner_id = null } = body;
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const nowSeconds = Math.floor(now() / 1000);
  return {
    alertIds: [...new Set(alert_ids.map((id) => id.toLowerCase()))],
    incidentId: incident_id.toLowerCase(),
    idempotency:
      idempotencyKey === undefined
        ? undefined
        : {
            key: keys.idempotency(caller.accountId, 'merge-alerts', hash(idempotencyKey)),
            bodyHash: hash(stringifyJson([alert_ids, incident_id, comment, title, owner_id])),
            nowSeconds,
            ttl: nowSeconds + IDEMPOTENCY_SECONDS,
          },
  };
}

/**
 * Reads all that a merge depends on and makes it ready to commit. Small merges read everything at once, for their commit
 * is conditional on each alert; large ones read the ledger before the alerts, for theirs is conditional on the ledger.
 * @throws ApiError when something is missing, or the Idempotency-Key was used for another body
 */
async function prepare(
  call: MergeCall,
  merge: Merge,
  deps: Deps,
  transactionItems: number,
): Promise<Relocation | 'done already'> {
  const { table, now, newId } = deps;
  const { body, caller, requestId, signal } = call;
  const { accountId: account } = caller;
  const { alertIds, incidentId, idempotency } = merge;
  const owner = body.owner_id;

  const alertKeys = alertIds.map((id) => keys.alert(account, id));
  const ledgerKey = keys.mergeLedger(account);
  const incidentKey = keys.incident(account, incidentId);
  const ownerKey = owner === undefined ? [] : [keys.member(account, owner)];
  const otherKeys = [ledgerKey, incidentKey, ...ownerKey, ...(idempotency ? [idempotency.key] : [])];
  const extras = { ...(owner !== undefined && { owner }), ...(idempotency && { idempotency }) };
  const atOnce = fitsOneTransaction(alertIds.length, extras, transactionItems);
  const rows = await batchGet(table, atOnce ? [...otherKeys, ...alertKeys] : otherKeys, signal);
  if (idempotency && isRepeat(rows.get(rowName(idempotency.key)), idempotency)) return 'done already';
  if (!atOnce) for (const [name, row] of await batchGet(table, alertKeys, signal)) rows.set(name, row);

  const incident = rows.get(rowName(incidentKey)) as unknown as IncidentRow | undefined;
  const alerts = alertKeys.map((key) => rows.get(rowName(key)) as unknown as AlertRow | undefined);
  const missing = [
    ...(incident ? [] : [{ what: 'incident' as const, id: incidentId }]),
    ...alertIds.filter((_id, at) => !alerts[at]).map((id) => ({ what: 'alert' as const, id })),
    ...(ownerKey.every((key) => rows.has(rowName(key))) ? [] : [{ what: 'member' as const, id: String(owner) }]),
  ];
  if (!incident || missing.length > 0) throw notFound(missing);

  const ledger = readLedger(rows.get(rowName(ledgerKey)));
  const pending = await Promise.all(
    ledger.pending.map(({ incidentId: of, stamp }) => readEntry(table, account, of, stamp, signal)),
  );
  const whereabouts = effectiveWhereabouts(pending.filter((one) => one !== undefined));
  const seen = new Map<string, SeenAlert>();
  for (const row of alerts) if (row) seen.set(row.alert_id, { row, now: whereabouts(row) });

  const stamps = [...seen.values()].map((alert) => alert.now.stamp ?? 0);
  const atMs = now();
  const stayed = alertIds.filter((id) => seen.get(id)?.now.incidentId === incidentId);
  const staying = new Set(stayed);
  return {
    account,
    entry: {
      kind: 'merge',
      incident_id: incidentId,
      stamp: stamps.reduce((latest, stamp) => Math.max(latest, stamp + 1), Math.max(atMs, (ledger.last ?? 0) + 1)),
      merge_id: newId(),
      at_ms: atMs,
      by: caller.appKeyId,
      request_id: requestId,
      ...(body.comment && { comment: body.comment }),
      ...(body.title && { old_title: incident.title, new_title: body.title }),
      ...(owner !== undefined && {
        new_owner_id: owner,
        ...(incident.owner_id !== undefined && { old_owner_id: incident.owner_id }),
      }),
    },
    moves: alertIds
      .filter((id) => !staying.has(id))
      .map((alertId) => ({ alertId, from: seen.get(alertId)?.now.incidentId, to: incidentId })),
    stayed,
    seen,
    incident,
    ledger,
    large: !atOnce,
    ...extras,
  };
}

/** Whether the key's row says that this very call was done before. @throws ApiError when it was another body */
function isRepeat(row: Row | undefined, { bodyHash, nowSeconds }: NonNullable<Relocation['idempotency']>): boolean {
  if (!row || Number(row.ttl) <= nowSeconds) return false;
  if (row.body_hash !== bodyHash) throw refuse('InvalidParameter', 'idempotencyKeyReused', undefined);
  return true;
}

function notFound(missing: { what: 'incident' | 'alert' | 'member'; id: string }[]): ApiError {
  return refuse('ResourceNotFound', 'mergeTargetsNotFound', {
    missing: missing.slice(0, NAMED_MISSING),
    more: Math.max(0, missing.length - NAMED_MISSING),
  });
}
