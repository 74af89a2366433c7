/** Runs a function in a process with a share of a processor. As a program: loads the function and calls it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createFunction, type FunctionSource } from '../local/local-functions.ts';
import { limitCpu } from './cpu-share.ts';

if (import.meta.main) {
  const [entry = '', timeoutMs] = process.argv.slice(2);
  // The function is loaded from its sources, which takes much longer than a bundle on Lambda, so before the limit begins.
  await import(entry);
  const running = createFunction({ entry: new URL(entry), env: {}, timeoutMs: Number(timeoutMs) });
  process.on('disconnect', () => process.exit());
  process.on('message', async (event) =>
    process.send?.(
      await running.invoke(event).then(
        (result) => ({ result }),
        (error: Error) => ({ error: error.message }),
      ),
    ),
  );
  process.send?.('loaded');
}

/** Starts a function, which takes one call at a time. */
export async function startFunctionProcess({ entry, env, timeoutMs }: FunctionSource, cpuShare: number) {
  const child = fork(fileURLToPath(import.meta.url), [entry.href, String(timeoutMs)], {
    env: { ...env, PATH: process.env.PATH, HOME: tmpdir() },
  });
  const ended = once(child, 'exit');
  const answer = () =>
    Promise.race([
      once(child, 'message').then(([message]) => message as { result?: unknown; error?: string }),
      ended.then(() => Promise.reject(new Error('the function ended'))),
    ]);
  await answer();
  const unlimit = limitCpu(child.pid as number, cpuShare);
  return {
    async invoke(event: object): Promise<unknown> {
      child.send(event);
      const { result, error } = await answer();
      if (error !== undefined) throw new Error(error);
      return result;
    },
    async stop(): Promise<void> {
      unlimit();
      child.kill('SIGKILL');
      await ended;
    },
  };
}
