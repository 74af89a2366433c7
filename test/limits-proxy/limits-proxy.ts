/**
 * Adds the limits of DynamoDB that DynamoDB Local does not have: the throughput of each partition key, and the size of transactions with stored
 * rows. All items of a call must be in one table. Batches of writes and scans are not limited.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { jsonAnswer, type Send, startDynamoDbProxy, type WireAnswer } from '../../packages/local/dynamodb-proxy.ts';
import { createTokenBuckets } from '../../packages/local/token-buckets.ts';
import { type Item, itemBytes } from './item-size.ts';
import { cancelled, invalid, NO_REASON, Refusal, THROTTLED, throttled } from './limit-errors.ts';

/** Source of the units: *DynamoDB Developer Guide*, "Best practices for designing and using partition keys effectively". */
interface Limits {
  /** Write units a second of one partition key. */
  readonly writeUnits: number;
  /** Read units a second of one partition key. */
  readonly readUnits: number;
}
const AWS_LIMITS: Limits = { writeUnits: 1_000, readUnits: 3_000 };
/** Source: API Reference, `TransactWriteItems`. DynamoDB Local counts the request alone, without the stored rows. */
const TRANSACTION_BYTES = 4 * 1024 * 1024;
/** Units of a transaction for each unit of the same write alone. Source: Developer Guide, "DynamoDB Transactions: How it works". */
const TRANSACTION_FACTOR = 2;
const MAX_PARTITIONS = 100_000;

/** Source of the units: Developer Guide, "DynamoDB read and write operations". A row that does not exist counts as one unit. */
const writeUnitsOf = (bytes: number) => Math.max(1, Math.ceil(bytes / 1024));
const readUnitsOf = (bytes: number, consistent: boolean) =>
  Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5);

/** The body of a call or an answer. */
// biome-ignore lint/suspicious/noExplicitAny: the wire's JSON, which the server has checked or will check
type Json = any;
/** Sends a call to the server. @throws ServerRefusal */
type CallServer = (action: string, request: Json) => Promise<Json>;

/** The server refused a call. Its answer is passed to the caller unchanged. */
class ServerRefusal extends Error {
  readonly answer: WireAnswer;
  constructor(answer: WireAnswer) {
    super(`the server answered ${answer.status}`);
    this.answer = answer;
  }
}

const callerOf =
  (send: Send): CallServer =>
  async (action, request) => {
    const answer = await send({ action, body: Buffer.from(JSON.stringify(request)) });
    if (answer.status !== 200) throw new ServerRefusal(answer);
    return JSON.parse(answer.body.toString());
  };

const partitionOf = (table: string, pk: AttributeValue | undefined) => `${table} ${pk?.S}`;
const nameOf = ({ pk, sk }: Item) => `${pk?.S}\n${sk?.S}`;

