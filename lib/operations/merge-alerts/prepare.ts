/** Prepares the entry of a merge: reads and checks all that it depends on. */

import { createHash } from 'node:crypto';
import { type Explanations, refusal } from '../../http/errors.ts';
import type { Call, RequestOf } from '../../http/operation.ts';
import { type RateLimiter, retryAfter } from '../../http/rate-limit.ts';
import { allInOrder, CONCURRENCY } from '../../shared/concurrency.ts';
import type { Deps } from '../../shared/deps.ts';
import { stringifyJson } from '../../shared/json.ts';
import type { Table } from '../../table/client.ts';
import { type KeyOf, keys, type RowKind } from '../../table/keys.ts';
import { batchGet, MAX_BATCH, type ReadBatch, RowMap, rowName } from '../../table/read.ts';
import type { IdempotencyRow } from '../../table/rows.ts';
import { ASSIGNMENT_ATTRIBUTES, type Assignment, resolve } from './alerts.ts';
import { type Idempotency, nextSequence, type PreparedEntry } from './commit.ts';
import { type KnownEntries, readEntries } from './entry.ts';
import { MAX_PENDING, MERGE_ORDER_ATTRIBUTES, type MergeOrder, mergeOrderOf } from './merge-order.ts';
import { mergeAlerts } from './schema.ts';

/** Also made by an operator's command, without a body. */
export type MergeCall = Omit<Call<RequestOf<typeof mergeAlerts>>, 'bodyBytes'>;

/** `Retry-After` in seconds when too many large merges are pending. */
const RETRY_PENDING_SECONDS = 10;
const IDEMPOTENCY_SECONDS = 24 * 60 * 60;
/** Maximum ids that an error message names. */
const MAX_NAMED = 10;
/**
 * Largest small merge, in read units of 4 KB. A transaction costs two write units per KB, and a partition has 1,000 a second. Far
 * below the 4 MB of a transaction.
 */
const SMALL_UNITS = 125;

/** The attributes that every merge reads. If it changes the title or the owner of the incident, it reads these, too. */
const ATTRIBUTES = [...ASSIGNMENT_ATTRIBUTES, ...MERGE_ORDER_ATTRIBUTES, 'body_hash', 'ttl', 'last_change'] as const;
type MergeAttribute = (typeof ATTRIBUTES)[number] | 'title' | 'title_order' | 'owner_id' | 'owner_order';
type MergeKind = 'alert' | 'incident' | 'member' | 'mergeOrder' | 'idempotency';

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
 * Creates the function that prepares each attempt to commit a merge. It keeps what it has read for the next attempt: a merge that does not
 * fit into one transaction only requires that its alerts exist, so their rows are not read again.
 * @returns the function. It throws an ApiError when something is missing, when the Idempotency-Key was used for another body, when too
 *   many large merges are pending, or when the account's merges have read too much
 */
