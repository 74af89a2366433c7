import { createHash } from 'node:crypto';
import QuickLRU from 'quick-lru';
import { type Table, withSignal } from '../dynamodb/client.ts';
import { all, EXISTS, isBelow, set } from '../dynamodb/expression.ts';
import { keys } from '../dynamodb/keys.ts';
import { getRow, updateRow } from '../dynamodb/row.ts';
import type { AppKeyRow } from '../dynamodb/rows.ts';
import { isCurrent } from '../shared/current.ts';
import type { Deps } from '../shared/deps.ts';
import type { Int64 } from '../shared/json.ts';

/** Who a valid key belongs to, and what that account may do. */
export interface Caller {
  readonly accountId: Int64;
  /** The first 16 hex digits of the key's hash: identifies the key without revealing it. */
  readonly appKeyId: string;
  readonly permissions: readonly string[];
  /** Signs the cursors of the account. */
  readonly cursorSecret: Uint8Array;
  /** The account's gateway key; absent until an operator has created it. */
  readonly gatewayKey?: string;
}

const CACHE_SIZE = 10_000;
const UNKNOWN_KEY_MS = 3_000;

/** A key's last use is stored at most once in this time. */
const USE_INTERVAL_SECONDS = 3_600;
/** A call waits for that write at most this long. */
const USE_TIMEOUT_MS = 100;

/** The only form in which a key is stored or compared: its SHA-256, in hex. */
export const hashAppKey = (appKey: string) => createHash('sha256').update(appKey).digest('hex');

/** The part of a key's hash that is shown. */
export const appKeyIdOf = (hash: string) => hash.slice(0, 16);

export type AppKeys = ReturnType<typeof createAppKeys>;

/** The row of a key; undefined: there is no such key. */
type Found = AppKeyRow | undefined;

interface AppKeysOptions {
  cacheSize?: number;
  lookUpMs?: number;
  recordsUse?: boolean;
}

/**
 * Looks app keys up, with a cache. Concurrent calls share the look-up of a key. A found key is cached for `appKeyCacheSeconds` from the
 * start of its look-up, an unknown one for at most three seconds.
 * @param options `cacheSize`: soft limit, QuickLRU keeps up to twice as many; `lookUpMs`: time limit of a look-up in milliseconds;
 *   `recordsUse`: stores when a valid key was last used, at most once an hour
 */
export function createAppKeys(
  { table, now, settings, timeLimits }: Pick<Deps, 'table' | 'now' | 'settings' | 'timeLimits'>,
  { cacheSize = CACHE_SIZE, lookUpMs = timeLimits.callMs, recordsUse = false }: AppKeysOptions = {},
) {
  const trustedMs = settings.appKeyCacheSeconds * 1000;
  const lifetimeMs = (row: Found) => (row ? trustedMs : Math.min(trustedMs, UNKNOWN_KEY_MS));
  const rows = new QuickLRU<string, { row: Found; sinceMs: number }>({ maxSize: cacheSize });
  const pending = new Map<string, Promise<Found>>();

  async function lookUp(hash: string): Promise<Found> {
    const sinceMs = now();
    // Its own signal, since other calls may share it.
    const row = await getRow(withSignal(table, AbortSignal.timeout(lookUpMs)), keys.appKey(hash));
    rows.set(hash, { row, sinceMs });
    if (recordsUse && row && isValid(row, sinceMs)) await recordUse(table, hash, row, sinceMs);
    return row;
  }

  function rowOf(hash: string): Found | Promise<Found> {
    const known = rows.get(hash);
    if (known && isCurrent(known.sinceMs, lifetimeMs(known.row), now())) return known.row;
    let promise = pending.get(hash);
    if (!promise) {
      promise = lookUp(hash).finally(() => pending.delete(hash));
      pending.set(hash, promise);
    }
    return promise;
  }

  return {
    /**
     * The caller that an app key stands for; undefined for one that is unknown, expired, revoked or of a suspended account.
     * Unknown, expired and valid keys take the same work.
     * @param call its signal ends the wait for a lookup; the lookup continues, since other calls may wait for it
     */
    async find(appKey: string, call?: { readonly signal: AbortSignal }): Promise<Caller | undefined> {
      const hash = hashAppKey(appKey);
      const found = rowOf(hash);
      const row = await (found instanceof Promise && call ? untilAborted(call.signal, found) : found);
      if (!row || !isValid(row, now())) return undefined;
      return {
        accountId: row.account_id,
        appKeyId: appKeyIdOf(hash),
        permissions: row.permissions,
        cursorSecret: row.cursor_secret,
        ...(row.gateway_key !== undefined && { gatewayKey: row.gateway_key }),
      };
    },
  };
}

/** Stores that a key is used, unless another function has done so within the hour. Errors are ignored: the next look-up tries again. */
async function recordUse(table: Table, hash: string, { last_used_at = 0 }: AppKeyRow, nowMs: number): Promise<void> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const due = nowSeconds - USE_INTERVAL_SECONDS;
  if (last_used_at > due) return;
  const isDue = all(EXISTS, isBelow('last_used_at', due + 1));
  await updateRow(
    withSignal(table, AbortSignal.timeout(USE_TIMEOUT_MS)),
    keys.appKey(hash),
    set({ last_used_at: nowSeconds }),
    isDue,
  ).catch(() => undefined);
}

/** Waits for a promise until the signal aborts. @throws the signal's reason */
function untilAborted<Value>(signal: AbortSignal, waitedFor: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    waitedFor.then(resolve, reject);
  });
}

function isValid(row: AppKeyRow, nowMs: number): boolean {
  if (row.suspended || row.revoked_at !== undefined) return false;
  return row.expires_at === undefined || nowMs < row.expires_at * 1000;
}
