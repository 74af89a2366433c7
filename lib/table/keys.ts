/**
 * The only code that builds or parses a key. Partition keys begin with the account, so no query reads rows of two accounts. There are two
 * exceptions: app keys, which are looked up to find the account, and the operator's list of all accounts.
 */
import { hash } from 'node:crypto';
import { type Int64, toInt64 } from '../shared/json.ts';
import type { Rows } from './rows.ts';

export type Key = {
  readonly pk: string;
  readonly sk: string;
};

export type RowKind = keyof Rows;

declare const kind: unique symbol;

/** A partition key, typed by the kinds of rows that are stored under it. */
export type PartitionOf<Kind extends RowKind> = string & { readonly [kind]?: Kind };

export interface KeyOf<Kind extends RowKind> extends Key {
  readonly pk: PartitionOf<Kind>;
}

export type Stored<Kind extends RowKind> = Kind extends RowKind ? Key & Rows[Kind] : never;

export type AttributeOf<Kind extends RowKind> = Kind extends RowKind ? keyof Stored<Kind> & string : never;

/** A row of which only some attributes are read. */
export type ReadRow<Kind extends RowKind, Name extends AttributeOf<Kind>> = Kind extends RowKind
  ? Pick<Stored<Kind>, Name & keyof Stored<Kind>>
  : never;

const tenantPartition = <Kind extends RowKind>(account: Int64, collection: string) =>
  `ACCOUNT#${account}#${collection}` as PartitionOf<Kind>;

const historyPartition = <Kind extends RowKind>(account: Int64, incidentId: string) =>
  tenantPartition<Kind>(account, `FEED#${incidentId.toLowerCase()}`);

const SEQUENCE_DIGITS = 15;

/** A sequence as text that sorts like the number. */
const sequenceText = (sequence: number) => String(sequence).padStart(SEQUENCE_DIGITS, '0');

/** The last digit of an alert's id selects one of 16 partition keys. It is evenly distributed, since ObjectIDs end in a counter. */
const ALERT_SHARDS = '0123456789abcdef';

/** The shard of an alert, by its id in lower case. */
const alertShard = (alertId: string) => alertId.slice(-1);

const ACCOUNT_DIGITS = 19;

/** Partition keys of the rows that are read together. */
export const collections = {
  /** The operator's list of all accounts. No operation reads it. */
  accounts: () => 'ACCOUNTS' as PartitionOf<'listedAccount'>,
  audit: (account: Int64) => tenantPartition<'audit'>(account, 'AUDIT'),
  members: (account: Int64) => tenantPartition<'member'>(account, 'MEMBERS'),
  hosts: (account: Int64) => tenantPartition<'host'>(account, 'HOSTS'),
  hostStatuses: (account: Int64) => tenantPartition<'hostStatus'>(account, 'HOST_STATUSES'),
  /** Apart from the hosts, so that no page of a fleet reads them. */
  retirements: (account: Int64) => tenantPartition<'retirement'>(account, 'RETIREMENTS'),
  rum: (account: Int64) => tenantPartition<'rumResource' | 'rumUsage'>(account, 'RUM'),
  workItems: (account: Int64) => tenantPartition<'workItem'>(account, 'WORK_ITEMS'),
  incidents: (account: Int64) => tenantPartition<'incident'>(account, 'INCIDENTS'),
  /** One of the 16 partition keys of the account's alerts. `shard` is the last hexadecimal digit of the alert ids in it. */
  alerts: (account: Int64, shard: string) => tenantPartition<'alert'>(account, `ALERTS#${shard}`),
  alertShards: (account: Int64) =>
    [...ALERT_SHARDS].map((shard) => tenantPartition<'alert'>(account, `ALERTS#${shard}`)),
  /** One of the 16 partition keys of the account's alert keys. `shard` is a hexadecimal digit. */
  alertKeys: (account: Int64, shard: string) => tenantPartition<'alertKey'>(account, `ALERT_KEYS#${shard}`),
  alertKeyShards: (account: Int64) =>
    [...ALERT_SHARDS].map((shard) => tenantPartition<'alertKey'>(account, `ALERT_KEYS#${shard}`)),
  history: (account: Int64, incidentId: string) => historyPartition<'historyEntry'>(account, incidentId),
  /** The entries of all histories, in the order of their sequences. */
  log: (account: Int64) => tenantPartition<'logPointer'>(account, 'LOG'),
  logHead: (account: Int64) => tenantPartition<'logHead'>(account, 'LOG_HEAD'),
  idempotency: (account: Int64) => tenantPartition<'idempotency'>(account, 'IDEMPOTENCY'),
} as const;

