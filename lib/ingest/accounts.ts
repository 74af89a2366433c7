/** Whether the records of an account are accepted. */
import QuickLRU from 'quick-lru';
import type { Deps } from '../deps.ts';
import { isCurrent, type Moment, momentOf } from '../http/app-keys.ts';
import { type Int64, isInt64, toInt64 } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { getRow } from '../table/read.ts';

const MAX_KNOWN_ACCOUNTS = 10_000;
/** How long the records of an account are accepted after it was looked up, and so after its suspension or the beginning of its erasure. */
export const ACCOUNT_MS = 30_000;

/** `erased`: its records are dropped, and their text is kept nowhere. */
export type Acceptance = 'accepted' | 'erased' | { readonly refusedBecause: string };

const SEND_AGAIN = 'then send the record again, for example by the redrive of this queue';

/** Looks accounts up, and remembers for 30 s which ones are accepted. */
export function createAcceptance(clocks: Pick<Deps, 'now' | 'monotonicNow'>) {
  const accepted = new QuickLRU<string, Moment>({ maxSize: MAX_KNOWN_ACCOUNTS });

  return async function acceptanceOf(table: Table, account: Int64): Promise<Acceptance> {
    const name = String(account);
    const now = momentOf(clocks);
    const since = accepted.get(name);
    if (since && isCurrent(since, ACCOUNT_MS, clocks)) return 'accepted';
    const row = await getRow(table, keys.account(account), ['account_id', 'suspended', 'erased_at_ms']);
    if (!row) return { refusedBecause: `account ${account} does not exist: create it, ${SEND_AGAIN}` };
    if (row.erased_at_ms !== undefined) return 'erased';
    if (row.suspended) return { refusedBecause: `account ${account} is suspended: end that, ${SEND_AGAIN}` };
    accepted.set(name, now);
    return 'accepted';
  };
}

/** The accounts of a refused text: of each line that which it names, or else the one of its message's group; `undefined`: neither. */
export function accountsOf(lines: Iterable<unknown>, group: Int64 | undefined): Set<Int64 | undefined> {
  const accounts = new Set<Int64 | undefined>();
  for (const line of lines) {
    const { account_id } = (line ?? {}) as { account_id?: unknown };
    accounts.add(isInt64(account_id) ? account_id : group);
  }
  return accounts;
}

/** The account of a message's group, which over HTTPS is the caller's; undefined if its sender has named the group otherwise. */
export function accountOfGroup(group = ''): Int64 | undefined {
  const account = /^\d{1,19}$/.test(group) ? toInt64(group) : undefined;
  return isInt64(account) ? account : undefined;
}
