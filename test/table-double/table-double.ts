/**
 * A DynamoDB table in memory with the service's index, which is never behind, for the kinds of request that the service makes, as the
 * document client takes them. It answers at once.
 * `table-double.test.ts` compares it with DynamoDB Local. Not modelled: sizes of rows and transactions, pages of 1 MB, and capacity but that of batches of reads.
 */
import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { ALERT_INDEX } from '../../lib/table/alert-index.ts';
import type { Key } from '../../lib/table/keys.ts';
import { rowBytes } from '../../lib/table/row-size.ts';
import type { ActionKind, BatchWrite, Expressions, KeysAndAttributes, Request, Transaction, Write } from './client.ts';
import { type Context, Invalid, parseCondition, parseUpdate, projected } from './expressions.ts';
import { canonical, compare, type Item, normalize, type Value } from './values.ts';

/** Stored items by their keys. A stored item never changes: a write replaces it. */
export type Rows = ReadonlyMap<string, Item>;

/** What a request changed of one item; undefined: there was none, or is none any more. */
export interface Change {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

const MAX_ACTIONS = 100;
const MAX_READS = 100;
const MAX_WRITES = 25;
const $metadata = { httpStatusCode: 400 };
const CONDITION_FAILED = 'The conditional request failed';

const invalid = (message: string) =>
  new DynamoDBServiceException({ name: 'ValidationException', $fault: 'client', message, $metadata });

const textOf = ({ pk, sk }: Key | Item) => `${pk}\n${sk}`;

/** @throws as DynamoDB does if a request has too many rows, or one of them twice */
function requireDistinct(keys: readonly string[], max: number): void {
  if (keys.length > max) throw invalid(`${keys.length} items are more than ${max}`);
  if (new Set(keys).size < keys.length) throw invalid('An item is in the request twice');
}

const contextOf = (
  item: Item | undefined,
  { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }: Expressions,
): Context => ({ item: item ?? {}, names, values });

interface QueryInput extends Expressions {
  IndexName?: string;
  ExclusiveStartKey?: Key;
  Limit?: number;
  ScanIndexForward?: boolean;
}

/** The condition of a write does not hold. */
class ConditionFailed extends Error {}

export class TableDouble {
  readonly #rows: Map<string, Item>;
  /** The actions of applied transactions, by ClientRequestToken. */
  readonly #tokens = new Map<string, string>();
  readonly #onChanges: (changes: readonly Change[]) => void;
  /** Of the request that is being applied. */
  #changes: Change[] = [];

  /** @param onChanges gets what each request changed, as the table's stream does: a write that leaves its item as it was is no change */
  constructor(rows: Rows = new Map(), onChanges: (changes: readonly Change[]) => void = () => undefined) {
    this.#rows = new Map(rows);
    this.#onChanges = onChanges;
  }

  /** The rows as they are now. */
  get rows(): Rows {
    return new Map(this.#rows);
  }

  items = (): Item[] => [...this.#rows.values()];

  /** @throws the errors that the client throws */
  apply({ name, input }: Request): unknown {
    this.#changes = [];
    const command = this.#commands[name];
    if (!command) throw new Error(`the table double has no ${name}`);
    const reply = command(input);
    if (this.#changes.length > 0) this.#onChanges(this.#changes);
    return reply;
  }

  readonly #commands: Readonly<Record<string, (input: Request['input']) => unknown>> = {
    GetCommand: (input) => this.#get(input),
    BatchGetCommand: (input) => this.#batchGet(input),
    QueryCommand: (input) => this.#query(input),
    ScanCommand: (input) => this.#scan(input),
    PutCommand: (input) => this.#singleWrite('Put', input),
    UpdateCommand: (input) => this.#singleWrite('Update', input),
    DeleteCommand: (input) => this.#singleWrite('Delete', input),
    BatchWriteCommand: (input) => this.#batchWrite(input),
    TransactWriteCommand: (input) => this.#transact(input),
  };

  #get(input: Expressions & { Key: Key }): unknown {
    const item = this.#rows.get(textOf(input.Key));
    return item ? { Item: returned(item, input) } : {};
  }

  #batchGet({ RequestItems }: { RequestItems: Record<string, KeysAndAttributes> }): unknown {
    const [[tableName, request]] = Object.entries(RequestItems) as [[string, KeysAndAttributes]];
    const keys = request.Keys.map(textOf);
    requireDistinct(keys, MAX_READS);
    const stored = keys.map((key) => this.#rows.get(key));
    const found = stored.filter((item) => item !== undefined);
    const unitsOf = (item: Item = {}) => Math.max(1, Math.ceil(rowBytes(item) / 4_096));
    const units = stored.reduce((sum, item) => sum + unitsOf(item), 0) * (request.ConsistentRead ? 1 : 0.5);
    return {
      Responses: { [tableName]: found.map((item) => returned(item, request)) },
      UnprocessedKeys: {},
      ConsumedCapacity: [{ TableName: tableName, CapacityUnits: units }],
    };
  }

  #query(input: QueryInput): unknown {
    const holds = parseCondition(input.KeyConditionExpression ?? '');
    const { partitionKey, sortKey } = ALERT_INDEX;
    const isIndexed = input.IndexName === ALERT_INDEX.name;
    const entryOf = ({ pk, sk, ...item }: Item) =>
      ({ pk, sk, [partitionKey]: item[partitionKey], [sortKey]: item[sortKey] }) as Item;
    const items = this.items();
    const rows = isIndexed ? items.filter((item) => sortKey in item).map(entryOf) : items;
    const order = isIndexed ? sortKey : 'sk';
    const selected = rows
      .filter((item) => holds(contextOf(item, input)))
      .sort((a, b) => compare(a[order] as Value, b[order] as Value) ?? 0);
    const direction = input.ScanIndexForward === false ? -1 : 1;
    if (direction < 0) selected.reverse();
    const after = input.ExclusiveStartKey?.sk;
    const remaining =
      after === undefined ? selected : selected.filter(({ sk }) => direction * (compare(sk as Value, after) ?? 0) > 0);
    const page = remaining.slice(0, input.Limit);
    const last = page.length === input.Limit ? page.at(-1) : undefined;
    return {
      Items: page.map((item) => returned(item, input)),
      ...(last && { LastEvaluatedKey: isIndexed ? last : { pk: last.pk, sk: last.sk } }),
    };
  }

