/** Decides by what was read whether a merge can be made, and its entry. Reads nothing itself. */
import type { Deps } from '../../deps.ts';
import { type Explanations, refusal } from '../../http/errors.ts';
import type { IncidentRow } from '../../model/incident.ts';
import type { Int64 } from '../../shared/json.ts';
import { type KeyOf, keys } from '../../table/keys.ts';
import type { RowMap } from '../../table/read.ts';
import type { NamedActions } from '../../table/write.ts';
import type { EntryWithMoves, Move } from './entry.ts';
import { type LogHead, logHeadOf } from './log-head.ts';
import { type Assignments, latestEntryOf } from './move.ts';
import type { Idempotency, MergeRequest } from './request.ts';

/** What a merge depends on, as read. */
export interface Targets {
  readonly incident: IncidentRow;
  readonly alerts: Assignments;
  readonly head: LogHead;
  /** Only of a large merge: the log head before the alerts were read. The entries after it correct the merge's origins. */
  readonly headBefore?: LogHead;
}

/** Maximum ids that an error message names. */
const MAX_NAMED = 10;

export type TargetKind = 'alert' | 'incident' | 'member' | 'logHead' | 'idempotency';
type TargetRows = RowMap<TargetKind>;

/** The keys of all targets but the alerts. */
export const otherKeysOf = ({ account, incidentId, owner, idempotency }: MergeRequest): KeyOf<TargetKind>[] => [
  keys.logHead(account),
  ...(idempotency ? [idempotency.key] : []),
  keys.incident(account, incidentId),
  ...(owner === undefined ? [] : [keys.member(account, owner)]),
];

/** What the Idempotency-Key was used for before; undefined: nothing. */
export function keyUsedFor({ idempotency }: MergeRequest, rows: TargetRows): 'this call' | 'another' | undefined {
  const row = idempotency && rows.of(idempotency.key);
  if (!row || row.ttl <= idempotency.nowSeconds) return undefined;
  return row.body_hash === idempotency.bodyHash ? 'this call' : 'another';
}

/**
 * @param rows of all targets but the alerts
 * @param alerts those that exist; absent: they were not looked up
 * @throws ApiError that names what does not exist, or when the Idempotency-Key was used with another body
 */
export function requireTargets(request: MergeRequest, rows: TargetRows, alerts?: Assignments): Targets {
  const { account, alertIds, incidentId, owner } = request;
  if (keyUsedFor(request, rows) === 'another') throw refusal('idempotencyKeyReused');
  const incident = rows.of(keys.incident(account, incidentId));
  const missing: Explanations['mergeTargetsNotFound']['named'][number][] = [];
  if (!incident) missing.push({ kind: 'incident', id: incidentId });
  if (alerts) missing.push(...alertIds.filter((id) => !alerts.has(id)).map((id) => ({ kind: 'alert', id }) as const));
  if (owner !== undefined && !rows.of(keys.member(account, owner))) missing.push({ kind: 'member', id: String(owner) });
  if (!incident || missing.length > 0)
    throw refusal('mergeTargetsNotFound', { ...namedAndMore(missing), unread: alerts ? 0 : alertIds.length });
  return { incident, alerts: alerts ?? new Map(), head: logHeadOf(rows.of(keys.logHead(account))) };
}

/** The first items, which a message names, and how many more there are. */
export const namedAndMore = <Item>(all: readonly Item[]) => ({
  named: all.slice(0, MAX_NAMED),
  more: Math.max(0, all.length - MAX_NAMED),
});

/** What a new entry depends on besides the rows. */
export type EntryDeps = Pick<Deps, 'now' | 'newId'> & { readonly settings: Pick<Deps['settings'], 'regionDigit'> };

/** A merge or undo that is ready to be committed. */
export interface PreparedEntry extends EntryWithMoves {
  account: Int64;
  /** The rows of its alerts, as read. A small commit is conditional on them. */
  rows: Assignments;
  /** As read. */
  incident: IncidentRow;
  head: LogHead;
  idempotency?: Idempotency | undefined;
  /** What the commit also requires: of an operator's entry, that the account is not erased. */
  checks?: NamedActions | undefined;
}

