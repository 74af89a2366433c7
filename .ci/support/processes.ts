/** Commands and servers that the scripts of .ci/run start. None outlives its script. */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';

export const root = new URL('../..', import.meta.url).pathname;
/** The path of a tool that `.ci/install-python-tools` installed. */
export const pythonTool = (name: string) => `${root}.local/ci/python/bin/${name}`;

/** Where programs built from Go modules are kept between runs. */
const GO_TOOLS = `${root}.local/ci/go`;

/** How many lines of a failed command's output its error has. */
const LAST_LINES = 80;

type Environment = Readonly<Record<string, string | undefined>>;

/** A port of the loopback interface that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/** Runs a command to its end. @returns its standard output @throws an error with its last lines, when it fails */
export async function run(
  command: string,
  args: readonly string[],
  env: Environment = {},
  cwd: string = root,
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(command, [...args], options).catch((error) => {
    const printed = `${error.stdout}\n${error.stderr}`.trim().split('\n').slice(-LAST_LINES).join('\n');
    throw new Error(`${command} ${args.join(' ')} failed (${error.code}):\n${printed}`);
  });
  return stdout;
}

/** Runs a line of shell, as a user would type it. @returns and throws as {@link run} */
export const shell = (line: string, env: Environment = {}) => run('bash', ['-o', 'pipefail', '-c', line], env);

/** Builds a tool that `.ci/go-tools/go.mod` names, of exactly the sources that its go.sum names. @returns its path */
export async function goTool(tool: string): Promise<string> {
  const file = `${GO_TOOLS}/${tool.split('/').at(-1)}`;
  await run('go', ['build', '-C', `${root}.ci/go-tools`, '-mod=readonly', '-trimpath', '-o', file, tool]);
  return file;
}

/** Starts a server with a process group of its own. `stop` ends the group: it returns false when it had to kill it. */
export function startServer(command: string, args: readonly string[], options: SpawnOptions) {
  const child: ChildProcess = spawn(command, args, { ...options, detached: true });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, name);
  };
  const kill = () => signal('SIGKILL');
  process.once('exit', kill);
  return {
    child,
    ended,
    async stop(): Promise<boolean> {
      signal('SIGTERM');
      const late = setTimeout(kill, 10_000);
      await ended;
      clearTimeout(late);
      process.removeListener('exit', kill);
      return child.signalCode !== 'SIGKILL';
    },
  };
}

/** Starts the service of a tree as the README says, but with a sample that stands still, and waits until it serves. */
export async function startService(args: readonly string[] = [], cwd: string = root) {
  const port = await freePort();
  const server = startServer('npm', ['start', '--silent', '--', '--port', String(port), '--still', ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the service did not start in 60 s:\n${output}`)), 60_000);
    server.child.once('exit', (code) => reject(new Error(`the service ended with exit code ${code}:\n${output}`)));
    server.child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (!output.includes('Press Ctrl-C to stop')) return;
      clearTimeout(late);
      resolve();
    });
  });
  return { url: `http://127.0.0.1:${port}`, output, stop: server.stop };
}