/** The key of each kind of row. ObjectIDs are in lower case, so that the letter case of a request does not matter. */
export const keys = {
  account: (account: Int64) => ({ pk: tenantPartition<'account'>(account, 'ACCOUNT'), sk: 'ACCOUNT' }),
  appKey: (hash: string) => ({ pk: `APP_KEY#${hash}` as PartitionOf<'appKey'>, sk: 'APP_KEY' }),
  listedAccount: (account: Int64) => ({
    pk: collections.accounts(),
    sk: String(account).padStart(ACCOUNT_DIGITS, '0'),
  }),
  /** A command of an operator. The id distinguishes commands of the same millisecond. */
  audit: (account: Int64, atMs: number, id: string) => ({
    pk: collections.audit(account),
    sk: `${sequenceText(atMs)}#${id}`,
  }),
  member: (account: Int64, memberId: Int64) => ({ pk: collections.members(account), sk: String(memberId) }),
  host: (account: Int64, hostId: string) => ({ pk: collections.hosts(account), sk: hostId }),
  hostStatus: (account: Int64, hostId: string) => ({ pk: collections.hostStatuses(account), sk: hostId }),
  retirement: (account: Int64, hostId: string) => ({ pk: collections.retirements(account), sk: hostId }),
  rumResource: (account: Int64) => ({ pk: tenantPartition<'rumResource'>(account, 'RUM'), sk: 'RESOURCE' }),
  rumUsage: (account: Int64) => ({ pk: tenantPartition<'rumUsage'>(account, 'RUM'), sk: 'USAGE' }),
  workItem: (account: Int64, workItemId: string) => ({ pk: collections.workItems(account), sk: workItemId }),
  incident: (account: Int64, incidentId: string) => ({
    pk: collections.incidents(account),
    sk: incidentId.toLowerCase(),
  }),
  alert: (account: Int64, alertId: string) => {
    const id = alertId.toLowerCase();
    return { pk: collections.alerts(account, alertShard(id)), sk: id };
  },
  /** Of at most 255 characters, so that it fits into DynamoDB's 1,024 bytes of a sort key. */
  alertKey: (account: Int64, alertKey: string) => ({
    pk: collections.alertKeys(account, hash('sha256', alertKey, 'hex').slice(0, 1)),
    sk: alertKey,
  }),
  historyEntry: (account: Int64, incidentId: string, sequence: number) => ({
    pk: historyPartition<'historyEntry'>(account, incidentId),
    sk: sequenceText(sequence),
  }),
  logPointer: (account: Int64, sequence: number) => ({ pk: collections.log(account), sk: sequenceText(sequence) }),
  logHead: (account: Int64) => ({ pk: tenantPartition<'logHead'>(account, 'LOG_HEAD'), sk: 'HEAD' }),
  /** One row for each outer window of the rate limit. `window` is the number of the window since the epoch. */
  rateCount: (account: Int64, operation: string, window: number) => ({
    pk: tenantPartition<'rateCount'>(account, `RATE#${operation}`),
    sk: String(window),
  }),
  idempotency: (account: Int64, operation: string, keyHash: string) => ({
    pk: collections.idempotency(account),
    sk: `${operation}#${keyHash}`,
  }),
} as const satisfies { [Kind in RowKind]: (...parts: never[]) => KeyOf<Kind> };

/**
 * The index of open alerts: an alert that has not ended has both attributes. It has only keys, so that no other change of an alert is
 * written to it.
 */
export const OPEN_ALERTS_INDEX = {
  name: 'open-alerts',
  partitionKey: 'open_partition',
  sortKey: 'open_at',
  projection: 'KEYS_ONLY',
} as const;

/** How many partition keys of the index an account has for each severity: few, since a list queries each. */
const OPEN_SHARDS = 4;

