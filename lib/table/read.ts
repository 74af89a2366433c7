/** Reads rows: one, many by their keys, or those of a partition. */
import {
  type AttributeValue,
  ProvisionedThroughputExceededException,
  QueryCommand as RawQueryCommand,
  type QueryCommandInput as RawQueryInput,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type BatchGetCommandOutput,
  GetCommand,
  paginateQuery,
  QueryCommand,
} from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../aws/http-handler.ts';
import { backoff, CONCURRENCY, chunksOf, forEach, isThrottled, THROTTLING } from '../shared/concurrency.ts';
import { toInt64 } from '../shared/json.ts';
import type { Table } from './client.ts';
import { expression, expressionsOf, projection } from './expression.ts';
import type { AttributeOf, Key, KeyOf, PartitionOf, ReadRow, RowKind, Stored } from './keys.ts';

/** DynamoDB removes an expired row some days later. Until then reads take it as gone, but for {@link getStoredRow}. */
const isThere = ({ now }: Pick<Table, 'now'>, row: object) =>
  ((row as { ttl?: number }).ttl ?? Number.POSITIVE_INFINITY) * 1_000 > now();

/** Adds to attributes that are read what tells whether the row has expired. */
const withExpiry = (attributes: readonly string[]) => [...new Set([...attributes, 'ttl'])];

/** Reads a row, strongly consistent. @returns undefined when there is none */
export async function getRow<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  key: KeyOf<Kind>,
  /** Attributes to read; absent: all. */
  attributes?: readonly Name[],
): Promise<ReadRow<Kind, Name> | undefined> {
  const row = await getStoredRow(table, key, attributes && (withExpiry(attributes) as Name[]));
  return row && isThere(table, row) ? row : undefined;
}

/** Like {@link getRow}, also if it has expired: for writers, whose conditions the stored row meets. */
export async function getStoredRow<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  { client, name, signal }: Table,
  key: KeyOf<Kind>,
  /** Attributes to read; absent: all. */
  attributes?: readonly Name[],
): Promise<ReadRow<Kind, Name> | undefined> {
  const projected = attributes && expressionsOf({ ProjectionExpression: projection(attributes) });
  const command = new GetCommand({ TableName: name, Key: key, ConsistentRead: true, ...projected });
  const { Item } = await client.send(command, optionsOf(signal));
  return Item as ReadRow<Kind, Name> | undefined;
}

/** Maximum keys of one call. */
const MAX_BATCH = 100;
/** Maximum attempts of a batch without a signal: about ten seconds. */
const MAX_ATTEMPTS = 50;

/** Name of a row in a {@link RowMap}. */
export const rowName = ({ pk, sk }: Key) => `${pk}\n${sk}`;

/** Rows by {@link rowName}. */
export class RowMap<Kind extends RowKind, Name extends AttributeOf<Kind> = AttributeOf<Kind>> extends Map<
  string,
  Key & ReadRow<Kind, Name>
> {
  /** The row with this key, typed by the kind of the key; undefined if it does not exist. */
  of<Wanted extends Kind>(key: KeyOf<Wanted>): (Key & ReadRow<Wanted, Name & AttributeOf<Wanted>>) | undefined {
    return this.get(rowName(key)) as (Key & ReadRow<Wanted, Name & AttributeOf<Wanted>>) | undefined;
  }
}

/**
 * Reads rows by their keys, a hundred per call, with concurrent calls. Retries throttled and unprocessed keys until the table's signal
 * aborts; without a signal about ten seconds.
 * @param keys without repetitions, which DynamoDB refuses
 * @param options `consistent`: whether reads are strongly consistent; `attributes`: those to read besides the key, by default all;
 *   `concurrency`: calls at the same time
 * @returns the rows that exist, and the read units used, repeats included: one per row for each started 4 KB, half of that if not consistent
 */
export async function batchGet<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  keys: readonly KeyOf<Kind>[],
  {
    consistent = true,
    attributes,
    concurrency = CONCURRENCY,
  }: { consistent?: boolean; attributes?: readonly Name[]; concurrency?: number } = {},
): Promise<{ rows: RowMap<Kind, Name>; units: number }> {
  const { client, name: tableName, signal } = table;
  const rows = new RowMap<Kind, Name>();
  let units = 0;
  const projected =
    attributes && expressionsOf({ ProjectionExpression: projection(withExpiry(['pk', 'sk', ...attributes])) });

  async function readBatch(batch: readonly KeyOf<Kind>[], batchSignal: AbortSignal): Promise<void> {
    let request: BatchGetCommandInput['RequestItems'] = {
      [tableName]: { Keys: batch.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: consistent, ...projected },
    };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer: BatchGetCommandOutput = await client.send(
          new BatchGetCommand({ RequestItems: request, ReturnConsumedCapacity: 'TOTAL' }),
          optionsOf(batchSignal),
        );
        const found = (answer.Responses?.[tableName] ?? []) as (Key & ReadRow<Kind, Name>)[];
        for (const row of found) if (isThere(table, row)) rows.set(rowName(row), row);
        for (const { CapacityUnits = 0 } of answer.ConsumedCapacity ?? []) units += CapacityUnits;
        request = answer.UnprocessedKeys;
        if (!request?.[tableName]) return;
        if (!signal && attempt === MAX_ATTEMPTS) {
          const { $metadata } = answer;
          throw new ProvisionedThroughputExceededException({ $metadata, message: 'some keys stay unprocessed' });
        }
      } catch (error) {
        if (!isThrottled(error) || (!signal && attempt === MAX_ATTEMPTS)) throw error;
      }
      await backoff(attempt, THROTTLING, batchSignal);
    }
  }

  await forEach(chunksOf(keys, MAX_BATCH), readBatch, { concurrency, signal });
  return { rows, units };
}

