/** The whole service on one machine, as the stack's template says: gateway, functions, table stream and queues. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { cpuShareOf } from './cpu-share.ts';
import { readDeployment } from './deployment.ts';
import { createDocs } from './docs.ts';
import { startFunctionProcess } from './function-process.ts';
import { createGateway, type GatewayOptions } from './gateway.ts';
import { type FunctionSource, startFunction } from './local-functions.ts';
import { createQueues } from './queues.ts';
import { followStream } from './stream.ts';
import type { Template } from './template.ts';

const functionsFolder = new URL('../../functions/', import.meta.url);

export type LocalService = Awaited<ReturnType<typeof startService>>;

export interface LocalServiceOptions extends Pick<GatewayOptions, 'onServed' | 'onFailed' | 'console'> {
  template: Template;
  /** Of a DynamoDB-compatible server. */
  endpoint: string;
  /** Where the functions find DynamoDB, if not there. */
  functionsEndpoint?: string | undefined;
  tableName: string;
  port: number;
  /** Filled in on the reference page. */
  demoKey?: string | undefined;
  /** Gives each function the share of a processor that Lambda gives it by its memory, in a process of its own. */
  limitCpu?: boolean;
}

/** @throws NodeJS.ErrnoException `EADDRINUSE` when the port is taken; nothing is left running then */
export async function startService(options: LocalServiceOptions) {
  const { template, endpoint, functionsEndpoint = endpoint, tableName, port, limitCpu = false } = options;
  const deployment = readDeployment(template, tableName);
  const queues = createQueues(deployment.queues);
  let loading: Promise<unknown> = Promise.resolve();
  /** Loads all functions, again if they are loaded. @throws why one cannot be loaded */
  async function load(): Promise<void> {
    // Not all at once: the first to fail tells what is wrong with all.
    const all = (async () => {
      for (const each of Object.values(functions)) await each.load();
    })();
    loading = all.catch(() => undefined);
    await all;
  }
  const gateway = createGateway({
    ...options,
    deployment,
    // A call that comes while sources are loaded again is answered by the new ones.
    invoke: (name, event) => loading.then(() => functions[name]?.invoke(event)),
    pages: createDocs(options.demoKey),
    queues: queues.answer,
  });
  await once(gateway.listen(port, '127.0.0.1'), 'listening');
  const servedPort = (gateway.address() as AddressInfo).port;
  queues.servedAt(servedPort);

  // What Lambda would set, and where DynamoDB is; all else is the template's.
  const env = { AWS_REGION: 'local', DYNAMODB_ENDPOINT: functionsEndpoint, QUIET: 'true' };
  const start = (source: FunctionSource, memoryMb: number) =>
    limitCpu ? startFunctionProcess(source, cpuShareOf(memoryMb)) : startFunction(source);
  const deployed = readDeployment(template, tableName, queues.url).functions;
  const functions = Object.fromEntries(
    Object.entries(deployed).map(([name, { environment, timeoutMs, memoryMb }]) => [
      name,
      start({ entry: new URL(`${name}.ts`, functionsFolder), env: { ...environment, ...env }, timeoutMs }, memoryMb),
    ]),
  );
  const stopFunctions = () => Promise.all(Object.values(functions).map((each) => each.stop()));
  const { eventSources, pipe, queueOutputs } = deployment;
  for (const source of eventSources) {
    const target = functions[source.functionName];
    if (!target) throw new Error(`the queue ${source.queue} feeds a function that the template does not have`);
    queues.feed(source, target, (error) => options.onFailed?.(source.functionName, error));
  }
  let streamProblem: string | undefined;
  let stopStream = async () => {};
  try {
    stopStream = await followStream(endpoint, tableName, pipe, (body) => queues.send(pipe.queue, body));
  } catch (error) {
    streamProblem = (error as Error).message;
  }

  return {
    url: `http://127.0.0.1:${servedPort}`,
    /** Why the table's stream is not followed: then merges that are cut short stay pending. */
    streamProblem,
    /** How many messages the merge queue gave up. */
    deadLetters: () => queues.count(queueOutputs.DeadLettersUrl ?? ''),
    /** The outputs of the stack that are URLs of queues. */
    queueUrls: Object.fromEntries(Object.entries(queueOutputs).map(([output, name]) => [output, queues.url(name)])),
    /** Sends a message to the feed as a writer does. */
    sendToFeed: (body: string) => queues.send(queueOutputs.FeedUrl ?? '', body),
    load,
    async stop() {
      const closed = new Promise((resolve) => gateway.close(resolve));
      gateway.closeAllConnections();
      await Promise.all([closed, stopStream(), queues.stop(), stopFunctions()]);
    },
  };
}
