/** Who calls, and what that account may do. */
import { createHash } from 'node:crypto';
import QuickLRU from 'quick-lru';
import type { Deps } from '../deps.ts';
import type { AppKeyRow } from '../model/app-key.ts';
import { codePoints, type Int64 } from '../shared/json.ts';
import { type Table, withSignal } from '../table/client.ts';
import { all, EXISTS, isBelow, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { getRow } from '../table/read.ts';
import { updateRow } from '../table/write.ts';
import { queryValuesOf } from './body.ts';
import { ApiError, refusal } from './errors.ts';
import type { ApiEvent, ApiMiddleware, Caller } from './operation.ts';

/** How many keys are cached at least: QuickLRU holds up to twice as many. */
const CACHE_SIZE = 10_000;
/** How long a key that exists is cached, and a revoked one may still be accepted. */
const KEY_MS = 30_000;
/** How long an unknown key is cached. It is short, since the key may be created meanwhile. */
const UNKNOWN_KEY_MS = 3_000;

/** A key's last use is stored at most once in this time. */
const USE_INTERVAL_SECONDS = 3_600;
/** A call waits for that write at most this long. */
const USE_TIMEOUT_MS = 100;

/** The only form in which a key is stored or compared: its SHA-256, in hex. */
export const hashAppKey = (appKey: string) => createHash('sha256').update(appKey).digest('hex');

/** The id of a key in logs and commands: the beginning of its hash. */
export const appKeyIdOf = (hash: string) => hash.slice(0, 16);

export type AppKeys = ReturnType<typeof createAppKeys>;

/** The row of a key; undefined if there is no such key. */
type MaybeRow = AppKeyRow | undefined;

/** A key that the table has, and why it is refused. */
export interface RefusedKey {
  readonly accountId: Int64;
  readonly appKeyId: string;
  readonly reason: 'suspended' | 'revoked' | 'expired';
}

interface AppKeysOptions {
  /** Time limit of a lookup in milliseconds. */
  lookupMs?: number;
  /** Whether to store when a valid key was last used, at most once an hour. */
  recordsUse?: boolean;
}

interface LookUp {
  row: MaybeRow;
  since: Moment;
}

/**
 * Looks app keys up, with a cache. Concurrent calls share the look-up of a key. A key that exists is trusted for 30 s from the start of its
 * look-up, an unknown one is remembered for three.
 */
export function createAppKeys(
  deps: Pick<Deps, 'table' | 'now' | 'monotonicNow' | 'timeLimits'>,
  { lookupMs = deps.timeLimits.callMs, recordsUse = false }: AppKeysOptions = {},
) {
  const { table, now } = deps;
  const lifetimeMs = (row: MaybeRow) => (row ? KEY_MS : UNKNOWN_KEY_MS);
  const cache = new QuickLRU<string, LookUp>({ maxSize: CACHE_SIZE });
  const pending = new Map<string, Promise<LookUp>>();

  async function lookUp(hash: string): Promise<LookUp> {
    const since = momentOf(deps);
    // The look-up does not end with the call's signal, since other calls may share it.
    const row = await getRow(withSignal(table, AbortSignal.timeout(lookupMs)), keys.appKey(hash));
    const found = { row, since };
    cache.set(hash, found);
    if (recordsUse && row && !reasonToRefuse(row, since.unixMs)) await recordUse(table, hash, row, since.unixMs);
    return found;
  }

  function find(hash: string): LookUp | Promise<LookUp> {
    const cached = cache.get(hash);
    if (cached && isCurrent(cached.since, lifetimeMs(cached.row), deps)) return cached;
    let promise = pending.get(hash);
    if (!promise) {
      promise = lookUp(hash).finally(() => pending.delete(hash));
      pending.set(hash, promise);
    }
    return promise;
  }

  /** The row of a key. A process that was frozen may end a look-up long after it began: then it looks the key up again. */
  async function rowOf(hash: string, call: { readonly signal: AbortSignal } | undefined): Promise<MaybeRow> {
    for (;;) {
      const found = find(hash);
      const { row, since } = await (found instanceof Promise && call ? untilAborted(call.signal, found) : found);
      if (isCurrent(since, KEY_MS, deps)) return row;
    }
  }

  return {
    /**
     * The caller that an app key identifies; undefined if the key is unknown, expired or revoked, or its account is suspended.
     * A look-up does the same work in all of these cases, so that its duration does not tell why.
     * @param call its signal ends the wait for a look-up; the look-up continues, since other calls may wait for it
     */
    async find(appKey: string, call?: { readonly signal: AbortSignal }): Promise<Caller | undefined> {
      const hash = hashAppKey(appKey);
      const row = await rowOf(hash, call);
      if (!row || reasonToRefuse(row, now())) return undefined;
      return {
        accountId: row.account_id,
        appKeyId: appKeyIdOf(hash),
        permissions: row.permissions,
        cursorSecret: row.cursor_secret,
        ...(row.gateway_key !== undefined && { gatewayKey: row.gateway_key }),
      };
    },

    /** A key for which {@link find} gave no caller, if the table has it. The cache has the look-up of that. */
    async findRefused(appKey: string): Promise<RefusedKey | undefined> {
      const hash = hashAppKey(appKey);
      const row = await rowOf(hash, undefined);
      const reason = row && reasonToRefuse(row, now());
      return reason && { accountId: row.account_id, appKeyId: appKeyIdOf(hash), reason };
    },
  };
}

/** Stores that a key is used, unless that was stored within the last hour. Ignores errors: the next lookup tries again. */
async function recordUse(table: Table, hash: string, { last_used_at = 0 }: AppKeyRow, nowMs: number): Promise<void> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const oneIntervalAgo = nowSeconds - USE_INTERVAL_SECONDS;
  if (last_used_at > oneIntervalAgo) return;
  // Another function may have stored it since this one read the row.
  const isDue = all(EXISTS, isBelow('last_used_at', oneIntervalAgo + 1));
  await updateRow(
    withSignal(table, AbortSignal.timeout(USE_TIMEOUT_MS)),
    keys.appKey(hash),
    set({ last_used_at: nowSeconds }),
    isDue,
  ).catch(() => undefined);
}

