import { createHash } from 'node:crypto';
import { batchGet, MAX_BATCH, type ReadBatch, RowMap, rowName } from '../../dynamodb/batch-get.ts';
import { type Table, withSignal } from '../../dynamodb/client.ts';
import { isRowTooLarge } from '../../dynamodb/failures.ts';
import { type KeyOf, keys, type RowKind } from '../../dynamodb/keys.ts';
import { CONCURRENCY } from '../../dynamodb/pool.ts';
import type { IdempotencyRow } from '../../dynamodb/rows.ts';
import { TRANSACTION_ITEMS } from '../../dynamodb/transact.ts';
import { type Explanations, refuse } from '../../http/errors.ts';
import { type Call, createOperationHandler, type Handler } from '../../http/operation-handler.ts';
import { mergeAlerts, type RequestOf } from '../../http/operations.ts';
import { createRateLimiter, type RateLimiter, retryAfter } from '../../http/rate-limit.ts';
import { writesFrozenCheck } from '../../http/writes-frozen.ts';
import type { Deps } from '../../shared/deps.ts';
import { stringifyJson } from '../../shared/json.ts';
import {
  ASSIGNMENT_ATTRIBUTES,
  type Assignment,
  decideMerge,
  findUnmovable,
  type MovePlan,
  planMoves,
} from './assignment.ts';
import {
  type Attempt,
  claimsOn,
  commitAndMove,
  type Idempotency,
  nextSequence,
  type PendingEntryReader,
  type PreparedEntry,
  pendingEntryReader,
  type Sizes,
  TooManyPendingError,
} from './commit.ts';
import { MAX_PENDING, MERGE_ORDER_ATTRIBUTES, mergeOrderOf, readMergeOrder } from './merge-order.ts';
import validate from './validate-merge-alerts.ts';

type MergeCall = Call<RequestOf<typeof mergeAlerts>>;

const IDEMPOTENCY_SECONDS = 24 * 60 * 60;
/** Ids that a message names. */
const NAMED = 10;
/**
 * Largest small merge, in read units of 4 KB. A transaction costs two write units per KB, and a partition has 1,000 a second. Far
 * below the 4 MB of a transaction.
 */
const SMALL_UNITS = 125;

/**
 * Read units of an account's merges, but for those of a first batch: as many on average as a new table has write units for, so
 * that others find most of its 12,000 read units a second.
 */
const READ_BUDGET = {
  name: mergeAlerts.name,
  rateWindows: [
    { name: 'burst', limit: 12_000, seconds: 3 },
    { name: 'minute', limit: 120_000, seconds: 60 },
  ],
} as const;

/** `Retry-After` in seconds when too many large merges are pending. */
const RETRY_PENDING_SECONDS = 10;

/** Merges alerts into an incident, all or none at any size. `protocol.md` has the steps. */
export function createMergeAlerts(deps: Deps, { transactionItems = TRANSACTION_ITEMS }: Sizes = {}) {
  const { log, metrics, timeLimits } = deps;
  const readPending = pendingEntryReader();
  const readBudget = createRateLimiter(READ_BUDGET, deps);

  return async function merge(call: MergeCall) {
    const { signal } = call;
    const table = withSignal(deps.table, signal);
    const request = mergeOf(call, deps);
    const reading: Reading = { rows: new RowMap(), batches: [], unread: 0, large: false, checked: false };
    const merged = await commitAndMove(table, {
      prepare(attempt) {
        reading.large ||= attempt.large;
        return prepare({ call, request, deps, table, reading, readPending, readBudget, attempt, transactionItems });
      },
      moveSignal: () => AbortSignal.any([signal, AbortSignal.timeout(timeLimits.movesMs)]),
      transactionItems,
    }).catch((error) => {
      throw refusalOf(error, request.incidentId);
    });
    if ('result' in merged) return merged.result;
    const { committed, unfinished } = merged;
    if (unfinished) {
      // The merge is committed; finish-merges makes the remaining moves.
      metrics.event('merge_left_pending');
      log.warn('merge left to finish-merges', {
        request_id: committed.entry.request_id,
        error_name: (unfinished.error as Error).name,
      });
    }
    return { data: null };
  };
}