export function createPreparer({ call, deps, table, knownEntries, readBudget, transactionItems }: PreparerOptions) {
  const { body, caller, requestId, signal } = call;
  const { accountId: account } = caller;
  const owner = body.owner_id;
  const alertIds = alertIdsOf(call);
  const incidentId = incidentIdOf(call);
  const idempotency = idempotencyOf(call, Math.floor(deps.now() / 1000));

  const alertKeys = alertIds.map((id) => keys.alert(account, id));
  const incidentKey = keys.incident(account, incidentId);
  const ownerKeys = owner === undefined ? [] : [keys.member(account, owner)];
  const orderKey = keys.mergeOrder(account);
  /** Keys of rows that need not exist. */
  const optionalKeys: KeyOf<MergeKind>[] = [orderKey, ...(idempotency ? [idempotency.key] : [])];
  const otherKeys: KeyOf<MergeKind>[] = [...optionalKeys, incidentKey, ...ownerKeys];

  // Only the incident has title and owner, but a request has one list of attributes for all its rows.
  const attributes: MergeAttribute[] = [...ATTRIBUTES];
  if (body.title) attributes.push('title', 'title_order');
  if (owner !== undefined) attributes.push('owner_id', 'owner_order');

  const changesIncident = Boolean(body.title) || owner !== undefined;
  // The 3 are the entry, the merge order and the log.
  const otherActions = 3 + Number(changesIncident) + Number(owner !== undefined) + Number(idempotency !== undefined);
  let large = alertKeys.length + otherActions > transactionItems;
  /** Of a large merge: the merge order before its alerts were read. Its origins are those after these entries. */
  let orderBefore: MergeOrder | undefined;

  let rows = new RowMap<MergeKind, MergeAttribute>();
  /** Read units of the alerts, of a small merge of all rows; and how many were taken from the budget. */
  let [units, takenUnits] = [0, 0];
  /** Number of alerts that were not read, since something else is missing. */
  let unread = 0;

  async function prepare(
    currentOrder: MergeOrder | undefined,
  ): Promise<{ prepared: PreparedEntry } | { result: { data: null; headers?: Record<string, string> } }> {
    if (!currentOrder) await (orderBefore ? readOthersAgain() : readAll());
    if (wasCommitted()) return { result: REPLAYED };
    const { incident, assignments } = foundTargets();
    if (!large && units > SMALL_UNITS) {
      large = true; // Its alerts must be read after the merge order, so they are read again.
      return prepare(undefined);
    }

    const order = currentOrder ?? mergeOrderOf(rows.of(orderKey));
    const pendingCount = order.pending?.length ?? 0;
    if (large && pendingCount >= MAX_PENDING)
      throw refusal('mergesPending', { pending: pendingCount }, { 'Retry-After': String(RETRY_PENDING_SECONDS) });
    const pending = await readEntries(table, account, (orderBefore ?? order).pending, knownEntries);
    const resolved = resolve(assignments, pending);
    const atMs = deps.now();
    const entry: PreparedEntry['entry'] = {
      kind: 'merge',
      incident_id: incidentId,
      sequence: nextSequence(atMs, order, assignments, incident),
      merge_id: deps.newId(),
      at_ms: atMs,
      by: caller.appKeyId,
      request_id: requestId,
      ...(orderBefore && { large: true, read_since: { last: orderBefore.last, entries: orderBefore.entries } }),
      ...(body.comment && { comment: body.comment }),
      ...(body.title && { old_title: incident.title, new_title: body.title }),
      ...(owner !== undefined && {
        new_owner_id: owner,
        ...(incident.owner_id !== undefined && { old_owner_id: incident.owner_id }),
      }),
    };
    return {
      prepared: {
        account,
        entry,
        moves: alertIds.map((alertId) => ({ alertId, from: resolved.get(alertId)?.incident_id, to: incidentId })),
        rows: assignments,
        incident,
        order,
        ...(owner !== undefined && { owner }),
        ...(idempotency && { idempotency }),
      },
    };
  }

  /** Reads all rows but the alerts, for a further attempt of a large merge. */
  async function readOthersAgain(): Promise<void> {
    for (const key of otherKeys) rows.delete(rowName(key));
    await read(otherKeys);
  }

  /**
   * Reads all rows. Of a large merge it reads the merge order before the alerts, and these in growing chunks. It stops after a chunk that
   * shows that a row is missing, or that the call was committed before; later chunks are not read.
   */
  async function readAll(): Promise<void> {
    rows = new RowMap();
    [units, takenUnits] = [0, 0];
    if (!large) {
      await read([...otherKeys, ...alertKeys]);
      return takeUnits(units);
    }
    unread = alertKeys.length;
    const othersExist = await read(otherKeys);
    orderBefore = mergeOrderOf(rows.of(orderKey));
    if (!othersExist || wasCommitted()) return;
    units = 0;
    for (let from = 0, size = MAX_BATCH; from < alertKeys.length; from += size, size *= CONCURRENCY) {
      const chunk = alertKeys.slice(from, from + size);
      // Until rows are read, each is expected to take one unit.
      const [, alertsExist] = await allInOrder([takeUnits(from === 0 ? alertKeys.length : 0), read(chunk)]);
      unread -= chunk.length;
      if (!alertsExist) return;
      await takeUnits(Math.ceil((units * alertKeys.length) / (alertKeys.length - unread)));
    }
  }

  /** @returns whether all of the rows exist that must */
  async function read(chunk: readonly KeyOf<MergeKind>[]): Promise<boolean> {
    const result = await batchGet(table, chunk, { attributes });
    for (const [name, row] of result.rows) rows.set(name, row);
    units += unitsOf(result.batches);
    return chunk.every((key) => rows.of(key) || optionalKeys.includes(key));
  }

  /** Takes the units of a merge from the budget, unless they are few, or were taken before. @throws ApiError when it is used up */
  async function takeUnits(expected: number): Promise<void> {
    const amount = expected - takenUnits;
    if (amount <= SMALL_UNITS) return;
    const { refusedBy } = await readBudget.take(account, signal, amount);
    takenUnits = expected;
    if (!refusedBy) return;
    const { limit, seconds: windowSeconds } = refusedBy.window;
    throw refusal('mergesReadTooMuch', { limit, windowSeconds }, retryAfter(refusedBy, deps.now()));
  }

  /** Whether the same call was committed before. @throws ApiError when the Idempotency-Key was used with another body */
  function wasCommitted(): boolean {
    const row: Pick<IdempotencyRow, 'body_hash' | 'ttl'> | undefined = idempotency && rows.of(idempotency.key);
    if (!idempotency || !row || row.ttl <= idempotency.nowSeconds) return false;
    if (row.body_hash !== idempotency.bodyHash) throw refusal('idempotencyKeyReused');
    return true;
  }

  /** The incident and the alerts' assignments. @throws ApiError when one of them, or the owner, does not exist */
  function foundTargets() {
    const incident = rows.of(incidentKey);
    const assignments = new Map<string, Assignment>();
    const missing: Explanations['mergeTargetsNotFound']['named'][number][] = [];
    if (!incident) missing.push({ kind: 'incident', id: incidentId });
    for (const key of alertKeys.slice(0, alertKeys.length - unread)) {
      const row = rows.of(key);
      if (row) assignments.set(key.sk, row);
      else missing.push({ kind: 'alert', id: key.sk });
    }
    if (!ownerKeys.every((key) => rows.of(key))) missing.push({ kind: 'member', id: String(owner) });
    if (!incident || missing.length > 0) throw refusal('mergeTargetsNotFound', { ...namedAndMore(missing), unread });
    return { incident, assignments };
  }

  return prepare;
}

