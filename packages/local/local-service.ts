/** The whole service on one machine, as the stack's template describes it: gateway, functions, table stream and queues. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { LOCAL_STATUS_PATH, type Measured } from '../admin/status/measured.ts';
import { createAttempts, createCounters } from './counters.ts';
import { readDeployment } from './deployment.ts';
import { createDocs } from './docs.ts';
import { startEventBus } from './event-bus.ts';
import { createGateway, type GatewayOptions } from './gateway.ts';
import { createFunction, type LocalFunction } from './local-functions.ts';
import { createQueues } from './queues.ts';
import { followStream } from './stream.ts';
import type { Template } from './template.ts';

const functionsFolder = new URL('../../functions/', import.meta.url);

export type LocalService = Awaited<ReturnType<typeof startService>>;

export interface LocalServiceOptions extends Pick<GatewayOptions, 'onServed' | 'onFailed' | 'console'> {
  template: Template;
  /** URL of a DynamoDB-compatible server. */
  endpoint: string;
  /** URL of the server that the functions use, if it is another one. */
  functionsEndpoint?: string | undefined;
  tableName: string;
  port: number;
  /** A file to which each published event is appended. */
  eventsFile?: string | undefined;
  /** Prefilled on the reference page. */
  demoKey?: string | undefined;
}

/** @throws NodeJS.ErrnoException `EADDRINUSE` when the port is taken; nothing is left running then */
export async function startService(options: LocalServiceOptions) {
  const { template, endpoint, functionsEndpoint = endpoint, tableName, port } = options;
  const deployment = readDeployment(template, tableName);
  const queues = createQueues(deployment.queues);
  const attempts = createAttempts();
  const counters = createCounters();
  const docs = createDocs(options.demoKey);
  const countDeadLetters = () => queues.count(deployment.queueOutputs.DeadLettersUrl ?? '');
  const measure = (): Measured => ({
    operations: counters.figures(),
    attempts: attempts.failed(),
    dead_letters: countDeadLetters(),
  });
  const gateway = createGateway({
    ...options,
    onServed(served) {
      counters.add(served);
      options.onServed?.(served);
    },
    deployment,
    invoke: (name, event) => functionOf(name).invoke(event),
    pages: (path, accept) =>
      path === LOCAL_STATUS_PATH
        ? { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(measure()) }
        : docs(path, accept),
    queues: queues.answer,
  });
  const eventBus = await startEventBus(options.eventsFile);
  await once(gateway.listen(port, '127.0.0.1'), 'listening').catch(async (error) => {
    await eventBus.close();
    throw error;
  });
  // No await between listening and the functions: a call may come at once.
  const servedPort = (gateway.address() as AddressInfo).port;
  queues.servedAt(servedPort);

  // Variables that Lambda would set, and local endpoints; all others come from the template.
  const env = {
    AWS_REGION: 'local',
    DYNAMODB_ENDPOINT: functionsEndpoint,
    EVENTS_ENDPOINT: eventBus.url,
    QUIET: 'true',
  };
  // Read again: the functions' environment has the queues' URLs, which have the port.
  const deployed = readDeployment(template, tableName, queues.url).functions;
  const functions = Object.fromEntries(
    Object.entries(deployed).map(([name, { environment, timeoutMs }]) => [
      name,
      createFunction({ entry: new URL(`${name}.ts`, functionsFolder), env: { ...environment, ...env }, timeoutMs }),
    ]),
  );
  function functionOf(name: string): LocalFunction {
    const found = functions[name];
    if (!found) throw new Error(`the template has no function ${name}`);
    return found;
  }
  const { eventSources, stream, queueOutputs } = deployment;
  for (const source of eventSources) {
    const target = attempts.watch(functionOf(source.functionName));
    queues.feed(source, target, (error) => options.onFailed?.(source.functionName, error));
  }
  let streamProblem: string | undefined;
  let stopStream = async () => {};
  try {
    stopStream = await followStream(endpoint, tableName, stream, functionOf(stream.functionName), (letter) => {
      if (stream.deadLetters) queues.send(stream.deadLetters, JSON.stringify(letter));
      const { batchSize } = letter.DDBStreamBatchInfo;
      options.onFailed?.(stream.functionName, new Error(`gave up ${batchSize} records of the table's stream`));
    });
  } catch (error) {
    streamProblem = (error as Error).message;
  }

  return {
    url: `http://127.0.0.1:${servedPort}`,
    /** Why the table's stream cannot be read: interrupted merges then stay pending. */
    streamProblem,
    /** Number of messages in the merge queue's dead-letter queue. */
    countDeadLetters,
    measure,
    /** The URLs of the queues, by the output of the stack that has each. */
    queueUrls: Object.fromEntries(Object.entries(queueOutputs).map(([output, name]) => [output, queues.url(name)])),
    /** Sends a message to the feed. */
    sendToFeed: (body: string) => queues.send(queueOutputs.FeedUrl ?? '', body),
    async stop() {
      gateway.closeAllConnections();
      const closed = new Promise((resolve) => gateway.close(resolve));
      await Promise.all([closed, stopStream(), queues.stop()]);
      await eventBus.close();
    },
  };
}