export interface QueryOptions<Name> {
  /** Only rows with this sort key or a higher one. */
  from?: string;
  /** Attributes to read; absent: all. */
  attributes?: readonly Name[];
}

/** Reads the rows of a partition in ascending order, strongly consistent, a page of DynamoDB at a time. */
export async function* queryAll<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options?: QueryOptions<Name>,
): AsyncGenerator<ReadRow<Kind, Name>> {
  const { client, signal } = table;
  for await (const { Items = [] } of paginateQuery({ client }, inputOf(table, partition, options), optionsOf(signal)))
    yield* Items.filter((row) => isThere(table, row)) as ReadRow<Kind, Name>[];
}

/** Like {@link queryAll}, as an array. */
export const queryRows = <Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options?: QueryOptions<Name>,
): Promise<ReadRow<Kind, Name>[]> => Array.fromAsync(queryAll(table, partition, options));

export interface PageOptions {
  limit: number;
  /** The page begins after this sort key; undefined: with the first row, or the last if descending. */
  after?: string | undefined;
  /** Highest sort keys first. */
  descending?: boolean;
}

/**
 * Reads one page of a partition, strongly consistent unless it says otherwise.
 * @returns `next`: the `after` of the next page, which may be empty; undefined: none follows. `units`: the read units that it took
 */
export async function queryPage<Kind extends RowKind>(
  table: Table,
  partition: PartitionOf<Kind>,
  { limit, after, descending = false, consistent = true }: PageOptions & { consistent?: boolean },
): Promise<{ rows: Stored<Kind>[]; next: string | undefined; units: number }> {
  const command = new QueryCommand({
    ...inputOf(table, partition),
    ConsistentRead: consistent,
    Limit: limit,
    ScanIndexForward: !descending,
    ...(after !== undefined && { ExclusiveStartKey: { pk: partition, sk: after } }),
    ReturnConsumedCapacity: 'TOTAL',
  });
  const { Items = [], LastEvaluatedKey, ConsumedCapacity } = await table.client.send(command, optionsOf(table.signal));
  const rows = Items.filter((row) => isThere(table, row)) as Stored<Kind>[];
  return { rows, next: LastEvaluatedKey?.sk, units: ConsumedCapacity?.CapacityUnits ?? 0 };
}

function inputOf({ name }: Table, partition: string, { from, attributes }: QueryOptions<string> = {}) {
  const sortKeyCondition = from === undefined ? undefined : expression` AND sk >= ${from}`;
  return {
    TableName: name,
    ConsistentRead: true,
    ...expressionsOf({
      KeyConditionExpression: expression`pk = ${partition}${sortKeyCondition}`,
      ProjectionExpression: attributes && projection(withExpiry(attributes)),
    }),
  };
}

type WireRow = Record<string, AttributeValue>;

/**
 * Reads one page of a partition, eventually consistent. It converts the values itself, since the document client would copy each one
 * again, and a rare filter reads thousands of rows.
 * @param keyName field of the result that gets the sort key
 * @param attributes those to read besides the sort key
 * @returns the rows in ascending order, and the last sort key that DynamoDB read; undefined when it knows of no further row
 */
export async function queryRange<Row>(
  table: Table,
  partition: string,
  { after, limit }: Pick<PageOptions, 'after' | 'limit'>,
  keyName: string,
  attributes: readonly string[],
): Promise<{ rows: Row[]; reached: string | undefined }> {
  const sortKeyCondition = after === undefined ? undefined : expression` AND sk > ${{ S: after }}`;
  const command = new RawQueryCommand({
    TableName: table.name,
    ...(expressionsOf({
      KeyConditionExpression: expression`pk = ${{ S: partition }}${sortKeyCondition}`,
      ProjectionExpression: projection(['sk', ...attributes]),
    }) as Pick<RawQueryInput, 'KeyConditionExpression'>),
    Limit: limit,
  });
  const { Items = [], LastEvaluatedKey } = await table.client.send(command, optionsOf(table.signal));
  return { rows: Items.map((item) => plainRow(table, item, keyName) as Row), reached: LastEvaluatedKey?.sk?.S };
}

/** Converts a row. An attribute that is null counts as absent. */
function plainRow(table: Table, item: WireRow, keyName: string): Record<string, unknown> {
  const row: Record<string, unknown> = { [keyName]: item.sk?.S };
  for (const name in item) {
    const value = item[name] as AttributeValue;
    if (name !== 'sk' && value.NULL === undefined) row[name] = plainValue(table, value);
  }
  return row;
}

function plainValue(table: Table, value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return /^-?\d+$/.test(value.N) ? toInt64(value.N) : Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  // Lists, such as reason codes, and whatever types the rows of other systems have.
  return table.unmarshall<{ value: unknown }>({ value }).value;
}
