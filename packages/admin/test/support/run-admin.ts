/** The operator's command as a user runs it, in this process. */
import { PassThrough, Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Table } from '../../../../lib/table/client.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { createProgram, runAdmin } from '../../cli/program.ts';

export interface AdminOptions {
  stdin?: string | Readable;
  /** Whether it runs on a terminal. */
  terminal?: boolean;
  env?: Record<string, string>;
  signal?: AbortSignal;
  now?: () => number;
  /** Called with what it prints, as it prints it. */
  onOut?: (text: string) => void;
  onErr?: (text: string) => void;
}

/** A stream for output, and the text that was written to it. */
function collected(isTTY: boolean, onText: (text: string) => void = () => {}) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 });
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    onText(chunk.toString());
  });
  return { stream, text: () => text };
}

/** Runs a command line and waits for its end. */
export async function runCommand(args: readonly string[], options: AdminOptions = {}) {
  const { stdin = '', terminal = false, env = {}, signal = new AbortController().signal, now = Date.now } = options;
  const [out, err] = [collected(terminal, options.onOut), collected(terminal, options.onErr)];
  const source = typeof stdin === 'string' ? Readable.from(stdin === '' ? [] : [stdin]) : stdin;
  const input = Object.assign(source, { isTTY: terminal });
  const io = { stdin: input, stdout: out.stream, stderr: err.stream, env, signal, now };
  const exitCode = await runAdmin(args, io);
  await new Promise((resolve) => setImmediate(resolve));
  return { exitCode, out: out.text(), err: err.text() };
}

/** Runs the command on a table. @param endpoint by default that of the DynamoDB of this test run */
export const adminOf =
  ({ name }: Table, endpoint = dynamodbEndpoint()) =>
  (args: string | readonly string[], options: AdminOptions = {}) =>
    runCommand(
      [...(typeof args === 'string' ? args.split(' ') : args), '--endpoint', endpoint, '--table', name],
      options,
    );

const stream = new PassThrough();
/** Streams that are never used: the commands are only listed. */
const unusedIo = { stdin: stream, stdout: stream, stderr: stream, env: {}, signal: AbortSignal.abort(), now: Date.now };

/** All commands with their words, such as `app-key revoke`; the program itself has none. */
const commandsFrom = (command: Command, words: readonly string[]): { command: Command; words: readonly string[] }[] => [
  { command, words },
  ...command.commands.flatMap((subcommand) => commandsFrom(subcommand, [...words, subcommand.name()])),
];
const commands = commandsFrom(createProgram(unusedIo), []);

/** The words of every command, including groups and the program itself. */
export const commandNames = commands.map(({ words }) => words);

/** Names of the commands that have an option. */
export const commandsWith = (option: string): string[] =>
  commands
    .filter(({ command }) => command.options.some(({ long }) => long === option))
    .map(({ words }) => words.join(' '));