const openAlertPartition = (account: Int64, severity: string, shard: number) =>
  tenantPartition<'alert'>(account, `OPEN_ALERTS#${severity}#${shard}`);

/** Keys of the index. Sort keys are in the order of the alerts' starts. */
export const openAlerts = {
  partition: (account: Int64, severity: string, alertId: string) =>
    openAlertPartition(account, severity, Number.parseInt(alertShard(alertId), 16) % OPEN_SHARDS),
  partitions: (account: Int64, severities: readonly string[]) =>
    severities.flatMap((severity) =>
      Array.from({ length: OPEN_SHARDS }, (_, shard) => openAlertPartition(account, severity, shard)),
    ),
  sortKey: (startedAtMs: number, alertId: string) => `${sequenceText(startedAtMs)}#${alertId}`,
  alertIdOf: (sortKey: string) => sortKey.slice(sortKey.indexOf('#') + 1),
};

/** The kind of row, and the values that the key was built from. */
export interface ParsedKey {
  kind: RowKind;
  account?: Int64;
  parts: (string | number | Int64)[];
}

/** Those of the rows that are of this kind, by their keys. */
export const ofKind = <Kind extends RowKind, Row extends Key>(kind: Kind, rows: readonly Row[]) =>
  rows.filter((row): row is Row & Stored<Kind> => parseKey(row)?.kind === kind);

const TENANT = /^ACCOUNT#(-?\d+)#([A-Z_]+)(?:#(.*))?$/s;

/** Parses a key that {@link keys} has built; undefined for an unknown partition key. */
export function parseKey({ pk, sk }: Key): ParsedKey | undefined {
  if (pk.startsWith('APP_KEY#')) return { kind: 'appKey', parts: [pk.slice('APP_KEY#'.length)] };
  if (pk === collections.accounts())
    return { kind: 'listedAccount', account: toInt64(sk.replace(/^0+(?=.)/, '')), parts: [] };
  const [, digits, collection, rest = ''] = TENANT.exec(pk) ?? [];
  if (digits === undefined) return undefined;
  const account = toInt64(digits);
  const row = (kind: RowKind, ...parts: ParsedKey['parts']): ParsedKey => ({ kind, account, parts });
  const separator = sk.indexOf('#');
  const [before, after] = [sk.slice(0, separator), sk.slice(separator + 1)];
  switch (collection) {
    case 'ACCOUNT':
      return row('account');
    case 'AUDIT':
      return row('audit', Number(before), after);
    case 'MEMBERS':
      return row('member', toInt64(sk));
    case 'HOSTS':
      return row('host', sk);
    case 'HOST_STATUSES':
      return row('hostStatus', sk);
    case 'RETIREMENTS':
      return row('retirement', sk);
    case 'RUM':
      return row(sk === 'RESOURCE' ? 'rumResource' : 'rumUsage');
    case 'WORK_ITEMS':
      return row('workItem', sk);
    case 'INCIDENTS':
      return row('incident', sk);
    case 'ALERTS':
      return row('alert', sk);
    case 'ALERT_KEYS':
      return row('alertKey', sk);
    case 'FEED':
      return row('historyEntry', rest, Number(sk));
    case 'LOG':
      return row('logPointer', Number(sk));
    case 'LOG_HEAD':
      return row('logHead');
    case 'RATE':
      return row('rateCount', rest, Number(sk));
    case 'IDEMPOTENCY':
      return row('idempotency', before, after);
    default:
      return undefined;
  }
}

/** A kind of partition key, named after the rows stored under it. */
export type KeyKind =
  | 'accountList'
  | 'account'
  | 'appKey'
  | 'hosts'
  | 'hostStatuses'
  | 'retirements'
  | 'rum'
  | 'workItems'
  | 'incidents'
  | 'alerts'
  | 'alertKeys'
  | 'openAlerts'
  | 'members'
  | 'history'
  | 'logHead'
  | 'log'
  | 'idempotency'
  | 'rate';

type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

/** What a function may do with rows: one statement of actions on partition keys of some kinds. */
export interface Grant {
  readonly actions: readonly TableAction[];
  readonly on: readonly KeyKind[];
  /** The only attributes that requests may name, besides the key attributes; absent: any. */
  readonly attributes?: readonly string[];
}