const alertIdsOf = ({ body }: MergeCall) => [...new Set(body.alert_ids.map((id) => id.toLowerCase()))];

export const incidentIdOf = ({ body }: MergeCall) => body.incident_id.toLowerCase();

function idempotencyOf(call: MergeCall, nowSeconds: number): Idempotency | undefined {
  const { body, caller, idempotencyKey } = call;
  if (idempotencyKey === undefined) return undefined;
  const { comment, title, owner_id } = body;
  // Equal for bodies that mean the same.
  const meaning = [alertIdsOf(call).toSorted(), incidentIdOf(call), comment || null, title || null, owner_id ?? null];
  return {
    key: keys.idempotency(caller.accountId, mergeAlerts.name, sha256(idempotencyKey)),
    bodyHash: sha256(stringifyJson(meaning)),
    nowSeconds,
    ttl: nowSeconds + IDEMPOTENCY_SECONDS,
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Read units of batches: at least one for each key, even if it has no row. */
const unitsOf = (batches: readonly ReadBatch<RowKind>[]) =>
  batches.reduce((sum, { units, keys }) => sum + Math.max(units, keys.length), 0);

/** The first items, which a message names, and how many more there are. */
export const namedAndMore = <Item>(all: readonly Item[]) => ({
  named: all.slice(0, MAX_NAMED),
  more: Math.max(0, all.length - MAX_NAMED),
});