/** What a merge would do, if nothing changes until then. */
export interface MergePreview extends MovePlan {
  readonly entry: PreparedEntry['entry'];
  /** Its alerts move after it is committed. */
  readonly large: boolean;
}

/**
 * Reads and checks what a merge would, and writes nothing: not even the count of what it has read.
 * @throws ApiError as the merge would, TooManyPendingError
 */
export async function previewMerge(
  deps: Pick<Deps, 'table' | 'now' | 'newId'>,
  call: MergeCall,
): Promise<MergePreview> {
  const table = withSignal(deps.table, call.signal);
  const request = mergeOf({ ...call, idempotencyKey: undefined }, deps);
  const preparation = await prepare({
    ...{ call, request, deps, table, readPending: pendingEntryReader(), transactionItems: TRANSACTION_ITEMS },
    reading: { rows: new RowMap(), batches: [], unread: 0, large: false, checked: false },
    readBudget: { take: async () => ({ windows: [] }) },
    attempt: { large: false, order: undefined },
  });
  if ('result' in preparation) throw new Error('a merge without an Idempotency-Key was done before');
  const { alertIds, assignments, decide, entry, large, order } = preparation.prepared;
  const pending = order.pending?.length ?? 0;
  if (large && pending >= MAX_PENDING) throw new TooManyPendingError(pending);
  return { ...planMoves(alertIds, assignments, decide), entry, large };
}

/** Translates an error into the caller's refusal; any other error is returned as it is. */
function refusalOf(error: unknown, incidentId: string): unknown {
  if (error instanceof TooManyPendingError)
    return refuse('mergesPending', { pending: error.pending }, { 'Retry-After': String(RETRY_PENDING_SECONDS) });
  // Of the rows that a large merge commits, only the incident's has data of other systems.
  return isRowTooLarge(error) ? refuse('incidentTooLarge', { incidentId }) : error;
}

function mergeOf({ body, caller, idempotencyKey }: MergeCall, { now }: Pick<Deps, 'now'>) {
  const { comment, title, owner_id } = body;
  const alertIds = [...new Set(body.alert_ids.map((id) => id.toLowerCase()))];
  const incidentId = body.incident_id.toLowerCase();
  // Equal for bodies that mean the same.
  const meaning = [alertIds.toSorted(), incidentId, comment || null, title || null, owner_id ?? null];
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const nowSeconds = Math.floor(now() / 1000);
  const idempotency: Idempotency | undefined =
    idempotencyKey === undefined
      ? undefined
      : {
          key: keys.idempotency(caller.accountId, mergeAlerts.name, hash(idempotencyKey)),
          bodyHash: hash(stringifyJson(meaning)),
          nowSeconds,
          ttl: nowSeconds + IDEMPOTENCY_SECONDS,
        };
  return { alertIds, incidentId, idempotency };
}

/** Read of every row. Of the incident a merge also reads what it changes. */
const ATTRIBUTES = [...ASSIGNMENT_ATTRIBUTES, ...MERGE_ORDER_ATTRIBUTES, 'body_hash', 'ttl', 'last_change'] as const;
type MergeAttribute = (typeof ATTRIBUTES)[number] | 'title' | 'owner_id';
type MergeKind = 'alert' | 'incident' | 'member' | 'mergeOrder' | 'idempotency';

/** What a call has read so far. */
interface Reading {
  rows: RowMap<MergeKind, MergeAttribute>;
  /** The batches in which the alerts were read. */
  batches: ReadBatch<MergeKind>[];
  /** Alerts that were not read, since something else is missing. */
  unread: number;
  /** The merge cannot be small. */
  large: boolean;
  /** It is known that the alerts' rows have room for a move. */
  checked: boolean;
}

