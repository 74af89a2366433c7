/** Every command that the help and the documents show is one that there is, and every pipe of them works as it stands. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { adminOf, runCommand } from '../support/admin.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { newTable, stored } from '../support/service.ts';

const root = new URL('../../', import.meta.url);
const stream = new PassThrough();
const io = { stdin: stream, stdout: stream, stderr: stream, env: {}, signal: AbortSignal.abort(), now: Date.now };

function* commandsOf(command: Command): Generator<Command> {
  yield command;
  for (const inner of command.commands) yield* commandsOf(inner);
}
const names = [...commandsOf(createProgram(io))].map((command) => {
  const words: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) words.unshift(one.name());
  return words;
});

/** The examples that the help of each command ends with. */
async function examples(): Promise<string[]> {
  const helps = await Promise.all(names.map((words) => runCommand([...words, '--help'])));
  return [...new Set(helps.flatMap(({ out }) => [...out.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = '']) => line)))];
}

const documents = ['README.md', 'SECURITY.md', ...readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));

/** The arguments of each `npm run … admin -- …` of a text, up to the end of the command. */
const adminCommands = (text: string) =>
  [...text.matchAll(/npm run (?:--silent )?admin -- ([^`|\n]*)/g)].map(([, line = '']) => line.trim());
const words = (line: string) =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');

/** What is replaced so that a command that is shown for AWS, or with a variable, can be run here. */
const here = (args: string[]) =>
  args
    .filter((_word, at) => !/^--(stack|region|table|endpoint)$/.test(args[at - 1] ?? ''))
    .filter((word) => !/^--(stack|region|table|endpoint)$/.test(word));

let table: Table;
const folder = mkdtempSync(join(tmpdir(), 'help-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(async () => {
  table = await newTable();
  await adminOf(table)(['account', 'create', '42', '--name', 'Acme', '--permission', 'monit']);
});

describe('the help', () => {
  it('has an example for every command', async () => {
    const shown = await examples();
    for (const name of names) expect(shown.some((line) => line.includes(`admin -- ${name.join(' ')}`))).toBe(true);
  });

  it('shows commands that run: none is used wrongly', async () => {
    const lines = (await examples()).flatMap(adminCommands).filter((line) => !/ --for /.test(line));
    expect(lines.length).toBeGreaterThan(20);
    for (const line of lines) {
      const simulated = line
        .replace(/--hosts \d+/, '--hosts 3')
        .replace('hosts.ndjson', '-')
        .replace('acme.ndjson', join(folder, 'acme.ndjson'));
      const { exitCode, err } = await adminOf(table)([...here(words(simulated)), '--yes']);
      const expected = /gateway-keys remove/.test(line) ? [2] : [0, 1]; // there is no API Gateway here
      expect(expected, `${line}: ${err}`).toContain(exitCode);
      expect(err).not.toMatch(/unknown|required|Usage/);
    }
  });
});

describe.each(documents)('$path', ({ text }) => {
  it('names commands that there are', async () => {
    for (const line of adminCommands(text)) {
      const args = here(words(line));
      const known = names.some((name) => name.length > 0 && name.every((word, at) => word === args[at]));
      expect([
        line,
        known || args[0] === '…' || args[0] === '--help' || args[0] === '"$@"' || args[0] === '$@',
      ]).toEqual([line, true]);
    }
  });

  it('has no pipe from npm without --silent: it prints a banner there', () => {
    expect(text.match(/npm run (?!--silent)[^`\n]*\|(?!\|)[^`\n]*npm run/g) ?? []).toEqual([]);
  });
});

it('the pipe that the help shows copies an account, npm and all', async () => {
  const pipe = (await examples()).find((line) => line.includes(' | ')) ?? '';
  const other = await newTable();
  const command = pipe.replace('--stack Other --yes', `--table ${other.name} --endpoint ${dynamodbEndpoint()}`);
  expect(command).not.toBe(pipe);
  const env = { ...process.env, DYNAMODB_ENDPOINT: dynamodbEndpoint(), TABLE_NAME: table.name };
  const shell = spawn('bash', ['-o', 'pipefail', '-c', command], { cwd: fileURLToPath(root), env, stdio: 'ignore' });
  expect(await new Promise((resolve) => shell.once('close', resolve))).toBe(0);
  expect((await stored(other, keys.account(42))).name).toBe('Acme');
});