/** Waits for a promise, at most until the signal aborts. @throws the signal's reason */
function untilAborted<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stopWaiting = () => reject(signal.reason);
    if (signal.aborted) stopWaiting();
    signal.addEventListener('abort', stopWaiting, { once: true });
    promise.then(resolve, reject);
  });
}

function reasonToRefuse(row: AppKeyRow, nowMs: number): RefusedKey['reason'] | undefined {
  if (row.suspended) return 'suspended';
  if (row.revoked_at !== undefined) return 'revoked';
  return row.expires_at === undefined || nowMs < row.expires_at * 1000 ? undefined : 'expired';
}

/** Maximum length, in code points. */
const MAX_APP_KEY_LENGTH = 256;

/**
 * Identifies the caller by the app key, and removes the key from the event, so that no later code can log it. Every
 * invalid key gets the same `Unauthorized` response, and so do several keys.
 */
export const callerMiddleware = (appKeys: AppKeys): ApiMiddleware => ({
  async before({ event }) {
    const appKeysSent = takeAppKeys(event);
    const appKey = appKeysSent.length === 1 ? appKeysSent[0] : undefined;
    const caller =
      appKey && codePoints(appKey) <= MAX_APP_KEY_LENGTH ? await appKeys.find(appKey, event.call) : undefined;
    if (!caller) throw new ApiError('Unauthorized');
    event.call.caller = caller;
  },
});

export const permissionMiddleware = (permission: string): ApiMiddleware => ({
  before({ event }) {
    if (!callerOf(event).permissions.includes(permission)) throw refusal('permissionMissing', { permission });
  },
});

/** The caller of a call that passed {@link callerMiddleware}. */
export function callerOf({ call }: Pick<ApiEvent, 'call'>): Caller {
  if (!call.caller) throw new Error('the caller middleware has not run');
  return call.caller;
}

/** Removes every `app_key` of the query string from the event, and returns their values. */
function takeAppKeys(event: ApiEvent): string[] {
  const all = queryValuesOf(event, 'app_key');
  delete event.queryStringParameters?.app_key;
  delete event.multiValueQueryStringParameters?.app_key;
  return all;
}

/** A moment by both clocks of a process, in milliseconds. */
export interface Moment {
  readonly unixMs: number;
  readonly monotonicMs: number;
}

type Clocks = Pick<Deps, 'now' | 'monotonicNow'>;

export const momentOf = ({ now, monotonicNow }: Clocks): Moment => ({ unixMs: now(), monotonicMs: monotonicNow() });

/**
 * Milliseconds since a moment. No clock alone tells: the time of day may be set back, and while Lambda freezes a process, its monotonic clock
 * may stand still. So the older of the ages by both clocks counts.
 */
export const ageOf = ({ unixMs, monotonicMs }: Moment, { now, monotonicNow }: Clocks): number =>
  Math.max(now() - unixMs, monotonicNow() - monotonicMs);

/**
 * Whether what a warm process has read at a moment is still current. It is not if the clock was set back to before the moment: then the age is
 * unknown.
 */
export const isCurrent = (since: Moment, lifetimeMs: number, clocks: Clocks): boolean =>
  clocks.now() >= since.unixMs && ageOf(since, clocks) < lifetimeMs;
