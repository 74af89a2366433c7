import { spawn } from 'node:child_process';

const root = new URL('../../', import.meta.url);

/** Runs the start command and waits until it serves, or ends. */
export async function start(args: string[], env: Record<string, string | undefined> = {}) {
  const child = spawn(process.execPath, ['infra/local/start.ts', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
  });
  let [output, errors] = ['', ''];
  child.stderr.on('data', (chunk) => (errors += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const serving = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('Ctrl-C stops it')) resolve();
    });
  });
  await Promise.race([serving, ended]);
  return { child, ended, output: () => output, errors: () => errors };
}
