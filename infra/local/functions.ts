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
  const waiting = new Map<string, { resolve(value: unknown): void; reject(error: Error): void }>();
  let worker: Worker | undefined;

  function start(): Worker {
    const started = new Worker(WORKER, { workerData: { entry: entry.href }, env: { ...env } });
    started.on('message', (completion: Completion) => {
      const call = waiting.get(completion.id);
      waiting.delete(completion.id);
      if ('error' in completion) call?.reject(new Error(completion.error));
      else call?.resolve(completion.result);
    });
    const ended = (reason: string) => {
      if (worker === started) worker = undefined;
      for (const { reject } of waiting.values()) reject(new Error(reason));
      waiting.clear();
    };
    started.on('error', (error) => ended(error instanceof Error ? error.message : 'the function ended with an error'));
    started.on('exit', () => ended('the function ended'));
    return started;
  }

  return {
    invoke(event) {
      worker ??= start();
      const id = randomUUID();
      const invocation: Invocation = { id, event, deadlineMs: Date.now() + timeoutMs };
      worker.postMessage(invocation);
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    async stop() {
      await worker?.terminate();
    },
  };
}
