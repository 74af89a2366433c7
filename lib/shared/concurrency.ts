/** Calls of AWS: several at a time, which failures a later attempt may not meet, and how long to wait for that. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Maximum number of concurrent calls to DynamoDB. */
export const CONCURRENCY = 16;

/**
 * Runs `work` for each item with limited concurrency. After a failure no further work starts; none is running when this returns.
 * @param work gets a signal that aborts when `signal` does, and when the work for another item fails
 * @throws the first failure
 */
export async function forEach<Item>(
  items: Iterable<Item>,
  work: (item: Item, signal: AbortSignal) => Promise<unknown>,
  { concurrency = CONCURRENCY, signal }: { concurrency?: number; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const queue = [...items].values();
  const stop = new AbortController();
  const workSignal = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    try {
      for (const item of queue) {
        workSignal.throwIfAborted();
        await work(item, workSignal);
      }
    } catch (error) {
      failure ??= { error };
      stop.abort();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failure) throw failure.error;
}

/** Like `Promise.all`, but waits until all have ended. @throws the failure of the first that failed, in their order */
export async function allInOrder<const Promises extends readonly unknown[]>(promises: Promises) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Splits items into chunks of `size`; the last one may be smaller. */
export const chunksOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

/** Splits items into batches of at most so many items and so much in size. An item that is too large by itself gets a batch of its own. */
export function batchesOf<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  { maxItems = Number.POSITIVE_INFINITY, maxSize }: { maxItems?: number; maxSize: number },
): Item[][] {
  const batches: Item[][] = [];
  let batchSize = 0;
  for (const item of items) {
    const size = sizeOf(item);
    const batch = batches.at(-1);
    if (batch && batch.length < maxItems && batchSize + size <= maxSize) batch.push(item);
    else {
      batches.push([item]);
      batchSize = 0;
    }
    batchSize += size;
  }
  return batches;
}

const THROTTLING_ERRORS = new Set<string | undefined>([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
]);
/** Names of errors after which the same call may succeed later. */
const UNAVAILABLE = new Set<string | undefined>([
  ...THROTTLING_ERRORS,
  'LimitExceededException',
  'InternalServerError',
  'ServiceUnavailable',
  'TransactionConflictException',
  'TransactionInProgressException',
  'ReplicatedWriteConflictException',
  // No reply in time.
  'AbortError',
  'TimeoutError',
  // Problems of the environment, not bugs.
  'ExpiredTokenException',
  'CredentialsProviderError',
  // A pending entry that a restored table lacks.
  'EntryMissingError',
]);
/** Names of errors that the SDK throws for a reply that does not come from DynamoDB, but from a proxy, for example. */
const FOREIGN_REPLY = new Set<string | undefined>(['Unknown', 'SyntaxError']);
const NETWORK = new Set<string | undefined>([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

interface Failure {
  name?: string;
  code?: string;
  errors?: unknown[];
  $metadata?: { httpStatusCode?: number };
  CancellationReasons?: { Code?: string; Message?: string }[];
}

/**
 * Whether DynamoDB is down, throttles beyond the retries or is too slow, or the environment has no valid credentials. Any other error, such
 * as a validation error, a missing permission or a missing table, is a bug.
 */
export function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { name, code, errors, $metadata, CancellationReasons } = error as Failure;
  if (UNAVAILABLE.has(name) || NETWORK.has(code) || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  // If the error has `$metadata`, a `code` means a lost connection, and a name in FOREIGN_REPLY means that something else replied.
  if ($metadata && (code !== undefined || FOREIGN_REPLY.has(name))) return true;
  if (errors?.some(isUnavailable)) return true; // several addresses of one host were tried
  return name === 'TransactionCanceledException' && CancellationReasons?.some(isTransient) === true;
}

/** Whether DynamoDB asks for a slower pace. */
export const isThrottled = (error: unknown) => error instanceof Error && THROTTLING_ERRORS.has(error.name);

/** Why a call failed, for the log: what an operator looks at first. */
export function causeOf(error: unknown): 'throttled' | 'no reply' | 'DynamoDB error' | 'bug' {
  if (!isUnavailable(error)) return 'bug';
  const { name, code, $metadata, CancellationReasons } = error as Failure;
  if (THROTTLING_ERRORS.has(name) || CancellationReasons?.some(isThrottlingReason)) return 'throttled';
  if (NETWORK.has(code) || NO_REPLY.has(name) || ($metadata && !$metadata.httpStatusCode)) return 'no reply';
  return 'DynamoDB error';
}

const THROTTLING_REASONS = new Set<string | undefined>(['ThrottlingError', 'ProvisionedThroughputExceeded']);
const NO_REPLY = new Set<string | undefined>(['AbortError', 'TimeoutError']);

const isThrottlingReason = ({ Code }: { Code?: string }) => THROTTLING_REASONS.has(Code);

const isTransient = (reason: { Code?: string }) => reason.Code === 'TransactionConflict' || isThrottlingReason(reason);

/** Milliseconds. */
export interface Backoff {
  /** Half of the upper bound of the first wait; the bound doubles with each attempt. */
  readonly baseMs: number;
  /** The bound never exceeds this. */
  readonly maxMs: number;
}

/** After a conflict: the other writer is done within milliseconds. */
export const CONFLICT: Backoff = { baseMs: 10, maxMs: 200 };
/**
 * After a conflict on the log head, which all merges of an account write: short, since a caller that waits long keeps losing to others.
 */
export const LOG_HEAD_CONFLICT: Backoff = { baseMs: 10, maxMs: 80 };
/** After throttling: the capacity of a partition is replenished every second. */
export const THROTTLING: Backoff = { baseMs: 25, maxMs: 400 };

/**
 * Waits before the next attempt: capped exponential backoff with full jitter.
 * @param attempt the number of attempts so far, from 1
 * @throws AbortError when the signal ends it
 */
export async function backoff(attempt: number, { baseMs, maxMs }: Backoff, signal?: AbortSignal): Promise<void> {
  const boundMs = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 20));
  await sleep(boundMs * Math.random(), undefined, signal ? { signal } : {});
}
