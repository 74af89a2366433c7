/** The whole service on one machine, as the stack's template describes it: gateway, functions, table stream and queues. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { LOCAL_STATUS_PATH } from '../admin/status/local-figures.ts';
import type { Measured } from '../admin/status/measured.ts';
import { createAttempts, createCounters } from './counters.ts';
import { readDeployment } from './deployment.ts';
import { type OnEvent, startDestinations } from './destinations.ts';
import { createDocs } from './docs.ts';
import { createGateway, type GatewayOptions } from './gateway.ts';
import { createFunction } from './local-functions.ts';
import { createQueues } from './queues.ts';
import { followStream } from './stream.ts';
import type { Template } from './template.ts';

const functionsFolder = new URL('../../functions/', import.meta.url);

export type LocalService = Awaited<ReturnType<typeof startService>>;

export interface LocalServiceOptions extends Pick<GatewayOptions, 'onServed' | 'onFailed' | 'console'> {
  template: Template;
  /** URL of a DynamoDB-compatible server. */
  endpoint: string;
  /** The server that the functions use, if another. */
  functionsEndpoint?: string | undefined;
  tableName: string;
  port: number;
  /** Receives each published event, as a rule's target would. */
  onEvent?: OnEvent | undefined;
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
  /** The figures that CloudWatch has for a deployment. */
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
    invoke: async (name, event) => functions[name]?.invoke(event),
    pages: (path, accept) =>
      path === LOCAL_STATUS_PATH
        ? { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(measure()) }
        : docs(path, accept),
    queues: queues.answer,
  });
  const destinations = await startDestinations(options.onEvent);
  await once(gateway.listen(port, '127.0.0.1'), 'listening').catch(async (error) => {
    await destinations.close();
    throw error;
  });
  // No further wait before the functions are made: a call may come at once.
  const servedPort = (gateway.address() as AddressInfo).port;
  queues.servedAt(servedPort);

  // Variables that Lambda would set, and local endpoints; all others come from the template.
  const env = {
    AWS_REGION: 'local',
    DYNAMODB_ENDPOINT: functionsEndpoint,
    EVENTS_ENDPOINT: destinations.url,
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
  const { eventSources, stream, queueOutputs } = deployment;
  for (const source of eventSources) {
    const target = functions[source.functionName];
    if (!target) throw new Error(`the queue ${source.queue} feeds a function that the template does not have`);
    queues.feed(source, attempts.watch(target), (error) => options.onFailed?.(source.functionName, error));
  }
  const relay = functions[stream.functionName];
  if (!relay) throw new Error('the stream feeds a function that the template does not have');
  let streamProblem: string | undefined;
  let stopStream = async () => {};
  try {
    stopStream = await followStream(endpoint, tableName, stream, relay, (letter) => {
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
    /** Outputs of the stack that are queue URLs. */
    queueUrls: Object.fromEntries(Object.entries(queueOutputs).map(([output, name]) => [output, queues.url(name)])),
    /** Sends a message to the feed as a writer does. */
    sendToFeed: (body: string) => queues.send(queueOutputs.FeedUrl ?? '', body),
    async stop() {
      gateway.closeAllConnections();
      const closed = new Promise((resolve) => gateway.close(resolve));
      await Promise.all([closed, stopStream(), queues.stop()]);
      await destinations.close();
    },
  };
}
