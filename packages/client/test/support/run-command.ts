/** The client's command as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';

export interface CommandOptions {
  /** Address of the service. */
  url: string;
  appKey?: string;
  /** Standard input; absent: it stays open until the test ends it. */
  input?: string;
  /** Options of Node. */
  nodeOptions?: readonly string[];
}

/** Starts the command. `ended` is its exit code, 130 after SIGINT as in a shell, and what it has printed. */
export function startCommand(
  args: readonly string[],
  { url: BASE_URL, appKey: APP_KEY = 'secret', input, nodeOptions = [] }: CommandOptions,
) {
  const env = { ...process.env, BASE_URL, APP_KEY };
  const child: ChildProcess = spawn(process.execPath, [...nodeOptions, 'packages/client/src/cli.ts', ...args], { env });
  const printed = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => (printed.out += chunk));
  child.stderr?.on('data', (chunk) => (printed.err += chunk));
  child.stdin?.on('error', () => undefined); // the command may not read it
  if (input !== undefined) child.stdin?.end(input);
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, ...printed })),
  );
  return { child, printed, ended };
}

export const runCommand = (args: readonly string[], options: CommandOptions) =>
  startCommand(args, { input: '', ...options }).ended;
