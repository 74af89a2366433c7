import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { limitCpu } from './cpu-share.ts';

/** A function to run: the module that exports its `handler`, and its environment. */
export interface FunctionSource {
  readonly entry: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Share of one processor that it gets, in a process of its own; absent: a thread without a limit. */
  readonly cpuShare?: number;
}

/** A running function, as Lambda runs it: in an execution environment of its own. */
export interface LocalFunction {
  /** @throws when the handler threw, or its execution environment ended */
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

/** What a process says once it has loaded its module. */
export type Ready = 'ready';

const WORKER = new URL('./function-worker.ts', import.meta.url);

/** Where a function runs: a thread, or a process. */
interface Sandbox {
  send(invocation: Invocation): void;
  onCompletion(listener: (completion: Completion) => void): void;
  onEnd(listener: (reason: string) => void): void;
  end(): Promise<unknown>;
}

function startThread({ entry, env }: FunctionSource): Sandbox {
  const worker = new Worker(WORKER, { workerData: { entry: entry.href }, env: { ...env } });
  return {
    send: (invocation) => worker.postMessage(invocation),
    onCompletion: (listener) => worker.on('message', listener),
    onEnd(listener) {
      worker.on('error', (error) =>
        listener(error instanceof Error ? error.message : 'the function ended with an error'),
      );
      worker.on('exit', () => listener('the function ended'));
    },
    end: () => worker.terminate(),
  };
}

/** The limit begins once the module is loaded: from its sources here, which takes much longer than the bundle on Lambda. */
function startProcess({ entry, env }: FunctionSource, cpuShare: number): Sandbox {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child: ChildProcess = fork(fileURLToPath(WORKER), [entry.href], {
    env: { ...env, PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) },
    serialization: 'advanced',
  });
  let unlimit = () => {};
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => {
    unlimit();
    process.removeListener('exit', kill);
  });
  child.once('message', () => {
    if (child.pid !== undefined && cpuShare < 1) unlimit = limitCpu(child.pid, cpuShare);
  });
  return {
    send: (invocation) => child.send(invocation),
    onCompletion: (listener) =>
      child.on('message', (message: Completion | Ready) => {
        if (message !== 'ready') listener(message);
      }),
    onEnd(listener) {
      child.on('error', (error) => listener(error.message));
      child.on('exit', () => listener('the function ended'));
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      kill();
      await ended;
    },
  };
}

/** Starts a function; an execution environment that ends is replaced for the next call. */
export function startFunction(source: FunctionSource): LocalFunction {
  /** A sandbox and the calls that it has yet to answer: they end with it, those of its successor do not. */
  interface ExecutionEnvironment {
    readonly sandbox: Sandbox;
    readonly waiting: Map<string, { resolve(value: unknown): void; reject(error: Error): void }>;
  }
  let environment: ExecutionEnvironment | undefined;

  function start(): ExecutionEnvironment {
    const waiting: ExecutionEnvironment['waiting'] = new Map();
    const sandbox = source.cpuShare === undefined ? startThread(source) : startProcess(source, source.cpuShare);
    const started: ExecutionEnvironment = { sandbox, waiting };
    sandbox.onCompletion((completion) => {
      const call = waiting.get(completion.id);
      waiting.delete(completion.id);
      if ('error' in completion) call?.reject(new Error(completion.error));
      else call?.resolve(completion.result);
    });
    const ended = (reason: string) => {
      if (environment === started) environment = undefined;
      for (const { reject } of waiting.values()) reject(new Error(reason));
      waiting.clear();
    };
    sandbox.onEnd(ended);
    return started;
  }

  return {
    invoke(event) {
      environment ??= start();
      const { sandbox, waiting } = environment;
      const id = randomUUID();
      const invocation: Invocation = { id, event, deadlineMs: Date.now() + source.timeoutMs };
      sandbox.send(invocation);
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    async stop() {
      await environment?.sandbox.end();
    },
  };
}
