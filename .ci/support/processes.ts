/** Commands and servers that the scripts of .ci/run start. None outlives its script. */
import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export const root = new URL('../..', import.meta.url).pathname;
/** The path of a tool that `.ci/install-python-tools` installed. */
export const pythonTool = (name: string) => `${root}.local/ci/python/bin/${name}`;

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a command in the root folder. @returns its standard output @throws an error with the last lines that it printed, when it fails */
export async function run(command: string, args: readonly string[], env: Environment = {}): Promise<string> {
  const options = { cwd: root, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(command, [...args], options).catch((error) => {
    const printed = `${error.stdout}\n${error.stderr}`.trim().split('\n').slice(-80).join('\n');
    throw new Error(`${command} ${args.join(' ')} failed (${error.code}):\n${printed}`);
  });
  return stdout;
}

/** Runs a line of shell, as a user would type it. @returns and throws as {@link run} */
export const shell = (line: string, env: Environment = {}) => run('bash', ['-o', 'pipefail', '-c', line], env);

/** Packs a workspace. @returns the file in the folder */
export async function pack(workspace: string, folder: string): Promise<string> {
  const [{ filename }] = JSON.parse(await shell(`npm pack -w ${workspace} --json --pack-destination '${folder}'`));
  return `./${filename}`;
}

/** Starts a server with a process group of its own. `stop` ends the group, and throws if it had to kill it. */
export function startServer(command: string, args: readonly string[], options: SpawnOptions) {
  const child = spawn(command, args, { ...options, detached: true });
  const ended = once(child, 'close');
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, name);
  };
  const kill = () => signal('SIGKILL');
  process.once('exit', kill);
  async function stop(): Promise<void> {
    signal('SIGTERM');
    const timer = setTimeout(kill, 10_000);
    await ended;
    clearTimeout(timer);
    process.removeListener('exit', kill);
    if (child.signalCode === 'SIGKILL') throw new Error(`${command} ${args.join(' ')} did not stop`);
  }
  return { child, kill, stop, [Symbol.asyncDispose]: stop };
}

/** Starts the service as the README says, but with sample data that do not change, and waits until it serves. */
export async function startService(args: readonly string[] = [], env: Environment = {}) {
  const server = startServer('npm', ['start', '--silent', '--', '--port', '0', '--still', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const timer = setTimeout(server.kill, 60_000);
  let output = '';
  for await (const chunk of server.child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    output += chunk;
    if (output.includes('Press Ctrl-C to stop')) break;
  }
  clearTimeout(timer);
  // Discards further output: the service would block when the pipe is full.
  server.child.stdout?.resume();
  const [, url] = /Serving at (\S+)/.exec(output) ?? [];
  if (url === undefined) throw new Error(`the service did not start:\n${output}`);
  return { ...server, url, output };
}

/** Calls `poll` until it returns something other than undefined or false. @throws after so many minutes, with `what` in the message */
export async function until<Found>(
  what: string,
  poll: () => Promise<Found | undefined | false>,
  minutes = 1,
): Promise<Found> {
  for (const began = Date.now(); ; await sleep(500)) {
    const found = await poll();
    if (found !== undefined && found !== false) return found;
    if (Date.now() - began > 60_000 * minutes) throw new Error(`not within ${minutes} min: ${what}`);
  }
}

/** Waits until a server answers that it is well. */
export const untilServed = (what: string, url: string): Promise<boolean> =>
  until(what, async () => (await fetch(url).catch(() => undefined))?.ok);