  /** All rows are in the first segment: DynamoDB does not say which segment a row is in. */
  #scan(input: Expressions & { Segment?: number }): unknown {
    const holds = parseCondition(input.FilterExpression ?? 'attribute_exists(pk)');
    const items = (input.Segment ?? 0) > 0 ? [] : this.items();
    return { Items: items.filter((item) => holds(contextOf(item, input))).map((item) => returned(item, input)) };
  }

  #singleWrite(kind: ActionKind, input: Write): unknown {
    try {
      const after = this.#tryWrite(kind, input);
      this.#write(input, after);
      return input.ReturnValues === 'ALL_NEW' ? { Attributes: normalize(after) } : {};
    } catch (error) {
      if (error instanceof Invalid) throw invalid(error.message);
      if (!(error instanceof ConditionFailed)) throw error;
      const item = this.#failedItem(input);
      throw new ConditionalCheckFailedException({ message: CONDITION_FAILED, $metadata, ...item });
    }
  }

  #batchWrite({ RequestItems }: { RequestItems: Record<string, BatchWrite[]> }): unknown {
    const requests = Object.values(RequestItems)[0] ?? [];
    const keys = requests.map(({ PutRequest, DeleteRequest }) =>
      textOf(PutRequest?.Item ?? (DeleteRequest?.Key as Key)),
    );
    requireDistinct(keys, MAX_WRITES);
    for (const { PutRequest, DeleteRequest } of requests)
      this.#write({ ...PutRequest, ...DeleteRequest }, PutRequest && (normalize(PutRequest.Item) as Item));
    return { UnprocessedItems: {} };
  }

  #transact({ TransactItems, ClientRequestToken: token }: Transaction): unknown {
    const text = canonical(TransactItems);
    const applied = token === undefined ? undefined : this.#tokens.get(token);
    if (applied === text) return {};
    if (applied !== undefined)
      throw new DynamoDBServiceException({ name: 'IdempotentParameterMismatchException', $fault: 'client', $metadata });
    const actions = TransactItems.map((action) => Object.entries(action)[0] as [ActionKind, Write]);
    const keys = actions.map(([, write]) => textOf((write.Key ?? write.Item) as Key));
    requireDistinct(keys, MAX_ACTIONS);
    const after: (Item | undefined)[] = [];
    const reasons = actions.map(([kind, write]) => {
      try {
        after.push(this.#tryWrite(kind, write));
        return { Code: 'None' };
      } catch (error) {
        if (error instanceof Invalid) return { Code: 'ValidationError', Message: error.message };
        if (!(error instanceof ConditionFailed)) throw error;
        return { Code: 'ConditionalCheckFailed', Message: CONDITION_FAILED, ...this.#failedItem(write) };
      }
    });
    if (after.length < actions.length)
      throw new TransactionCanceledException({
        message: `Transaction cancelled: ${reasons.map(({ Code }) => Code)}`,
        $metadata,
        CancellationReasons: reasons,
      });
    for (const [index, [kind, write]] of actions.entries())
      if (kind !== 'ConditionCheck') this.#write(write, after[index]);
    if (token !== undefined) this.#tokens.set(token, text);
    return {};
  }

  /** The row as a write would leave it. @throws ConditionFailed, Invalid */
  #tryWrite(kind: ActionKind, write: Write): Item | undefined {
    const { Item: put, Key: key, ConditionExpression: condition, UpdateExpression: update = '' } = write;
    const before = this.#rows.get(textOf((key ?? put) as Key));
    const context = contextOf(before, write);
    if (condition !== undefined && !parseCondition(condition)(context)) throw new ConditionFailed();
    if (kind === 'Put') return normalize(put) as Item;
    if (kind === 'Update') return parseUpdate(update)({ ...context, item: before ?? { ...(key as Key) } });
    return kind === 'Delete' ? undefined : before;
  }

  /** The item in an error: the document client leaves it in the wire format. */
  #failedItem({ Key: key, Item: put, ReturnValuesOnConditionCheckFailure: wanted }: Write) {
    const item = this.#rows.get(textOf((key ?? put) as Key));
    return wanted === 'ALL_OLD' && item ? { Item: marshall(item, { convertClassInstanceToMap: true }) } : {};
  }

  #write({ Key: key, Item: put }: Pick<Write, 'Key' | 'Item'>, after: Item | undefined): void {
    const text = textOf((key ?? put) as Key);
    const before = this.#rows.get(text);
    if (canonical(before) !== canonical(after)) this.#changes.push({ before, after });
    if (after) this.#rows.set(text, after);
    else this.#rows.delete(text);
  }
}

/** An item as a read returns it. */
const returned = (item: Item, request: Expressions) =>
  normalize(projected(item, request.ProjectionExpression, contextOf(item, request).names));
