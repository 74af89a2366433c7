/** The whole service on one machine, as the stack's template says: gateway, functions, table stream and queue. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { cpuShareOf } from './cpu-share.ts';
import { readDeployment } from './deployment.ts';
import { type OnEvent, startDestinations } from './destinations.ts';
import { createDocs } from './docs.ts';
import { startFunctionProcess } from './function-process.ts';
import { createGateway, type GatewayOptions } from './gateway.ts';
import { type FunctionSource, startFunction } from './local-functions.ts';
import { startQueue } from './queue.ts';
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
  /** Is given each event that the service tells, as its rules would get it. */
  onEvent?: OnEvent | undefined;
  /** Filled in on the reference page. */
  demoKey?: string | undefined;
  /** Gives each function the share of a processor that Lambda gives it by its memory, in a process of its own. */
  limitCpu?: boolean;
}

/** @throws NodeJS.ErrnoException `EADDRINUSE` when the port is taken; nothing is left running then */
export async function startService(options: LocalServiceOptions) {
  const { template, endpoint, functionsEndpoint = endpoint, tableName, port, limitCpu = false } = options;
  let send = (_queueId: string, _body: string): void => undefined;
  const destinations = await startDestinations((queueId, body) => send(queueId, body), options.onEvent);
  const deployment = readDeployment(template, tableName, destinations.queueUrl);
  // What Lambda would set, and where DynamoDB is; all else is the template's.
  const env = {
    AWS_REGION: 'local',
    DYNAMODB_ENDPOINT: functionsEndpoint,
    EVENTS_ENDPOINT: destinations.url,
    QUIET: 'true',
  };
  const start = (source: FunctionSource, memoryMb: number) =>
    limitCpu ? startFunctionProcess(source, cpuShareOf(memoryMb)) : startFunction(source);
  const functions = Object.fromEntries(
    Object.entries(deployment.functions).map(([name, { environment, timeoutMs, memoryMb }]) => [
      name,
      start({ entry: new URL(`${name}.ts`, functionsFolder), env: { ...environment, ...env }, timeoutMs }, memoryMb),
    ]),
  );
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
  });
  const stopFunctions = () => Promise.all(Object.values(functions).map((each) => each.stop()));

  await once(gateway.listen(port, '127.0.0.1'), 'listening').catch(async (error: unknown) => {
    await Promise.all([stopFunctions(), destinations.close()]);
    throw error;
  });

  const target = functions[deployment.queue.functionName];
  const relay = functions[deployment.stream.functionName];
  if (!target || !relay) throw new Error('an event source feeds a function that the template does not have');
  const queue = startQueue(deployment.queue, target);
  const deadLetters: string[] = [];
  send = (queueId, body) => void (queueId === deployment.queue.id ? queue.send(body) : deadLetters.push(body));
  let streamProblem: string | undefined;
  let stopStream = async () => {};
  try {
    stopStream = await followStream(endpoint, tableName, deployment.stream, relay);
  } catch (error) {
    streamProblem = (error as Error).message;
  }

  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    /** Why the table's stream is not followed: then merges that are cut short stay pending. */
    streamProblem,
    /** Messages that the merge queue gave up. */
    deadLetters: queue.deadLetters,
    /** Records that relay could not understand. */
    relayDeadLetters: deadLetters as readonly string[],
    load,
    async stop() {
      const closed = new Promise((resolve) => gateway.close(resolve));
      gateway.closeAllConnections();
      await Promise.all([closed, stopStream(), queue.stop(), stopFunctions()]);
      await destinations.close();
    },
  };
}
