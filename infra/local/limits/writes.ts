/** Writes are granted by the size of the rows before them, and charged by the larger of before and after. */
import { type Item, itemBytes, LARGEST_ITEM_BYTES } from '../../../lib/table/item-size.ts';
import type { Call } from './call.ts';
import { IN_TRANSACTION, writeUnitsOf } from './capacity.ts';
import type { Json, RowKey } from './engine.ts';
import { conflict, invalid, throttled } from './errors.ts';
import { consumed, refuseLargeTransaction, TRANSACTION_ITEMS, transact } from './transactions.ts';

const BATCH_ITEMS = 25;
const BATCH_BYTES = 16 * 1024 * 1024;

/** @throws Refusal for an item that is larger than 400 KB */
function sizeOf(item: Item): number {
  const bytes = itemBytes(item);
  if (bytes > LARGEST_ITEM_BYTES) throw invalid('Item size has exceeded the maximum allowed size');
  return bytes;
}

export async function putItem(call: Call): Promise<Json> {
  const { TableName, Item } = call.request;
  return writeOne(call, 'PutItem', await call.engine.rowOf(TableName, Item), sizeOf(Item));
}

export const updateItem = (call: Call): Promise<Json> => writeKey(call, 'UpdateItem');
export const deleteItem = (call: Call): Promise<Json> => writeKey(call, 'DeleteItem');
const writeKey = (call: Call, action: string) =>
  writeOne(call, action, { table: call.request.TableName, key: call.request.Key }, 0);

async function writeOne(call: Call, action: string, row: RowKey, bytesWritten: number): Promise<Json> {
  const { request, engine } = call;
  return writeEach(call, [row], [bytesWritten], async ([verdict], settle) => {
    if (verdict === 'conflict') throw conflict();
    if (verdict === 'throttled') throw throttled('write', row.table);
    // A condition that fails costs what the row that is there would.
    const reply = await engine.call(action, request);
    const [units = 0] = await settle();
    return { ...reply, ...consumed(request, [[row.table, units]], 'write') };
  });
}

type Verdict = 'granted' | 'throttled' | 'conflict';

/**
 * Takes the units of writes, each for itself, by what is known before them, and marks their rows as being written.
 * @param act does those that are granted; `settle` charges what their rows have grown by, and tells the units of each
 */
async function writeEach<Result>(
  { engine, partitions, inUse }: Call,
  rows: readonly RowKey[],
  bytesWritten: readonly number[],
  act: (verdicts: readonly Verdict[], settle: () => Promise<number[]>) => Promise<Result>,
): Promise<Result> {
  const partitionsOf = await Promise.all(rows.map((row) => engine.partitionOf(row)));
  const before = await engine.storedBytes(rows);
  const { conflicts, end } = inUse.write(rows);
  const units = before.map((bytes, index) => writeUnitsOf(Math.max(bytes, bytesWritten[index] ?? 0)));
  const verdicts = partitionsOf.map((partition, index): Verdict => {
    if (conflicts[index]) return 'conflict';
    return partitions.take(partition, 'write', units[index] ?? 0) ? 'granted' : 'throttled';
  });
  const settle = async () => {
    const after = await engine.storedBytes(rows);
    return units.map((reserved, index) => {
      if (verdicts[index] !== 'granted') return 0;
      const grown = Math.max(0, writeUnitsOf(after[index] ?? 0) - reserved);
      partitions.charge(partitionsOf[index] ?? '', 'write', grown);
      return reserved + grown;
    });
  };
  try {
    return await act(verdicts, settle);
  } finally {
    end();
  }
}

/**
 * Throttled members are left unprocessed; where all are, the call is throttled. Source: API Reference, `BatchWriteItem`.
 * That members whose row a transaction has are left unprocessed is not confirmed.
 */
