/** A function in a process of its own, which gets a share of one processor. As a program: loads the function and calls it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { limitCpu } from './cpu-share.ts';
import { type FunctionSource, type LocalFunction, startFunction } from './local-functions.ts';

/** What goes into the process, and what comes back. */
type Request = { id: number } & ({ load: true } | { event: unknown });
type Completion = { id: number } & ({ result?: unknown } | { error: string });

if (import.meta.main) {
  const [entry = '', timeoutMs] = process.argv.slice(2);
  const running = startFunction({ entry: new URL(entry), env: {}, timeoutMs: Number(timeoutMs) });
  process.on('disconnect', () => process.exit());
  process.on('message', async (request: Request) => {
    const outcome = await ('load' in request ? running.load() : running.invoke(request.event)).then(
      (result) => ({ result }),
      (error: Error) => ({ error: error.message }),
    );
    process.send?.({ id: request.id, ...outcome } satisfies Completion);
  });
}

/** Starts a function with a share of one processor; a process that ends is replaced for the next call. */
export function startFunctionProcess(source: FunctionSource, cpuShare: number): LocalFunction {
  let running: ReturnType<typeof startProcess> | undefined;
  const current = () => {
    if (!running?.isRunning()) running = startProcess(source, cpuShare);
    return running;
  };
  return {
    async load() {
      await current().send({ load: true });
    },
    invoke: (event) => current().send({ event }),
    async stop() {
      await running?.end();
    },
  };
}

function startProcess({ entry, env, timeoutMs }: FunctionSource, cpuShare: number) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = fork(fileURLToPath(import.meta.url), [entry.href, String(timeoutMs)], {
    env: { ...env, PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) },
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let sent = 0;
  let unlimit = () => {};
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const isRunning = () => child.exitCode === null && child.signalCode === null;

  function send(request: { load: true } | { event: unknown }): Promise<unknown> {
    sent += 1;
    const call = Promise.withResolvers<unknown>();
    waiting.set(sent, call);
    child.send({ id: sent, ...request } satisfies Request);
    return call.promise;
  }

  child.on('message', ({ id, ...outcome }: Completion) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if ('error' in outcome) call?.reject(new Error(outcome.error));
    else call?.resolve(outcome.result);
  });
  child.once('exit', () => {
    unlimit();
    process.removeListener('exit', kill);
    for (const { reject } of waiting.values()) reject(new Error('the function ended'));
  });
  // The limit begins once the function is loaded: from its sources here, which takes much longer than the bundle on Lambda.
  send({ load: true }).then(
    () => {
      if (child.pid !== undefined && cpuShare < 1 && isRunning()) unlimit = limitCpu(child.pid, cpuShare);
    },
    () => {}, // the call that comes next tells
  );
  return {
    isRunning,
    send,
    async end() {
      if (!isRunning()) return;
      const ended = once(child, 'exit');
      kill();
      await ended;
    },
  };
}
