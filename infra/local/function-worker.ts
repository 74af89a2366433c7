/** A function's thread: imports the module that it is told, then calls its `handler` for each event. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import type { Completion, Invocation } from './functions.ts';

type Handler = (event: unknown, context: Context) => Promise<unknown>;

const loading = import((workerData as { entry: string }).entry) as Promise<{ handler: Handler }>;
// A module that cannot be loaded ends the thread with its error, which the gateway then tells.
const { handler } = await loading;

function contextOf({ id, deadlineMs }: Invocation): Context {
  return {
    awsRequestId: id,
    functionName: 'local',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:local:000000000000:function:local',
    memoryLimitInMB: '256',
    logGroupName: 'local',
    logStreamName: 'local',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}

parentPort?.on('message', async (invocation: Invocation) => {
  let completion: Completion;
  try {
    completion = { id: invocation.id, result: await handler(invocation.event, contextOf(invocation)) };
  } catch (error) {
    completion = { id: invocation.id, error: error instanceof Error ? error.name : 'thrown' };
  }
  parentPort?.postMessage(completion);
});
