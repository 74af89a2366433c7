/** Limits of each DynamoDB API call. */
import type { Call } from './call.ts';
import type { Json } from './engine.ts';
import { batchGetItem, getItem, query } from './reads.ts';
import { batchWriteItem, deleteItem, putItem, transactWriteItems, updateItem } from './writes.ts';

/** By action; others are passed through. */
export const HANDLERS: Readonly<Record<string, (call: Call) => Promise<Json>>> = {
  GetItem: getItem,
  Query: query,
  BatchGetItem: batchGetItem,
  PutItem: putItem,
  UpdateItem: updateItem,
  DeleteItem: deleteItem,
  BatchWriteItem: batchWriteItem,
  TransactWriteItems: transactWriteItems,
};