/**
 * How long after its arrival, by API Gateway's clock, a merge is made at the latest: more than a call takes. Records that are dated
 * before do not replace the title and owner that it gives. A function's clock may be ahead by more, and would hide the records of as long.
 */
const MAX_SINCE_ARRIVAL_MS = 60_000;

export function decide(
  request: MergeRequest,
  { targets, pending }: { targets: Targets; pending: readonly EntryWithMoves[] },
  { now, newId, settings: { regionDigit } }: EntryDeps,
): PreparedEntry {
  const { account, incidentId, comment, title, owner, idempotency } = request;
  const { incident, alerts: rows, head, headBefore } = targets;
  const atMs = Math.min(now(), request.arrivedMs + MAX_SINCE_ARRIVAL_MS);
  const entry: PreparedEntry['entry'] = {
    kind: 'merge',
    incident_id: incidentId,
    ...placeOf(atMs, regionDigit, { head, rows, incident }),
    ...expiryOf(rows),
    merge_id: newId(),
    at_ms: atMs,
    by: request.by,
    request_id: request.requestId,
    ...(headBefore && { large: true, read_since: { last: headBefore.last, entries: headBefore.entries } }),
    ...(comment !== undefined && { comment }),
    ...(title !== undefined && { old_title: incident.title, new_title: title }),
    ...(owner !== undefined && { new_owner_id: owner }),
    ...(owner !== undefined && incident.owner_id !== undefined && { old_owner_id: incident.owner_id }),
  };
  const moves = movesOf(request, resolve(rows, pending));
  return { account, entry, moves, rows, incident, head, idempotency };
}

/** From when on an alert of an entry may be gone although no restore has lost it. */
export function expiryOf(rows: Assignments): Pick<PreparedEntry['entry'], 'expires_from'> {
  const expires_from = rows.values().reduce((first, { ttl = first }) => Math.min(first, ttl), Number.POSITIVE_INFINITY);
  return expires_from === Number.POSITIVE_INFINITY ? {} : { expires_from };
}

/** The alerts come from where they are at the commit. Those of a large merge may have left meanwhile, which finishing corrects. */
function movesOf({ alertIds, incidentId }: MergeRequest, resolved: Assignments): Move[] {
  return alertIds.map((alertId) => {
    const { incident_id: from, moved_sequence } = resolved.get(alertId) ?? {};
    return { alertId, from, to: incidentId, ...(moved_sequence !== undefined && { takenBefore: true as const }) };
  });
}

/**
 * Where alerts are when these entries count, which their rows need not show yet (invariant *resolve*).
 * @param entries oldest first
 */
export function resolve(rows: Assignments, entries: readonly EntryWithMoves[]): Assignments {
  const resolved = new Map(rows);
  for (const { entry, moves } of entries)
    for (const { alertId, to } of moves) {
      const row = resolved.get(alertId);
      if (!row || latestEntryOf(row) >= entry.sequence) continue;
      const { incident_id: _left, ...rest } = row;
      resolved.set(alertId, { ...rest, ...(to !== undefined && { incident_id: to }), moved_sequence: entry.sequence });
    }
  return resolved;
}

/**
 * The place of a new entry among those of its account: the clock in milliseconds, but higher than every sequence that the rows record (invariant
 * *sequence*). With a digit of its region the sequence ends in it, so that entries of two regions that both write never have the same.
 */
export function placeOf(
  nowMs: number,
  regionDigit: number,
  { head, rows, incident }: { head: LogHead; rows: Assignments; incident: IncidentRow },
): Pick<PreparedEntry['entry'], 'sequence' | 'region'> {
  let highest = Math.max(head.last, incident.title_by ?? 0, incident.owner_by ?? 0);
  for (const row of rows.values()) highest = Math.max(highest, latestEntryOf(row));
  const sequence = Math.max(nowMs, highest + 1);
  if (regionDigit === 0) return { sequence };
  return { sequence: sequence + ((10 + regionDigit - (sequence % 10)) % 10), region: regionDigit };
}