/** Reads up to 100 rows of one table. @returns the stored bytes of each row, 0 if it does not exist */
async function storedBytes(call: CallServer, table: string, keys: readonly Item[]): Promise<number[]> {
  const bytes = new Map<string, number>();
  for (let Keys = keys.map(({ pk, sk }) => ({ pk, sk })); Keys.length > 0; ) {
    const request = { RequestItems: { [table]: { Keys, ConsistentRead: true } } };
    const { Responses, UnprocessedKeys } = await call('BatchGetItem', request);
    for (const item of Responses[table]) bytes.set(nameOf(item), itemBytes(item));
    Keys = UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return keys.map((key) => bytes.get(nameOf(key)) ?? 0);
}

/**
 * @param target the endpoint of a DynamoDB-compatible server
 * @param limits the limits that differ from those of AWS
 */
export async function startLimitsProxy(target: string, limits: Partial<Limits> = {}) {
  const { readUnits, writeUnits }: Limits = { ...AWS_LIMITS, ...limits };
  /** Calls, the units of those that were granted, and how often a partition key was throttled, since the proxy started. */
  const totals = { calls: 0, readUnits: 0, writeUnits: 0, throttled: 0 };
  const bucketOf = createTokenBuckets(MAX_PARTITIONS, () => performance.now());
  const throttles = { read: { rate: readUnits, burst: readUnits }, write: { rate: writeUnits, burst: writeUnits } };

  /** Takes units without checking that they are available; a negative number returns units. */
  function charge(partition: string, side: 'read' | 'write', units: number): void {
    bucketOf(`${side} ${partition}`, throttles[side]).tokens -= units;
    totals[`${side}Units`] += units;
  }

  /**
   * Takes units if they are available. A bucket holds the units of one second: AWS keeps up to 300 seconds of unused units, and does not promise it
   * (Developer Guide, "Burst and adaptive capacity"). A call that needs more than a full bucket is granted when the bucket is full, which then goes
   * negative: that AWS does so is not confirmed.
   * @returns whether the units were taken
   */
  function take(partition: string, side: 'read' | 'write', units: number): boolean {
    const { tokens } = bucketOf(`${side} ${partition}`, throttles[side]);
    const granted = tokens >= Math.min(units, throttles[side].burst);
    if (granted) charge(partition, side, units);
    else totals.throttled += 1;
    return granted;
  }

  async function getItem(call: CallServer, request: Json): Promise<Json> {
    const { TableName, Key, ConsistentRead = false } = request;
    const [bytes = 0] = await storedBytes(call, TableName, [Key]);
    if (!take(partitionOf(TableName, Key.pk), 'read', readUnitsOf(bytes, ConsistentRead))) throw throttled();
    return call('GetItem', request);
  }

  /** Its units are those that the server reports, since they include the rows that a filter removes. So it is sent first. */
  async function query(call: CallServer, request: Json): Promise<Json> {
    const { TableName, KeyConditionExpression, ExpressionAttributeValues, ConsistentRead = false } = request;
    const [, value = ''] = /^pk = (:\w+)/.exec(KeyConditionExpression) ?? [];
    const reply = await call('Query', { ...request, ReturnConsumedCapacity: 'TOTAL' });
    const units = Math.max(ConsistentRead ? 1 : 0.5, reply.ConsumedCapacity.CapacityUnits);
    if (!take(partitionOf(TableName, ExpressionAttributeValues[value]), 'read', units)) throw throttled();
    return reply;
  }

  /** Leaves throttled keys unprocessed; if all are, the call is throttled. Source: API Reference, `BatchGetItem`. */
  async function batchGetItem(call: CallServer, { RequestItems }: Json): Promise<Json> {
    const [[table, read]] = Object.entries<Json>(RequestItems) as [[string, Json]];
    const bytes = await storedBytes(call, table, read.Keys);
    let used = 0;
    const isGranted = read.Keys.map(({ pk }: Item, index: number) => {
      const units = readUnitsOf(bytes[index] ?? 0, read.ConsistentRead ?? false);
      const granted = take(partitionOf(table, pk), 'read', units);
      if (granted) used += units;
      return granted;
    });
    if (!isGranted.includes(true)) throw throttled();
    const requestOf = (granted: boolean) => {
      const Keys = read.Keys.filter((_key: Item, index: number) => isGranted[index] === granted);
      return Keys.length > 0 ? { [table]: { ...read, Keys } } : {};
    };
    const reply = await call('BatchGetItem', { RequestItems: requestOf(true) });
    const ConsumedCapacity = [{ TableName: table, CapacityUnits: used }];
    return { ...reply, UnprocessedKeys: requestOf(false), ConsumedCapacity };
  }

  /** The writes of a call: the bytes of each row before or after it, whichever is larger. An update counts with all values of its expressions. */
  async function writesOf(call: CallServer, actions: readonly Json[]) {
    const stored = await storedBytes(
      call,
      actions[0].TableName,
      actions.map(({ Item, Key }) => Item ?? Key),
    );
    return actions.map(({ TableName, Item, Key, UpdateExpression, ExpressionAttributeValues = {} }, index) => {
      const added = UpdateExpression === undefined ? 0 : itemBytes(ExpressionAttributeValues);
      const bytes = Math.max((stored[index] ?? 0) + added, itemBytes(Item ?? {}));
      return { partition: partitionOf(TableName, (Item ?? Key).pk), bytes };
    });
  }

  const writeItem = (action: string) => async (call: CallServer, request: Json) => {
    const [write] = await writesOf(call, [request]);
    if (!write || !take(write.partition, 'write', writeUnitsOf(write.bytes))) throw throttled();
    return call(action, request);
  };

  /**
   * All units of a transaction are granted, or it is cancelled with the reasons in the order of its items. Units that were granted to a cancelled
   * transaction are returned: that AWS does so is not confirmed.
   */
  async function transactWriteItems(call: CallServer, request: Json): Promise<Json> {
    const writes = await writesOf(
      call,
      request.TransactItems.map((item: object) => Object.values<Json>(item)[0]),
    );
    if (writes.reduce((sum, { bytes }) => sum + bytes, 0) > TRANSACTION_BYTES) throw invalid();
    const unitsOf = (bytes: number) => TRANSACTION_FACTOR * writeUnitsOf(bytes);
    const granted = writes.map(({ partition, bytes }) => take(partition, 'write', unitsOf(bytes)));
    if (granted.includes(false)) {
      for (const [index, { partition, bytes }] of writes.entries())
        if (granted[index]) charge(partition, 'write', -unitsOf(bytes));
      throw cancelled(granted.map((isGranted) => (isGranted ? NO_REASON : THROTTLED)));
    }
    return call('TransactWriteItems', request);
  }

  const handlers: Readonly<Record<string, (call: CallServer, request: Json) => Promise<Json>>> = {
    GetItem: getItem,
    Query: query,
    BatchGetItem: batchGetItem,
    PutItem: writeItem('PutItem'),
    UpdateItem: writeItem('UpdateItem'),
    DeleteItem: writeItem('DeleteItem'),
    TransactWriteItems: transactWriteItems,
  };
  const proxy = await startDynamoDbProxy(target, async ({ action, body }, send) => {
    const handle = handlers[action];
    totals.calls += 1;
    try {
      if (!handle) throw new ServerRefusal(await send());
      return jsonAnswer(200, await handle(callerOf(send), JSON.parse(body.toString())));
    } catch (error) {
      if (error instanceof Refusal)
        return jsonAnswer(400, { __type: error.type, message: error.message, ...error.fields });
      if (error instanceof ServerRefusal) return error.answer;
      throw error;
    }
  });
  return { ...proxy, totals: () => ({ ...totals }) };
}
