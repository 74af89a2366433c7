import QuickLRU from 'quick-lru';
import { withSignal } from '../dynamodb/client.ts';
import { all, attribute, expression, isBelow } from '../dynamodb/expression.ts';
import { keys } from '../dynamodb/keys.ts';
import { getRow, updateRow } from '../dynamodb/row.ts';
import type { RateCountRow } from '../dynamodb/rows.ts';
import { settle } from '../dynamodb/settle.ts';
import { isCurrent } from '../shared/current.ts';
import type { Deps } from '../shared/deps.ts';
import type { Int64 } from '../shared/json.ts';
import type { ApiMiddleware } from './call.ts';
import { callerOf } from './caller.ts';
import { refuse } from './errors.ts';
import type { Operation, RateWindow } from './operations.ts';

/** The state of one window of the limit. */
export interface WindowState {
  readonly window: RateWindow;
  readonly remaining: number;
  /** Unix milliseconds at which the window ends. */
  readonly endsMs: number;
}

export interface Verdict {
  /** The full window, if the call is refused. */
  readonly refusedBy?: WindowState;
  /** All windows, from the shortest to the longest. */
  readonly windows: readonly WindowState[];
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

const CACHED_REFUSALS = 10_000;
/** Seconds that a row is kept after its window, so that DynamoDB's TTL, whose clock may be an hour ahead, removes none in use. */
const KEPT_SECONDS = 2 * 3_600;

/**
 * The exact limit: one row for each account, operation and outer window holds the count of every inner window, and one
 * conditional write counts a call in both at once. Each call adds a random nonce, so that a write whose reply was lost
 * is recognized when the SDK repeats it, or in the row. After a refusal the rest of the window is refused from memory.
 */
export function createRateLimiter(
  operation: Pick<Operation, 'name'> & Required<Pick<Operation, 'rateWindows'>>,
  { table, now, newId }: Pick<Deps, 'table' | 'now' | 'newId'>,
  cacheSize = CACHED_REFUSALS,
) {
  const [inner, outer] = operation.rateWindows;
  if (outer.seconds % inner.seconds !== 0)
    throw new Error(`${operation.name} must have a longer rate window that is a multiple of the shorter`);
  const refusals = new QuickLRU<string, Verdict & { refusedBy: WindowState }>({ maxSize: cacheSize });

  const indexOf = (window: RateWindow, atMs: number) => Math.floor(atMs / (window.seconds * 1000));

  function windowsAt(atMs: number, used: RateCountRow | undefined): [WindowState, WindowState] {
    const state = (window: RateWindow, count: number): WindowState => ({
      window,
      remaining: Math.max(0, window.limit - count),
      endsMs: (indexOf(window, atMs) + 1) * window.seconds * 1000,
    });
    return [state(inner, used?.[innerName(atMs)] ?? 0), state(outer, used?.total ?? 0)];
  }

  const innerName = (atMs: number) => `w${indexOf(inner, atMs) % (outer.seconds / inner.seconds)}` as const;

  async function count(
    account: Int64,
    atMs: number,
    amount: number,
    signal: AbortSignal | undefined,
  ): Promise<{ passed: boolean; counts: RateCountRow }> {
    const nonce = newId().slice(0, 8);
    const key = keys.rateCount(account, operation.name, indexOf(outer, atMs));
    const used = innerName(atMs);
    const ttl = (indexOf(outer, atMs) + 1) * outer.seconds + KEPT_SECONDS;
    const isCounted = (counts: RateCountRow | undefined) => counts?.nonces?.has(nonce) ?? false;
    const { done, row } = await settle(withSignal(table, signal), {
      send: (table) =>
        updateRow(
          table,
          key,
          expression`ADD #total ${amount}, ${attribute(used)} ${amount}, #nonces ${new Set([nonce])} SET #ttl = ${ttl}`,
          all(
            isBelow('total', boundOf(outer, amount)),
            isBelow(used, boundOf(inner, amount)),
            expression`NOT contains(#nonces, ${nonce})`,
          ),
          { ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
        ),
      async verify(table) {
        const row = await getRow(table, key);
        return isCounted(row) ? { done: true, row } : undefined;
      },
    });
    if (!row) throw new Error('the write of a count returned no row');
    return { passed: done || isCounted(row), counts: row };
  }

  /** The current windows of a cached refusal. If the inner window has ended since, the current one is unused. */
  function current({ windows }: Verdict, atMs: number): WindowState[] {
    const [unused] = windowsAt(atMs, undefined);
    return windows.map((state) => (state.window === inner && state.endsMs <= atMs ? unused : state));
  }

  return {
    /** The current windows, without counting a call. */
    async peek(account: Int64): Promise<readonly WindowState[]> {
      const atMs = now();
      const key = keys.rateCount(account, operation.name, indexOf(outer, atMs));
      return windowsAt(atMs, await getRow(table, key));
    },

    /**
     * Counts a call of an account, unless a window is full.
     * @param amount what the call counts for; one that is larger than a window's limit passes when the window is unused
     * @param signal ends the attempt to count
     */
    async take(account: Int64, signal?: AbortSignal, amount = 1): Promise<Verdict> {
      const atMs = now();
      const cached = refusals.get(String(account));
      if (cached && isIn(cached.refusedBy, atMs))
        return { refusedBy: cached.refusedBy, windows: current(cached, atMs) };

      const { passed, counts } = await count(account, atMs, amount, signal);
      const windows = windowsAt(atMs, counts);
      if (passed) return { windows };
      const refusedBy = (counts.total ?? 0) < boundOf(outer, amount) ? windows[0] : windows[1];
      // Where something is left, a smaller call may pass.
      if (refusedBy.remaining === 0) refusals.set(String(account), { windows, refusedBy });
      return { windows, refusedBy };
    },
  };
}

/** A call of this amount passes while less than this is used. */
const boundOf = ({ limit }: RateWindow, amount: number) => Math.max(1, limit - amount + 1);

const isIn = ({ window: { seconds }, endsMs }: WindowState, atMs: number) =>
  isCurrent(endsMs - seconds * 1000, seconds * 1000, atMs);

/**
 * Enforces the exact limit of an operation. Responses to counted or refused calls have the rate-limit headers; those to calls that
 * could not be counted do not.
 */
export const rateLimitMiddleware = (limiter: RateLimiter, { now }: Pick<Deps, 'now'>): ApiMiddleware => ({
  async before({ event }) {
    const { call } = event;
    const { windows, refusedBy } = await limiter.take(callerOf(event).accountId, call.signal);
    const atMs = now();
    call.headers = { ...call.headers, ...rateLimitHeaders(windows, atMs) };
    if (!refusedBy) return;
    const { limit, seconds } = refusedBy.window;
    throw refuse('tooFrequent', { limit, windowSeconds: seconds }, retryAfter(refusedBy, atMs));
  },
});

export const retryAfter = ({ endsMs }: WindowState, atMs: number) => ({
  'Retry-After': String(Math.max(1, secondsUntil(endsMs, atMs))),
});

const secondsUntil = (endsMs: number, atMs: number) => Math.max(0, Math.ceil((endsMs - atMs) / 1000));

/**
 * `X-RateLimit-*` for the window closest to exhaustion (the longer one if equal), and the
 * fields `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers for all windows.
 */
export function rateLimitHeaders(windows: readonly WindowState[], atMs: number): Record<string, string> {
  const nearest = windows.reduce((nearest, window) => (window.remaining <= nearest.remaining ? window : nearest));
  const fields = (field: (state: WindowState) => string) =>
    windows.map((state) => `"${state.window.name}";${field(state)}`).join(', ');
  return {
    'X-RateLimit-Limit': String(nearest.window.limit),
    'X-RateLimit-Remaining': String(nearest.remaining),
    'X-RateLimit-Reset': String(Math.ceil(nearest.endsMs / 1000)),
    'RateLimit-Policy': fields(({ window }) => `q=${window.limit};w=${window.seconds}`),
    RateLimit: fields(({ remaining, endsMs }) => `r=${remaining};t=${secondsUntil(endsMs, atMs)}`),
  };
}
