import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start } from '../support/start.ts';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/operator.md', root), 'utf8');
/** Each block of commands, and what the document says that it prints. */
const steps = [...text.matchAll(/```sh\n(.*?)```(?:\n```(?:text|json)\n(.*?)```)?/gs)].map(
  ([, commands = '', output]) => ({ commands, output }),
);

/** What differs from run to run: times, ids, keys, cursors, rates. */
const steady = (output: string) =>
  output
    .replace(/^npm warn .*\n/gm, '')
    .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?/g, '<time>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/\b[0-9a-f]{16}\b/g, '<key id>')
    .replace(/…[\w-]+/g, '…<digits>')
    .replace(/\b\d{15}\b/g, '<stamp>')
    .replace(/\b\d{13}\b/g, '<ms>')
    .replace(/"next_cursor":"[^"]*"/g, '"next_cursor":"<cursor>"')
    .replace(/"(max_age_ms)":\d+/g, '"$1":<ms>')
    .replace(/\d+ a second/g, '<rate> a second')
    .replace(/[\d.]+ s ago/g, '<age> ago')
    .replace(/ +$/gm, '')
    .replace(/^\n+|\n+$/g, '');

describe("the operator's walk", () => {
  let service: Awaited<ReturnType<typeof start>>;
  let printed: string[];
  beforeAll(async () => {
    service = await start(['--port', '0'], { DYNAMODB_ENDPOINT: undefined });
    const url = /Serving at (\S+)/.exec(service.output())?.[1] ?? '';
    const script = ['set -eu', 'exec 2>&1', ...steps.map(({ commands }) => `${commands}\nprintf '\n@@@\n'`)].join('\n');
    const { DYNAMODB_ENDPOINT: _own, ...env } = process.env;
    const shell = spawn('bash', ['-c', script.replace('http://127.0.0.1:3000', url)], {
      cwd: root,
      env: { ...env, SERVICE_URL: url },
    });
    let output = '';
    shell.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const exitCode = await new Promise((resolve) => shell.once('close', resolve));
    if (exitCode !== 0) throw new Error(`the walk ended with exit code ${exitCode}:\n${output}`);
    printed = output.split('\n@@@\n');
  }, 300_000);
  afterAll(() => service.child.kill('SIGTERM'));

  it('has a step for each part of the first day', () => {
    expect(steps.length).toBeGreaterThan(15);
  });

  it.each(steps.map(({ commands, output }, index) => ({ command: commands.split('\n')[0], output, index })))(
    '$command',
    ({ output = '', index }) => {
      expect(steady(printed[index] ?? '')).toBe(steady(output));
    },
  );
});
