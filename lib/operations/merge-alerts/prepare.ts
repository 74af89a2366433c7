/** Prepares the entry of a merge from what it depends on. */

import type { Deps } from '../../deps.ts';
import { refusal } from '../../http/errors.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import type { Table } from '../../table/client.ts';
import { type Assignments, resolve } from './alerts.ts';
import { nextSequence, type PreparedEntry } from './commit.ts';
import { type KnownEntries, readEntries } from './entry.ts';
import { type LogHead, MAX_PENDING } from './log-head.ts';
import { type MergeCall, mergeRequestOf } from './request.ts';
import { createTargetReader, type Targets } from './targets.ts';

/** `Retry-After` in seconds when too many large merges are pending. */
const RETRY_PENDING_SECONDS = 10;

/**
 * How long after its arrival, by API Gateway's clock, a merge is made at the latest: more than a call takes. The records of that time do not
 * replace the title and owner that it gives. A function's clock may be ahead by more, and would hide the records of as long.
 */
const MAX_SINCE_ARRIVAL_MS = 60_000;

const REPLAYED = { data: null, headers: { 'Idempotent-Replayed': 'true' } };

export interface PreparerOptions {
  call: MergeCall;
  deps: Pick<Deps, 'now' | 'newId'>;
  table: Table;
  knownEntries: KnownEntries;
  /** Limits what the account's merges read. */
  readBudget: Pick<RateLimiter, 'take'>;
  /** Maximum actions of one transaction. */
  transactionItems: number;
}

/**
 * Creates the function that prepares each attempt to commit a merge.
 * @returns the function. It throws an ApiError when something is missing, when the Idempotency-Key was used for another body, when too
 *   many large merges are pending, or when the account's merges have read too much
 */
export function createPreparer({ call, deps, table, knownEntries, readBudget, transactionItems }: PreparerOptions) {
  const request = mergeRequestOf(call, deps.now());
  const reader = createTargetReader({ request, table, now: deps.now, readBudget, transactionItems });
  /** As the previous attempt has read them. */
  let targets: Targets | undefined;

  return async function prepare(
    currentHead: LogHead | undefined,
  ): Promise<{ prepared: PreparedEntry } | { result: { data: null; headers?: Record<string, string> } }> {
    targets = await readTargets(targets, currentHead);
    if (!targets) return { result: REPLAYED };
    refuseIfTooManyPending(targets);
    const { head, headBefore = head } = targets;
    const pending = await readEntries(table, request.account, headBefore.pending, knownEntries);
    return { prepared: preparedOf(targets, resolve(targets.alerts, pending)) };
  };

  /** Reads what may have changed since the previous attempt. */
  async function readTargets(previous: Targets | undefined, currentHead: LogHead | undefined) {
    if (!previous) return reader.readAll();
    if (currentHead) return { ...previous, head: currentHead };
    const { headBefore } = previous;
    return headBefore ? reader.readOthers({ ...previous, headBefore }) : reader.readAll();
  }

  function preparedOf(targets: Targets, resolved: Assignments): PreparedEntry {
    const { account, alertIds, incidentId, owner, idempotency } = request;
    const { incident, alerts, head } = targets;
    const entry = entryOf(targets);
    return {
      account,
      entry,
      moves: alertIds.map((alertId) => {
        const { incident_id: from, moved_sequence } = resolved.get(alertId) ?? {};
        return { alertId, from, to: incidentId, ...(moved_sequence !== undefined && { takenBefore: true as const }) };
      }),
      rows: alerts,
      incident,
      head,
      ...(owner !== undefined && { owner }),
      ...(idempotency && { idempotency }),
    };
  }

  function entryOf({ incident, alerts, head, headBefore }: Targets): PreparedEntry['entry'] {
    const { incidentId, comment, title, owner } = request;
    const atMs = Math.min(deps.now(), call.arrivedMs + MAX_SINCE_ARRIVAL_MS);
    return {
      kind: 'merge',
      incident_id: incidentId,
      sequence: nextSequence(atMs, head, alerts, incident),
      merge_id: deps.newId(),
      at_ms: atMs,
      by: call.caller.appKeyId,
      request_id: call.requestId,
      ...(headBefore && { large: true, read_since: { last: headBefore.last, entries: headBefore.entries } }),
      ...(comment !== undefined && { comment }),
      ...(title !== undefined && { old_title: incident.title, new_title: title }),
      ...(owner !== undefined && {
        new_owner_id: owner,
        ...(incident.owner_id !== undefined && { old_owner_id: incident.owner_id }),
      }),
    };
  }
}

function refuseIfTooManyPending({ head, headBefore }: Targets): void {
  const pending = head.pending?.length ?? 0;
  if (headBefore && pending >= MAX_PENDING)
    throw refusal('mergesPending', { pending }, { 'Retry-After': String(RETRY_PENDING_SECONDS) });
}
