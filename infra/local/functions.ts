import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';

/** A function to run: the module that exports its `handler`, and its environment. */
export interface FunctionSource {
  readonly entry: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** A running function, as Lambda runs it: in a world of its own, with an environment of its own. */
export interface LocalFunction {
  /** @throws when the handler threw, or its world ended */
  invoke(event: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** What goes into a function's thread, and what comes back. */
export interface Invocation {
  id: string;
  event: unknown;
  deadlineMs: number;
}
export type Completion = { id: string; result: unknown } | { id: string; error: string };

const WORKER = new URL('./function-worker.ts', import.meta.url);

/** Starts a function; a world that ends is made anew for the next call. */
export function startFunction({ entry, env, timeoutMs }: FunctionSource): LocalFunction {
  /** A world and the calls that it has yet to answer: they end with it, those of its successor do not. */
  interface World {
    readonly worker: Worker;
    readonly waiting: Map<string, { resolve(value: unknown): void; reject(error: Error): void }>;
  }
  let world: World | undefined;

  function start(): World {
    const waiting: World['waiting'] = new Map();
    const started: World = {
      worker: new Worker(WORKER, { workerData: { entry: entry.href }, env: { ...env } }),
      waiting,
    };
    const { worker } = started;
    worker.on('message', (completion: Completion) => {
      const call = waiting.get(completion.id);
      waiting.delete(completion.id);
      if ('error' in completion) call?.reject(new Error(completion.error));
      else call?.resolve(completion.result);
    });
    const ended = (reason: string) => {
      if (world === started) world = undefined;
      for (const { reject } of waiting.values()) reject(new Error(reason));
      waiting.clear();
    };
    worker.on('error', (error) => ended(error instanceof Error ? error.message : 'the function ended with an error'));
    worker.on('exit', () => ended('the function ended'));
    return started;
  }

  return {
    invoke(event) {
      world ??= start();
      const { worker, waiting } = world;
      const id = randomUUID();
      const invocation: Invocation = { id, event, deadlineMs: Date.now() + timeoutMs };
      worker.postMessage(invocation);
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    async stop() {
      await world?.worker.terminate();
    },
  };
}
