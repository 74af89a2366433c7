/**
 * The only code that builds or parses a key. {@link KINDS} declares each kind of row once: builder, parser, partitions and the patterns of
 * grants are made of that. Partition keys begin with the account, so no query reads rows of two accounts. There are two exceptions: app keys,
 * which are looked up to find the account, and the operator's list of all accounts.
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

type Value = string | number | Int64;

/** How values are written into a key, and read from it. */
interface Format<Values extends Value[]> {
  write(...values: Values): string;
  read(text: string): Values;
}

const TEXT: Format<[text: string]> = { write: (text) => text, read: (text) => [text] };
const INT64: Format<[number: Int64]> = { write: String, read: (text) => [toInt64(text)] };
const NUMBER: Format<[number: number]> = { write: String, read: (text) => [Number(text)] };
/** ObjectIDs are in lower case, so that the letter case of a request does not matter. */
const OBJECT_ID: Format<[id: string]> = { write: (id) => id.toLowerCase(), read: (text) => [text] };

const SEQUENCE_DIGITS = 15;
/** A number as text that sorts like the number. */
export const SEQUENCE: Format<[sequence: number]> = {
  write: (sequence) => String(sequence).padStart(SEQUENCE_DIGITS, '0'),
  read: NUMBER.read,
};

/** Only the second value may contain `#`. */
const pair = <First extends Value, Second extends Value>(
  first: Format<[First]>,
  second: Format<[Second]>,
): Format<[First, Second]> => ({
  write: (a, b) => `${first.write(a)}#${second.write(b)}`,
  read(text) {
    const end = text.indexOf('#');
    return [...first.read(text.slice(0, end)), ...second.read(text.slice(end + 1))];
  },
});

/** What is declared of a kind of row. */
interface Declaration {
  /** Its partition keys, with `*` for what differs, as conditions on `dynamodb:LeadingKeys` have them. */
  readonly pattern: string;
  /** The sort key of a kind that shares its partition with other kinds. */
  readonly only?: string;
  partition(...values: never[]): string;
  key(...values: never[]): Key;
  /** The values of a key besides the account. @param rest of the partition key, after its name */
  read(sk: string, rest: string): Value[];
  /** The account, of a kind whose partition key does not have it. */
  accountIn?(sk: string): Int64;
  /** The attribute that has the account, of a kind whose key does not have it. */
  readonly accountAttribute?: typeof ACCOUNT_ATTRIBUTE;
}

/** See {@link isOfAccount}. */
export const ACCOUNT_ATTRIBUTE = 'account_id';

/** The beginning of the partition keys of an account. @param account `*` in a pattern */
export const tenantPartition = (account: Int64 | '*', name: string) => `ACCOUNT#${account}#${name}`;

/** Rows of an account in one partition. */
const inAccount = <Values extends Value[]>(name: string, { write, read }: Format<Values>) => ({
  pattern: tenantPartition('*', name),
  partition: (account: Int64) => tenantPartition(account, name),
  key: (account: Int64, ...values: Values): Key => ({ pk: tenantPartition(account, name), sk: write(...values) }),
  read,
});

/** The one row of an account with this sort key. */
const single = (name: string, only: string) => ({
  ...inAccount<[]>(name, { write: () => only, read: () => [] }),
  only,
});

/** Rows of an account in a partition for each value of `first`. */
const inPartitions = <First extends Value, Values extends Value[]>(
  name: string,
  first: Format<[First]>,
  { write, read }: Format<Values>,
) => {
  const partition = (account: Int64, value: First) => `${tenantPartition(account, name)}#${first.write(value)}`;
  return {
    pattern: `${tenantPartition('*', name)}#*`,
    partition,
    key: (account: Int64, value: First, ...values: Values): Key => ({
      pk: partition(account, value),
      sk: write(...values),
    }),
    read: (sk: string, rest: string) => [...first.read(rest), ...read(sk)],
  };
};

const SHARDS = '0123456789abcdef';

/** Rows of an account in 16 partitions. @param shardOf the hexadecimal digit that a sort key selects */
const inShards = (name: string, { write, read }: Format<[id: string]>, shardOf: (sk: string) => string) => {
  const { pattern, partition } = inPartitions(name, TEXT, TEXT);
  const key = (account: Int64, id: string): Key => {
    const sk = write(id);
    return { pk: partition(account, shardOf(sk)), sk };
  };
  return { pattern, partition, key, read };
};

/** The shard of an alert, by its id in lower case: the last digit is evenly distributed, since ObjectIDs end in a counter. */
export const alertShard = (alertId: string) => alertId.slice(-1);

const ACCOUNT_DIGITS = 19;

