/** The client's command, and other programs that call the service, as processes of their own. */
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
export const startCommand = (args: readonly string[], { nodeOptions = [], ...options }: CommandOptions) =>
  startProgram([process.execPath, ...nodeOptions, 'packages/client/src/cli.ts', ...args], options);

/** Starts a program of these words. */
function startProgram(words: readonly string[], { url: BASE_URL, appKey: APP_KEY = 'secret', input }: CommandOptions) {
  const [program = '', ...args] = words;
  const child: ChildProcess = spawn(program, args, { env: { ...process.env, BASE_URL, APP_KEY } });
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

export const runProgram = (words: readonly string[], options: CommandOptions) =>
  startProgram(words, { input: '', ...options }).ended;