export async function batchWriteItem(call: Call): Promise<Json> {
  const { request, engine } = call;
  const members = Object.entries<Json[]>(request.RequestItems).flatMap(([table, requests]) =>
    requests.map((member) => ({ table, member })),
  );
  if (members.length > BATCH_ITEMS) throw invalid('Too many items requested for the BatchWriteItem call');
  const sizes = members.map(({ member }) => (member.PutRequest ? sizeOf(member.PutRequest.Item) : 0));
  if (sizes.reduce((sum, size) => sum + size, 0) > BATCH_BYTES) throw invalid('The batch exceeds 16 MB');
  const rows = await Promise.all(
    members.map(({ table, member }) =>
      member.PutRequest
        ? engine.rowOf(table, member.PutRequest.Item)
        : { table, key: member.DeleteRequest.Key as Item },
    ),
  );
  return writeEach(call, rows, sizes, async (verdicts, settle) => {
    const requestOf = (wanted: boolean) => {
      const items: Record<string, Json[]> = {};
      for (const [index, { table, member }] of members.entries())
        if ((verdicts[index] === 'granted') === wanted) items[table] = [...(items[table] ?? []), member];
      return items;
    };
    if (!verdicts.includes('granted')) throw throttled('write', members[0]?.table ?? '');
    const reply = await engine.call('BatchWriteItem', { RequestItems: requestOf(true) });
    const units = await settle();
    const used = rows.map(({ table }, index): [string, number] => [table, units[index] ?? 0]);
    return { ...reply, UnprocessedItems: requestOf(false), ...consumed(request, used, 'write') };
  });
}

/** Source: API Reference, `TransactWriteItems`: 100 items, 4 MB together, with the rows that are there. */
export async function transactWriteItems(call: Call): Promise<Json> {
  const { request, engine, partitions } = call;
  const actions = (request.TransactItems as Json[]).map((each) => Object.values<Json>(each)[0]);
  if (actions.length > TRANSACTION_ITEMS)
    throw invalid(`Member must have length less than or equal to ${TRANSACTION_ITEMS}`);
  const rows = await Promise.all(
    actions.map(async ({ TableName, Key, Item }) =>
      Item ? engine.rowOf(TableName, Item) : { table: TableName as string, key: Key as Item },
    ),
  );
  const written = actions.map(({ Item }) => (Item ? sizeOf(Item) : 0));
  const before = await engine.storedBytes(rows);
  const known = before.map((bytes, index) => Math.max(bytes, written[index] ?? 0));
  // An update's row is taken for as large as with all values of its expressions added: what replaces others counts twice.
  const added = actions.map(({ Item, ExpressionAttributeValues = {} }) =>
    Item ? 0 : itemBytes(ExpressionAttributeValues),
  );
  refuseLargeTransaction(known.map((bytes, index) => bytes + (added[index] ?? 0)));
  const units = known.map((bytes) => IN_TRANSACTION * writeUnitsOf(bytes));
  const growing = [...rows.entries()].filter(([index]) => {
    const bytes = known[index] ?? 0;
    return writeUnitsOf(bytes + mostGrowth(actions[index])) > writeUnitsOf(bytes);
  });
  return transact(call, rows, units, async () => {
    const reply = await engine.call('TransactWriteItems', request);
    const after = await engine.storedBytes(growing.map(([, row]) => row));
    for (const [index, [position, row]] of growing.entries()) {
      const grown = IN_TRANSACTION * writeUnitsOf(after[index] ?? 0) - (units[position] ?? 0);
      if (grown <= 0) continue;
      partitions.charge(await engine.partitionOf(row), 'write', grown);
      units[position] = (units[position] ?? 0) + grown;
    }
    return reply;
  });
}

/** Bytes by which an update's row can grow at the most: by the names and values of its expression, unless it copies others. */
function mostGrowth({
  UpdateExpression = '',
  ExpressionAttributeNames = {},
  ExpressionAttributeValues = {},
}: Json): number {
  if (/=\s*[^:\s]/.test(UpdateExpression)) return Number.POSITIVE_INFINITY;
  const names = `${UpdateExpression}${Object.values(ExpressionAttributeNames).join('')}`;
  return Buffer.byteLength(names) + itemBytes(ExpressionAttributeValues);
}
