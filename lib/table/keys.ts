/**
 * The only place that builds or parses a key. Every row of a tenant begins with the account, so a query across tenants
 * cannot be written down; an app key is found by its hash, since it is what tells the account.
 */
import { type Int64, toInt64 } from '../json.ts';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

const of = (account: Int64, collection: string) => `ACCOUNT#${account}#${collection}`;
const STAMP_DIGITS = 15;

/** A feed entry's place in the order of all merges of its account: sorts as text as it does as a number. */
const stampText = (stamp: number) => String(stamp).padStart(STAMP_DIGITS, '0');

const ACCOUNT_DIGITS = 19;

/** Partition keys that are read as a range. */
export const collections = {
  /** The operator's list of all accounts; no call of a tenant reads it. */
  accounts: () => 'ACCOUNTS',
  members: (account: Int64) => of(account, 'MEMBERS'),
  hosts: (account: Int64) => of(account, 'HOSTS'),
  hostStatuses: (account: Int64) => of(account, 'HOST_STATUSES'),
  rum: (account: Int64) => of(account, 'RUM'),
  workItems: (account: Int64) => of(account, 'WORK_ITEMS'),
  incidents: (account: Int64) => of(account, 'INCIDENTS'),
  alerts: (account: Int64) => of(account, 'ALERTS'),
  feed: (account: Int64, incidentId: string) => of(account, `FEED#${incidentId.toLowerCase()}`),
} as const;

/** The key of each kind of row. ObjectIDs go in lower case, so that they compare without it. */
export const keys = {
  account: (account: Int64) => ({ pk: of(account, 'ACCOUNT'), sk: 'ACCOUNT' }),
  appKey: (hash: string) => ({ pk: `APP_KEY#${hash}`, sk: 'APP_KEY' }),
  listedAccount: (account: Int64) => ({
    pk: collections.accounts(),
    sk: String(account).padStart(ACCOUNT_DIGITS, '0'),
  }),
  member: (account: Int64, memberId: Int64) => ({ pk: collections.members(account), sk: String(memberId) }),
  host: (account: Int64, hostId: string) => ({ pk: collections.hosts(account), sk: hostId }),
  hostStatus: (account: Int64, hostId: string) => ({ pk: collections.hostStatuses(account), sk: hostId }),
  rumResource: (account: Int64) => ({ pk: collections.rum(account), sk: 'RESOURCE' }),
  rumUsage: (account: Int64) => ({ pk: collections.rum(account), sk: 'USAGE' }),
  workItem: (account: Int64, workItemId: string) => ({ pk: collections.workItems(account), sk: workItemId }),
  incident: (account: Int64, incidentId: string) => ({
    pk: collections.incidents(account),
    sk: incidentId.toLowerCase(),
  }),
  alert: (account: Int64, alertId: string) => ({ pk: collections.alerts(account), sk: alertId.toLowerCase() }),
  feedEntry: (account: Int64, incidentId: string, stamp: number) => ({
    pk: collections.feed(account, incidentId),
    sk: stampText(stamp),
  }),
  /** Further alerts of an entry that is too large for one row; `part` counts from 1. */
  feedEntryPart: (account: Int64, incidentId: string, stamp: number, part: number) => ({
    pk: collections.feed(account, incidentId),
    sk: `${stampText(stamp)}#${String(part).padStart(4, '0')}`,
  }),
  mergeLedger: (account: Int64) => ({ pk: of(account, 'MERGES'), sk: 'LEDGER' }),
  /** One row for each outer window, named by its number since the epoch. */
  rateCount: (account: Int64, operation: string, window: number) => ({
    pk: of(account, `RATE#${operation}`),
    sk: String(window),
  }),
  idempotency: (account: Int64, operation: string, keyHash: string) => ({
    pk: of(account, 'IDEMPOTENCY'),
    sk: `${operation}#${keyHash}`,
  }),
} as const satisfies Record<string, (...parts: never[]) => Key>;

export type RowKind = keyof typeof keys;

/** What a key says: the kind of row, and the values it was built from. */
export interface ParsedKey {
  kind: RowKind;
  account?: Int64;
  parts: (string | number | Int64)[];
}

const TENANT = /^ACCOUNT#(-?\d+)#([A-Z_]+)(?:#(.*))?$/s;

/** Reads a key back; undefined for a key that {@link keys} cannot have built. */
export function parseKey({ pk, sk }: Key): ParsedKey | undefined {
  if (pk.startsWith('APP_KEY#')) return { kind: 'appKey', parts: [pk.slice('APP_KEY#'.length)] };
  if (pk === collections.accounts())
    return { kind: 'listedAccount', account: toInt64(sk.replace(/^0+(?=.)/, '')), parts: [] };
  const [, digits, collection, rest] = TENANT.exec(pk) ?? [];
  if (digits === undefined) return undefined;
  const account = toInt64(digits);
  const row = (kind: RowKind, ...parts: ParsedKey['parts']): ParsedKey => ({ kind, account, parts });
  switch (collection) {
    case 'ACCOUNT':
      return row('account');
    case 'MEMBERS':
      return row('member', toInt64(sk));
    case 'HOSTS':
      return row('host', sk);
    case 'HOST_STATUSES':
      return row('hostStatus', sk);
    case 'RUM':
      return row(sk === 'RESOURCE' ? 'rumResource' : 'rumUsage');
    case 'WORK_ITEMS':
      return row('workItem', sk);
    case 'INCIDENTS':
      return row('incident', sk);
    case 'ALERTS':
      return row('alert', sk);
    case 'FEED': {
      const [stamp, part] = sk.split('#');
      const entry = [rest ?? '', Number(stamp)];
      return part === undefined ? row('feedEntry', ...entry) : row('feedEntryPart', ...entry, Number(part));
    }
    case 'MERGES':
      return row('mergeLedger');
    case 'RATE':
      return row('rateCount', rest ?? '', Number(sk));
    case 'IDEMPOTENCY': {
      const at = sk.indexOf('#');
      return row('idempotency', sk.slice(0, at), sk.slice(at + 1));
    }
    default:
      return undefined;
  }
}