interface Preparation {
  call: MergeCall;
  request: ReturnType<typeof mergeOf>;
  deps: Pick<Deps, 'now' | 'newId'>;
  table: Table;
  reading: Reading;
  readPending: PendingEntryReader;
  readBudget: Pick<RateLimiter, 'take'>;
  attempt: Attempt;
  transactionItems: number;
}

const REPLAYED = { data: null, headers: { 'Idempotent-Replayed': 'true' } };

/**
 * Reads what a merge depends on and prepares its commit. A large merge only requires that its alerts exist, so a retry does not read
 * them again.
 * @throws ApiError when something is missing or cannot be moved, or the Idempotency-Key was used for another body
 */
async function prepare(
  preparation: Preparation,
): Promise<{ prepared: PreparedEntry } | { result: { data: null; headers?: Record<string, string> } }> {
  const { call, request, deps, table, reading, readPending, attempt, transactionItems } = preparation;
  const { body, caller, requestId } = call;
  const { accountId: account } = caller;
  const { alertIds, incidentId, idempotency } = request;
  const owner = body.owner_id;

  const alertKeys = alertIds.map((id) => keys.alert(account, id));
  const changesIncident = Boolean(body.title) || owner !== undefined;
  // Beside the alerts: the entry and the merge order.
  const written = 2 + Number(changesIncident) + Number(owner !== undefined) + Number(idempotency !== undefined);
  reading.large ||= alertKeys.length + written > transactionItems;
  const orderKey = keys.mergeOrder(account);
  const incidentKey = keys.incident(account, incidentId);
  const ownerKeys = owner === undefined ? [] : [keys.member(account, owner)];
  const optionalKeys = [orderKey, ...(idempotency ? [idempotency.key] : [])];
  if (!attempt.order) await read(preparation, optionalKeys, [incidentKey, ...ownerKeys], alertKeys);
  const { rows } = reading;

  if (idempotency && isRepeat(rows.of(idempotency.key), idempotency)) return { result: REPLAYED };
  const incident = rows.of(incidentKey);
  const assignments = new Map<string, Assignment>();
  const missing: Explanations['mergeTargetsNotFound']['some'][number][] = [];
  if (!incident) missing.push({ what: 'incident', id: incidentId });
  for (const key of alertKeys.slice(0, alertKeys.length - reading.unread)) {
    const row = rows.of(key);
    if (row) assignments.set(key.sk, row);
    else missing.push({ what: 'alert', id: key.sk });
  }
  if (!ownerKeys.every((key) => rows.of(key))) missing.push({ what: 'member', id: String(owner) });
  if (!incident || missing.length > 0)
    throw refuse('mergeTargetsNotFound', { ...named(missing), unread: reading.unread });
  if (!reading.checked) {
    const full = await findUnmovable(table, reading.batches);
    if (full.length > 0) throw refuse('alertsTooLarge', named(full));
    reading.checked = true;
  }

  const orderRow = rows.of(orderKey);
  let order = attempt.order ?? mergeOrderOf(orderRow ? [orderRow] : []);
  const large =
    reading.large ||
    unitsOf(reading.batches) > SMALL_UNITS ||
    (await claimsOn(table, readPending, account, order, assignments)).length > 0;
  // Read again, with the rows of the previous release, since reading many alerts takes time.
  if (large && !attempt.order) order = await readMergeOrder(table, account);
  const atMs = deps.now();
  const entry: PreparedEntry['entry'] = {
    kind: 'merge',
    incident_id: incidentId,
    sequence: nextSequence(atMs, { order, assignments, incident }),
    merge_id: deps.newId(),
    at_ms: atMs,
    by: caller.appKeyId,
    request_id: requestId,
    ...(body.comment && { comment: body.comment }),
    ...(body.title && { old_title: incident.title, new_title: body.title }),
    ...(owner !== undefined && {
      new_owner_id: owner,
      ...(incident.owner_id !== undefined && { old_owner_id: incident.owner_id }),
    }),
  };
  const prepared: PreparedEntry = {
    account,
    entry,
    alertIds,
    decide: decideMerge(entry),
    assignments,
    incident,
    order,
    large,
    ...(owner !== undefined && { owner }),
    ...(idempotency && { idempotency }),
  };
  return { prepared };
}

