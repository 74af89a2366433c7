/** The functions of two releases on one table, as they are during an update. */
import { fileURLToPath } from 'node:url';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Table } from '../../lib/dynamodb/client.ts';
import { startDynamoDbForAnyone } from './dynamodb-for-anyone.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { startFunctions } from './functions-process.ts';
import { checkOutPreviousRelease } from './previous-release.ts';
import type { Answer } from './service.ts';

export interface Release {
  /** Path of its checkout. */
  readonly tree: string;
  /** The endpoint of DynamoDB, which takes any credentials. */
  readonly endpoint: string;
  /** Makes faults between its functions and DynamoDB. */
  readonly proxy: FaultProxy;
  /** Calls the function of an operation. */
  call(name: string, event: APIGatewayProxyEvent): Promise<Answer>;
  /** Hands messages of the queue to finish-merges. @throws what it throws */
  finish(event: object): Promise<void>;
  stop(): Promise<void>;
}

async function startRelease(tree: string, table: Table): Promise<Release> {
  // The previous release may sign with other credentials.
  const dynamoDb = await startDynamoDbForAnyone();
  const proxy = await startFaultProxy(dynamoDb.url);
  const functions = startFunctions(
    { TABLE_NAME: table.name, DYNAMODB_ENDPOINT: proxy.endpoint, AWS_REGION: 'eu-west-1', APP_KEY_CACHE_SECONDS: '0' },
    tree,
  );
  async function invoke(name: string, event: object): Promise<unknown> {
    const { result, error } = await functions.invoke(name, event);
    if (error) throw new Error(`${name}: ${error.stack}`);
    return result;
  }
  return {
    tree,
    endpoint: dynamoDb.url,
    proxy,
    async call(name, event) {
      const { statusCode, headers, body } = (await invoke(name, event)) as APIGatewayProxyResult;
      return { status: statusCode, headers: headers as Record<string, string>, text: body, body: JSON.parse(body) };
    },
    async finish(event) {
      await invoke('finish-merges', event);
    },
    async stop() {
      await functions.stop();
      await proxy.close();
      dynamoDb.close();
    },
  };
}

/** The previous release and this tree. */
export const startReleases = (table: Table): Promise<Release[]> =>
  Promise.all(
    [checkOutPreviousRelease(), fileURLToPath(new URL('../..', import.meta.url))].map((tree) =>
      startRelease(tree, table),
    ),
  );
