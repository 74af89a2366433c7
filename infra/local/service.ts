/** The whole service on one machine: gateway, functions and table stream, over a DynamoDB-compatible endpoint. */
import type { AddressInfo } from 'node:net';
import { operations } from '../../lib/api/operations.ts';
import type { Route } from './event.ts';
import { type LocalFunction, startFunction } from './functions.ts';
import { createGateway, type Served } from './gateway.ts';
import { followStream } from './stream.ts';

const functionsFolder = new URL('../../functions/', import.meta.url);
const TIMEOUT_MS = 29_000;
const REFUSE_ROUTE = 'refuse-route';
const FINISH_MERGES = 'finish-merges';

export interface LocalService {
  readonly url: string;
  /** Why the table's stream is not followed: then merges that are cut short stay pending. */
  readonly streamProblem: string | undefined;
  stop(): Promise<void>;
}

export interface LocalServiceOptions {
  endpoint: string;
  tableName: string;
  port: number;
  onServed?: (served: Served) => void;
}

/** @throws NodeJS.ErrnoException `EADDRINUSE` when the port is taken; nothing is left running then */
export async function startService(options: LocalServiceOptions): Promise<LocalService> {
  const { endpoint, tableName, port, onServed } = options;
  const env = {
    TABLE_NAME: tableName,
    DYNAMODB_ENDPOINT: endpoint,
    AWS_REGION: 'local',
    POWERTOOLS_LOG_LEVEL: 'WARN',
    POWERTOOLS_METRICS_DISABLED: 'true',
    ...(process.env.SERVICEMAP_ENABLED && { SERVICEMAP_ENABLED: process.env.SERVICEMAP_ENABLED }),
  };
  const functions: Record<string, LocalFunction> = {};
  for (const name of [...operations.map((operation) => operation.name), REFUSE_ROUTE, FINISH_MERGES])
    functions[name] = startFunction({ entry: new URL(`${name}.ts`, functionsFolder), env, timeoutMs: TIMEOUT_MS });
  const routes: Route[] = [
    ...operations.map(({ method, path, name }) => ({ method, path, functionName: name })),
    { method: 'ANY', path: '/{proxy+}', functionName: REFUSE_ROUTE },
  ];
  const gateway = createGateway({ routes, functions, ...(onServed && { onServed }) });
  const stopFunctions = () => Promise.all(Object.values(functions).map((each) => each.stop()));

  await new Promise<void>((resolve, reject) => {
    gateway.once('error', reject);
    gateway.listen(port, '127.0.0.1', resolve);
  }).catch(async (error: unknown) => {
    await stopFunctions();
    throw error;
  });

  let streamProblem: string | undefined;
  let stopStream = async () => {};
  const finishMerges = functions[FINISH_MERGES];
  if (finishMerges)
    try {
      stopStream = await followStream(endpoint, tableName, finishMerges);
    } catch (error) {
      streamProblem = (error as Error).message;
    }

  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    streamProblem,
    async stop() {
      const closed = new Promise((resolve) => gateway.close(resolve));
      gateway.closeAllConnections();
      await Promise.all([closed, stopStream(), stopFunctions()]);
    },
  };
}
