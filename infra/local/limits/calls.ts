/** What each call of DynamoDB's API is held to. */
import type { Limits, Partitions } from './capacity.ts';
import type { Engine, Json } from './engine.ts';
import { batchExecuteStatement } from './partiql.ts';
import { batchGetItem, getItem, query, transactGetItems } from './reads.ts';
import type { RowsInUse } from './transactions.ts';
import { batchWriteItem, deleteItem, putItem, transactWriteItems, updateItem } from './writes.ts';

/** One call, and what it is held to. */
export interface Call {
  readonly request: Json;
  readonly engine: Engine;
  readonly partitions: Partitions;
  readonly inUse: RowsInUse;
  readonly limits: Limits;
}

/** By action; those that are not here pass as they are. */
export const HANDLERS: Readonly<Record<string, (call: Call) => Promise<Json>>> = {
  GetItem: getItem,
  Query: query,
  BatchGetItem: batchGetItem,
  TransactGetItems: transactGetItems,
  PutItem: putItem,
  UpdateItem: updateItem,
  DeleteItem: deleteItem,
  BatchWriteItem: batchWriteItem,
  TransactWriteItems: transactWriteItems,
  BatchExecuteStatement: batchExecuteStatement,
};
