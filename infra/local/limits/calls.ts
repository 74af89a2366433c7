/** What each call of DynamoDB's API is held to. */
import type { Call } from './call.ts';
import type { Json } from './engine.ts';
import { batchExecuteStatement } from './partiql.ts';
import { batchGetItem, getItem, query, transactGetItems } from './reads.ts';
import { batchWriteItem, deleteItem, putItem, transactWriteItems, updateItem } from './writes.ts';

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
