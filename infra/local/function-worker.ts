/** A function's thread or process: imports the module that it is told, then calls its `handler` for each event. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import type { Completion, Invocation, Ready } from './functions.ts';

type Handler = (event: unknown, context: Context) => Promise<unknown>;

/** The module to load: told to a thread as its data, to a process as its argument. */
const entry = parentPort ? (workerData as { entry: string }).entry : String(process.argv[2]);
const loading = import(entry) as Promise<{ handler: Handler }>;
// A module that cannot be loaded ends this with its error, which the gateway then tells.
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

async function run(invocation: Invocation): Promise<void> {
  let completion: Completion;
  try {
    completion = { id: invocation.id, result: await handler(invocation.event, contextOf(invocation)) };
  } catch (error) {
    completion = { id: invocation.id, error: error instanceof Error ? error.name : 'thrown' };
  }
  if (parentPort) parentPort.postMessage(completion);
  else process.send?.(completion);
}

if (parentPort) parentPort.on('message', run);
else {
  process.on('message', run).on('disconnect', () => process.exit());
  process.send?.('ready' satisfies Ready);
}
