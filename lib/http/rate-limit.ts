import QuickLRU from 'quick-lru';
import type { Deps } from '../deps.ts';
import { type Int64, stringifyJson } from '../shared/json.ts';
import type { Settings } from '../shared/settings.ts';
import { withSignal } from '../table/client.ts';
import { all, attribute, expression, isBelow } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { getStoredRow } from '../table/read.ts';
import type { RateCountRow } from '../table/rows.ts';
import { settle, updateRow } from '../table/write.ts';
import { callerOf } from './app-keys.ts';
import { refusal } from './errors.ts';
import type { ItemText } from './item-texts.ts';
import type { ApiEvent, Operation, RateWindow } from './operation.ts';

export interface WindowState {
  readonly window: RateWindow;
  readonly remaining: number;
  /** Unix milliseconds at which the window ends. */
  readonly endsMs: number;
}

export interface Verdict {
  /** The window whose limit is used up, if the call is refused. */
  readonly refusedBy?: WindowState;
  /** All windows, from the shortest to the longest. */
  readonly windows: readonly WindowState[];
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

export interface RateLimit {
  /** Limits of the same name count in the same rows. */
  readonly name: string;
  readonly rateWindows: NonNullable<Operation['rateWindows']>;
  /**
   * Which calls the row remembers: `all` of its window for an exact count; only the `latest`, so that the row stays small however many
   * calls there are: a call may then count twice if its reply is lost and another one is counted at the same time.
   */
  readonly remembers?: 'all' | 'latest';
}

const CACHED_REFUSALS = 10_000;
/** Seconds that a row is kept after its window, so that DynamoDB's TTL removes none in use even if its clock is an hour ahead. */
const KEPT_SECONDS = 2 * 3_600;

/**
 * Counts calls in two windows: the inner is the shorter, and the outer a multiple of it. There is a row for each account and outer window,
 * with the count of each inner window in it, so that one conditional write counts a call in both windows. Each call writes a random nonce
 * to the row: after a lost reply it shows whether the write was applied, and a repeated write fails on it. So no call that passes is left
 * out of the count, and none counts twice while the row remembers it. After a refusal, further calls of the account in that window are
 * refused from memory.
 */
export function createRateLimiter(
  { name, rateWindows: [inner, outer], remembers = 'all' }: RateLimit,
  { table, now, newId }: Pick<Deps, 'table' | 'now' | 'newId'>,
) {
  if (outer.seconds % inner.seconds !== 0)
    throw new Error(`${name} must have a longer rate window that is a multiple of the shorter`);
  const refusals = new QuickLRU<string, Verdict & { refusedBy: WindowState }>({ maxSize: CACHED_REFUSALS });

  const windowIndex = (window: RateWindow, atMs: number) => Math.floor(atMs / (window.seconds * 1000));

  function windowsAt(atMs: number, counts: RateCountRow | undefined): [WindowState, WindowState] {
    const state = (window: RateWindow, count: number): WindowState => ({
      window,
      remaining: Math.max(0, window.limit - count),
      endsMs: (windowIndex(window, atMs) + 1) * window.seconds * 1000,
    });
    return [state(inner, counts?.[innerAttribute(atMs)] ?? 0), state(outer, counts?.total ?? 0)];
  }

  /** The attribute that holds the count of the inner window at this time. */
  const innerAttribute = (atMs: number) => `w${windowIndex(inner, atMs) % (outer.seconds / inner.seconds)}` as const;

  async function count(
    account: Int64,
    atMs: number,
    amount: number,
    own: number,
    signal: AbortSignal | undefined,
  ): Promise<Verdict> {
    /** A call passes while a window's count is below this. */
    const boundOf = ({ limit }: RateWindow) => Math.max(own + 1, limit - amount + 1);
    const nonce = newId().slice(0, 8);
    const key = keys.rateCount(account, name, windowIndex(outer, atMs));
    const innerCount = innerAttribute(atMs);
    const ttl = (windowIndex(outer, atMs) + 1) * outer.seconds + KEPT_SECONDS;
    const added = expression`ADD #total ${amount}, ${attribute(innerCount)} ${amount}`;
    const nonces = new Set([nonce]);
    const update =
      remembers === 'all'
        ? expression`${added}, #nonces ${nonces} SET #ttl = ${ttl}`
        : expression`${added} SET #ttl = ${ttl}, #nonces = ${nonces}`;
    const isCounted = (counts: RateCountRow | undefined) => counts?.nonces?.has(nonce) ?? false;
    const { done, row } = await settle(withSignal(table, signal), {
      send: (table) =>
        updateRow(
          table,
          key,
          update,
          all(
            isBelow('total', boundOf(outer)),
            isBelow(innerCount, boundOf(inner)),
            expression`NOT contains(#nonces, ${nonce})`,
          ),
          { ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
        ),
      async verify(table) {
        const row = await getStoredRow(table, key);
        return isCounted(row) ? { done: true, row } : undefined;
      },
    });
    if (!row) throw new Error('the write of a count returned no row');
    const windows = windowsAt(atMs, row);
    if (done || isCounted(row)) return { windows };
    const refusedBy = (row.total ?? 0) < boundOf(outer) ? windows[0] : windows[1];
    // While something remains, a call with a smaller amount may pass.
    if (refusedBy.remaining === 0) refusals.set(String(account), { windows, refusedBy });
    return { windows, refusedBy };
  }

  /** The current windows after a cached refusal. If its inner window has ended, the current one is unused. */
  function currentWindows({ windows }: Verdict, atMs: number): WindowState[] {
    const [unused] = windowsAt(atMs, undefined);
    return windows.map((state) => (state.window === inner && state.endsMs <= atMs ? unused : state));
  }

  return {
    /** The current windows, without counting a call. */
    async peek(account: Int64): Promise<readonly WindowState[]> {
      const atMs = now();
      const key = keys.rateCount(account, name, windowIndex(outer, atMs));
      return windowsAt(atMs, await getStoredRow(table, key));
    },

    /**
     * Counts a call of an account, unless that would exceed the limit of a window.
     * @param amount what is added to the counts; if it is above a window's limit, the call passes while the window is unused
     * @param signal ends the attempt to count
     * @param own what the same call has counted before: a window that has no more, of whatever calls, is unused
     * @returns a promise, unless it is refused from memory
     */
    take(account: Int64, signal?: AbortSignal, amount = 1, own = 0): Verdict | Promise<Verdict> {
      const atMs = now();
      const cached = refusals.get(String(account));
      if (own > 0 || !cached || !isOpen(cached.refusedBy, atMs)) return count(account, atMs, amount, own, signal);
      return { refusedBy: cached.refusedBy, windows: currentWindows(cached, atMs) };
    },
  };
}

/** Whether the window has begun and not ended. */
const isOpen = ({ window: { seconds }, endsMs }: WindowState, atMs: number) =>
  atMs >= endsMs - seconds * 1000 && atMs < endsMs;

/** How a call of an operation counts. */
export interface Admission {
  readonly limiter: RateLimiter;
  /** What a call adds to the counts. */
  amountOf(body: unknown): number;
  readonly refusal: 'tooFrequent' | 'tooManyItems';
}

/** How the calls of an operation count; undefined if only the usage plan limits them. */
export function admissionOf(
  { name, rateWindows, budgeted, itemTexts }: Pick<Operation, 'name' | 'rateWindows' | 'budgeted' | 'itemTexts'>,
  deps: Pick<Deps, 'table' | 'now' | 'newId' | 'settings'>,
): Admission | undefined {
  if (budgeted !== undefined) {
    const textOf = itemTexts === budgeted ? (item: unknown) => (item as ItemText).text : stringifyJson;
    const itemsOf = (body: unknown) => (body as Record<string, readonly unknown[]>)[budgeted] ?? [];
    const amountOf = (body: unknown) =>
      itemsOf(body).reduce<number>((sum, item) => sum + kilobytesBegun(textOf(item)), 0) || 1;
    return { limiter: createRateLimiter(itemBudget(deps.settings), deps), amountOf, refusal: 'tooManyItems' };
  }
  return (
    rateWindows && {
      limiter: createRateLimiter({ name, rateWindows }, deps),
      amountOf: () => 1,
      refusal: 'tooFrequent',
    }
  );
}

/** How often an item counts: by its text or, where the operation gets none, by its JSON without blanks. */
const kilobytesBegun = (text: string) => Math.max(1, Math.ceil(Buffer.byteLength(text) / 1_024));

type BudgetSettings = Pick<Settings, 'feedItemsPer3Seconds' | 'feedItemsPerMinute'>;

/** Limits what an account sends to the feed by all operations together. */
export const itemBudget = ({ feedItemsPer3Seconds, feedItemsPerMinute }: BudgetSettings): RateLimit => ({
  name: 'feed',
  rateWindows: [
    { name: 'burst', limit: feedItemsPer3Seconds, seconds: 3 },
    { name: 'minute', limit: feedItemsPerMinute, seconds: 60 },
  ],
  remembers: 'latest',
});

/**
 * Counts a call against the limit of its operation, while the operation makes its first reads. Responses to calls that it counts or refuses
 * have the rate-limit headers. If a call cannot be counted, its response has none.
 * @param operate gets a promise that rejects if the call is not admitted. A call that is refused from memory does not run it
 */
export async function operateWithinLimit<Result>(
  { limiter, amountOf, refusal: refusalName }: Admission,
  event: ApiEvent,
  { now }: Pick<Deps, 'now'>,
  operate: (admitted: Promise<void>) => Promise<Result>,
): Promise<Result> {
  const { call } = event;
  const admit = ({ windows, refusedBy }: Verdict) => {
    const atMs = now();
    call.headers = { ...call.headers, ...rateLimitHeaders(windows, atMs) };
    if (!refusedBy) return;
    const { limit, seconds } = refusedBy.window;
    throw refusal(refusalName, { limit, windowSeconds: seconds }, retryAfter(refusedBy, atMs));
  };
  const verdict = limiter.take(callerOf(event).accountId, call.signal, amountOf(event.body));
  if (!(verdict instanceof Promise)) admit(verdict); // throws
  const admitted = Promise.resolve(verdict).then(admit);
  const result = operate(admitted);
  await Promise.allSettled([admitted, result]);
  await admitted; // The answer to a call that is not admitted is the refusal, whatever its operation failed with.
  return result;
}

export const retryAfter = ({ endsMs }: WindowState, atMs: number) => ({
  'Retry-After': String(Math.max(1, secondsUntil(endsMs, atMs))),
});

const secondsUntil = (endsMs: number, atMs: number) => Math.max(0, Math.ceil((endsMs - atMs) / 1000));

/**
 * `X-RateLimit-*` for the window with the least remaining calls (the longer one if equal), and `RateLimit-Policy` and `RateLimit`, of
 * draft-ietf-httpapi-ratelimit-headers, for all windows.
 */
export function rateLimitHeaders(windows: readonly WindowState[], atMs: number): Record<string, string> {
  const scarcest = windows.reduce((least, state) => (state.remaining <= least.remaining ? state : least));
  const fields = (field: (state: WindowState) => string) =>
    windows.map((state) => `"${state.window.name}";${field(state)}`).join(', ');
  return {
    'X-RateLimit-Limit': String(scarcest.window.limit),
    'X-RateLimit-Remaining': String(scarcest.remaining),
    'X-RateLimit-Reset': String(Math.ceil(scarcest.endsMs / 1000)),
    'RateLimit-Policy': fields(({ window }) => `q=${window.limit};w=${window.seconds}`),
    RateLimit: fields(({ remaining, endsMs }) => `r=${remaining};t=${secondsUntil(endsMs, atMs)}`),
  };
}