const KINDS = {
  account: single('ACCOUNT', 'ACCOUNT'),
  /** By the hash of the key. */
  appKey: {
    pattern: 'APP_KEY#*',
    partition: (hash: string) => `APP_KEY#${hash}`,
    key: (hash: string): Key => ({ pk: `APP_KEY#${hash}`, sk: 'APP_KEY' }),
    read: (_sk: string, rest: string) => [rest],
    accountAttribute: ACCOUNT_ATTRIBUTE,
  },
  /** The operator's list of all accounts. */
  listedAccount: {
    pattern: 'ACCOUNTS',
    partition: () => 'ACCOUNTS',
    key: (account: Int64): Key => ({ pk: 'ACCOUNTS', sk: String(account).padStart(ACCOUNT_DIGITS, '0') }),
    read: () => [],
    accountIn: (sk: string) => toInt64(sk.replace(/^0+(?=.)/, '')),
  },
  /** A command of an operator, by its time. The id distinguishes commands of the same millisecond. */
  audit: inAccount('AUDIT', pair(SEQUENCE, TEXT)),
  /** By kind of record. */
  lastRecord: inAccount('LAST_RECORDS', TEXT),
  member: inAccount('MEMBERS', INT64),
  host: inAccount('HOSTS', TEXT),
  hostStatus: inAccount('HOST_STATUSES', TEXT),
  /** Apart from the hosts, so that no page of a fleet reads them. */
  retirement: inAccount('RETIREMENTS', TEXT),
  rumResource: single('RUM', 'RESOURCE'),
  rumUsage: single('RUM', 'USAGE'),
  workItem: inAccount('WORK_ITEMS', TEXT),
  incident: inAccount('INCIDENTS', OBJECT_ID),
  alert: inShards('ALERTS', OBJECT_ID, alertShard),
  /** A key has at most 255 characters, so that it fits into DynamoDB's 1,024 bytes of a sort key. */
  alertKey: inShards('ALERT_KEYS', TEXT, (alertKey) => hash('sha256', alertKey, 'hex').slice(0, 1)),
  /** By incident and sequence. */
  historyEntry: inPartitions('HISTORY', OBJECT_ID, SEQUENCE),
  /** The entries of all histories, in the order of their sequences. */
  logPointer: inAccount('LOG', SEQUENCE),
  logHead: single('LOG_HEAD', 'HEAD'),
  /** One row for each outer window of the rate limit of an operation: the number of the window since the epoch. */
  rateCount: inPartitions('RATE', TEXT, NUMBER),
  /** By operation and hash of the key. */
  idempotency: inAccount('IDEMPOTENCY', pair(TEXT, TEXT)),
} as const satisfies Readonly<Record<RowKind, Declaration>>;

type Kinds = typeof KINDS;
const DECLARATIONS: Readonly<Record<RowKind, Declaration>> = KINDS;
const ROW_KINDS = Object.keys(KINDS) as RowKind[];

/** The calls of this function are marked as pure, so that bundles leave out what they do not use. */
const ofEachKind = <Made>(make: (declaration: Declaration) => unknown) =>
  Object.fromEntries(ROW_KINDS.map((kind) => [kind, make(DECLARATIONS[kind])])) as Made;

/** The key of a row of each kind. */
export const keys = /* @__PURE__ */ ofEachKind<{
  readonly [Kind in RowKind]: (...values: Parameters<Kinds[Kind]['key']>) => KeyOf<Kind>;
}>(({ key }) => key);

/** The partition key of rows that are read together, of each kind. */
export const partitions = /* @__PURE__ */ ofEachKind<{
  readonly [Kind in RowKind]: (...values: Parameters<Kinds[Kind]['partition']>) => PartitionOf<Kind>;
}>(({ partition }) => partition);

/** The pattern of `dynamodb:LeadingKeys` for rows of each kind. */
export const patterns = /* @__PURE__ */ ofEachKind<Readonly<Record<RowKind, string>>>(({ pattern }) => pattern);

/** All partition keys of an account. @param partition `partitions.alert` or `partitions.alertKey` */
export const shardsOf = <Partition>(partition: (account: Int64, shard: string) => Partition, account: Int64) =>
  [...SHARDS].map((shard) => partition(account, shard));

/** The kind of row, and the values that the key was built from. */
export interface ParsedKey {
  kind: RowKind;
  account?: Int64;
  parts: Value[];
}

const KINDS_OF_PATTERN = /* @__PURE__ */ Map.groupBy(ROW_KINDS, (kind) => patterns[kind]);
const PARTITION_KEY = /^(?:ACCOUNT#(-?\d+)#)?([A-Z_]+)(?:#(.*))?$/s;

/** Parses a key that {@link keys} has built; undefined for one of no kind. */
export function parseKey({ pk, sk }: Key): ParsedKey | undefined {
  const [, digits, name = '', rest] = PARTITION_KEY.exec(pk) ?? [];
  const pattern = (digits === undefined ? name : tenantPartition('*', name)) + (rest === undefined ? '' : '#*');
  const kinds = KINDS_OF_PATTERN.get(pattern) ?? [];
  const kind = kinds.length > 1 ? kinds.find((each) => DECLARATIONS[each].only === sk) : kinds[0];
  if (!kind) return undefined;
  const { read, accountIn } = DECLARATIONS[kind];
  const account = accountIn?.(sk) ?? (digits === undefined ? undefined : toInt64(digits));
  return { kind, ...(account !== undefined && { account }), parts: read(sk, rest ?? '') };
}

/** Whether a row, of whatever kind, belongs to an account: its partition, its key or its attribute says so. */
export function isOfAccount(row: Key & { readonly [ACCOUNT_ATTRIBUTE]?: unknown }, account: Int64): boolean {
  if (row.pk.startsWith(tenantPartition(account, ''))) return true;
  const parsed = parseKey(row);
  if (!parsed) return false;
  const { accountAttribute } = DECLARATIONS[parsed.kind];
  return (parsed.account ?? (accountAttribute && row[accountAttribute])) === account;
}

/** Those of the rows that are of this kind, by their keys. */
export const ofKind = <Kind extends RowKind, Row extends Key>(kind: Kind, rows: readonly Row[]) =>
  rows.filter((row): row is Row & Stored<Kind> => parseKey(row)?.kind === kind);