/**
 * Reads all rows, in growing batches up to the first that shows a missing one; in a further attempt of a large merge all but the
 * alerts. What one batch shows to be impossible, or done before, costs no more than that batch.
 * @throws ApiError when the account's merges have read too much, or the Idempotency-Key was used for another body
 */
async function read(
  { call, request: { idempotency }, deps, table, reading, readBudget }: Preparation,
  optionalKeys: readonly KeyOf<MergeKind>[],
  otherKeys: readonly KeyOf<MergeKind>[],
  alertKeys: readonly KeyOf<'alert'>[],
): Promise<void> {
  const { body, caller, signal } = call;
  const attributes: MergeAttribute[] = [
    ...ATTRIBUTES,
    // Of the incident; it is read of the alerts, too.
    ...(body.title ? ['title' as const] : []),
    ...(body.owner_id === undefined ? [] : ['owner_id' as const]),
  ];
  if (reading.large && reading.batches.length > 0) {
    const again = [...optionalKeys, ...otherKeys];
    const { rows } = await batchGet(table, again, { attributes });
    for (const key of again) {
      const row = rows.of(key);
      if (row) reading.rows.set(rowName(key), row);
      else reading.rows.delete(rowName(key));
    }
    return;
  }
  const allKeys = [...optionalKeys, ...otherKeys, ...alertKeys];
  const { rows, batches } = Object.assign(reading, { rows: new RowMap(), batches: [] });
  let size = MAX_BATCH;
  let taken = 0;
  for (let from = 0; from < allKeys.length; from += size, size *= CONCURRENCY) {
    const some = allKeys.slice(from, from + size);
    const got = await batchGet(table, some, { attributes });
    for (const [name, row] of got.rows) rows.set(name, row);
    batches.push(...got.batches);
    if (idempotency && isRepeat(rows.of(idempotency.key), idempotency)) return;
    const isMissing = some.some((key) => !rows.of(key) && !optionalKeys.includes(key));
    const read = from + some.length;
    const units = Math.ceil(unitsOf(batches) * (isMissing ? 1 : allKeys.length / read));
    if (units - taken > SMALL_UNITS) await takeUnits(units - taken);
    if (isMissing) {
      reading.unread = allKeys.length - read;
      return;
    }
  }

  async function takeUnits(units: number): Promise<void> {
    const { refusedBy } = await readBudget.take(caller.accountId, signal, units);
    taken += units;
    if (!refusedBy) return;
    const { limit, seconds } = refusedBy.window;
    throw refuse('mergesReadTooMuch', { limit, windowSeconds: seconds }, retryAfter(refusedBy, deps.now()));
  }
}

/** Read units of batches; at least one for each key, also where there is no row. */
const unitsOf = (batches: readonly ReadBatch<RowKind>[]) =>
  batches.reduce((sum, { units, keys }) => sum + Math.max(units, keys.length), 0);

/** Whether the same call was committed before. @throws ApiError when the key was used with another body */
function isRepeat(
  row: Pick<IdempotencyRow, 'body_hash' | 'ttl'> | undefined,
  { bodyHash, nowSeconds }: Idempotency,
): boolean {
  if (!row || row.ttl <= nowSeconds) return false;
  if (row.body_hash !== bodyHash) throw refuse('idempotencyKeyReused');
  return true;
}

/** The first items, which a message names, and how many more there are. */
const named = <Item>(all: readonly Item[]) => ({ some: all.slice(0, NAMED), more: Math.max(0, all.length - NAMED) });

export const createMergeAlertsHandler = (deps: Deps, sizes?: Sizes): Handler =>
  createOperationHandler(
    mergeAlerts,
    { validate, check: writesFrozenCheck(deps), operate: createMergeAlerts(deps, sizes) },
    deps,
  );
