/**
 * Adds the limits of DynamoDB that DynamoDB Local does not have: the throughput of each partition key, the sizes of transactions with stored rows
 * and of batches of one partition, and transactions that conflict.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startDynamoDbProxy } from '../../packages/local/dynamodb-proxy.ts';
import { type Call, connectServer, type Json, ServerRefusal } from './call.ts';
import { AWS_LIMITS, createPartitions, type Limits, type Usage } from './capacity.ts';
import { invalid, Refusal } from './limit-errors.ts';
import { batchGetItem, getItem, query } from './reads.ts';
import { batchWriteItem, transactWriteItems, writeItem } from './writes.ts';

/** By action. Other actions are passed through. */
const HANDLERS: Readonly<Record<string, (call: Call) => Promise<Json>>> = {
  GetItem: getItem,
  Query: query,
  BatchGetItem: batchGetItem,
  PutItem: writeItem('PutItem'),
  UpdateItem: writeItem('UpdateItem'),
  DeleteItem: writeItem('DeleteItem'),
  BatchWriteItem: batchWriteItem,
  TransactWriteItems: transactWriteItems,
};
/** Reads and writes that the service does not use. They are refused, since the proxy does not know their units. */
const REFUSED_ACTIONS = new Set([
  'ExecuteStatement',
  'BatchExecuteStatement',
  'ExecuteTransaction',
  'TransactGetItems',
]);

const encode = (answer: Json) => Buffer.from(JSON.stringify(answer));
const HEADERS = { 'content-type': 'application/x-amz-json-1.0' };

/**
 * @param target the endpoint of a DynamoDB-compatible server
 * @param limits the limits that differ from those of AWS
 * @param now a monotonic clock in milliseconds
 */
export async function startLimitsProxy(
  target: string,
  limits: Partial<Limits> = {},
  now: () => number = () => performance.now(),
) {
  const allLimits: Limits = { ...AWS_LIMITS, ...limits };
  const partitions = createPartitions(allLimits, now);
  const inTransaction = new Set<string>();

  const { endpoint, close } = await startDynamoDbProxy(target, async ({ action, body }, reply, send) => {
    try {
      if (REFUSED_ACTIONS.has(action)) throw invalid(`limits: the proxy does not know the units of ${action}`);
      const handle = HANDLERS[action];
      if (!handle) {
        const { status, headers, body: bytes } = await send();
        reply.writeHead(status, headers).end(bytes);
        return;
      }
      const request: Json = JSON.parse(body.toString());
      const call = { request, server: connectServer(send), partitions, inTransaction, limits: allLimits };
      const [result] = await Promise.all([handle(call), sleep(allLimits.callMs)]);
      const answer = encode(result);
      reply.writeHead(200, { ...HEADERS, 'content-length': answer.length }).end(answer);
    } catch (error) {
      if (error instanceof ServerRefusal) {
        reply.writeHead(error.answer.status, error.answer.headers).end(error.answer.body);
        return;
      }
      if (!(error instanceof Refusal)) throw error;
      reply.writeHead(400, HEADERS).end(encode({ __type: error.type, message: error.message, ...error.fields }));
    }
  });
  return {
    endpoint,
    /** What each partition key has used, by `<table> <value of the partition key>`. */
    usages: (): ReadonlyMap<string, Usage> => partitions.usages,
    close,
  };
}
