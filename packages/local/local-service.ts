/** The whole service on one machine, as the stack's template says: gateway, functions, table stream and queue. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { LOCAL_STATUS_PATH } from '../admin/status/local-figures.ts';
import type { Measured } from '../admin/status/measured.ts';
import { createCounters } from './counters.ts';
import { cpuShareOf } from './cpu-share.ts';
import { readDeployment } from './deployment.ts';
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
  /** Filled in on the reference page. */
  demoKey?: string | undefined;
  /** Gives each function the share of a processor that Lambda gives it by its memory, in a process of its own. */
  limitCpu?: boolean;
}

/** @throws NodeJS.ErrnoException `EADDRINUSE` when the port is taken; nothing is left running then */
export async function startService(options: LocalServiceOptions) {
  const { template, endpoint, functionsEndpoint = endpoint, tableName, port, limitCpu = false } = options;
  const deployment = readDeployment(template, tableName);
  // What Lambda would set, and where DynamoDB is; all else is the template's.
  const env = { AWS_REGION: 'local', DYNAMODB_ENDPOINT: functionsEndpoint, QUIET: 'true' };
  const start = (source: FunctionSource, memoryMb: number) =>
    limitCpu ? startFunctionProcess(source, cpuShareOf(memoryMb)) : startFunction(source);
  const functions = Object.fromEntries(
    Object.entries(deployment.functions).map(([name, { environment, timeoutMs, memoryMb }]) => [
      name,
      start({ entry: new URL(`${name}.ts`, functionsFolder), env: { ...environment, ...env }, timeoutMs }, memoryMb),
    ]),
  );
  let queue: ReturnType<typeof startQueue> | undefined;
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
  const counters = createCounters();
  const docs = createDocs(options.demoKey);
  /** What CloudWatch knows of a deployment. */
  const measure = (): Measured => ({
    operations: counters.figures(),
    attempts: queue?.attempts() ?? [],
    dead_letters: queue?.deadLetters.length ?? 0,
  });
  const gateway = createGateway({
    ...options,
    onServed(served) {
      counters.add(served);
      options.onServed?.(served);
    },
    deployment,
    // A call that comes while sources are loaded again is answered by the new ones.
    invoke: (name, event) => loading.then(() => functions[name]?.invoke(event)),
    pages: (path, accept) =>
      path === LOCAL_STATUS_PATH
        ? { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(measure()) }
        : docs(path, accept),
  });
  const stopFunctions = () => Promise.all(Object.values(functions).map((each) => each.stop()));

  await once(gateway.listen(port, '127.0.0.1'), 'listening').catch(async (error: unknown) => {
    await stopFunctions();
    throw error;
  });

  const target = functions[deployment.queue.functionName];
  if (!target) throw new Error('the queue feeds a function that the template does not have');
  const started = startQueue(deployment.queue, target);
  queue = started;
  let streamProblem: string | undefined;
  let stopStream = async () => {};
  try {
    stopStream = await followStream(endpoint, tableName, deployment.pipe, started.send);
  } catch (error) {
    streamProblem = (error as Error).message;
  }

  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    /** Why the table's stream is not followed: then merges that are cut short stay pending. */
    streamProblem,
    /** Messages that the merge queue gave up. */
    deadLetters: started.deadLetters,
    measure,
    load,
    async stop() {
      const closed = new Promise((resolve) => gateway.close(resolve));
      gateway.closeAllConnections();
      await Promise.all([closed, stopStream(), started.stop(), stopFunctions()]);
    },
  };
}
