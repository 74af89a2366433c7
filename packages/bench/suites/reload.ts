/**
 * From the change of a source, here one on which every operation depends, to its first answer by the new code: with
 * `npm start -- --watch`, and by starting again. Both on a DynamoDB that runs already, in a copy of the sources.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRumResource } from '../../../lib/http/operations.ts';
import { startDynamoDb } from '../../local/dynamodb-local.ts';
import { copyService, root } from '../../local/test/support/copied-service.ts';
import type { NewFigure } from '../report.ts';

const ROUNDS = 15;
const RESTARTS = 5;
const PAUSE_MS = 2;

const CHANGED = 'lib/http/messages/en.ts';
const SENTENCE = 'The app_key is missing, invalid or expired.';

const median = (values: number[]) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)] as number;

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const folder = copyService();
  const dynamoDb = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
  let service: ChildProcess | undefined;

  /** @returns its address */
  async function start(...options: string[]): Promise<string> {
    const args = ['packages/local/start.ts', '--port', '0', ...options];
    const env = { ...process.env, DYNAMODB_ENDPOINT: dynamoDb.endpoint };
    service = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const { stdout } = service as { stdout: Readable };
    let printed = '';
    return new Promise((resolve) => {
      stdout.on('data', (text) => {
        printed += text;
        const [, url] = /Serving at (\S+)\n/.exec(printed) ?? [];
        if (url) resolve(url);
      });
    });
  }
  async function stop(): Promise<void> {
    if (!service || service.exitCode !== null) return;
    const ended = once(service, 'exit');
    service.kill('SIGTERM');
    await ended;
  }
  async function answers(url: string, sentence: string): Promise<void> {
    for (;;) {
      const answer = await fetch(`${url}${getRumResource.path}?app_key=unknown`, { method: 'POST' });
      if ((await answer.text()).includes(sentence)) return;
      await sleep(PAUSE_MS);
    }
  }
  const source = readFileSync(join(root, CHANGED), 'utf8');
  /** Makes the operations answer another sentence. */
  function change(times: number): string {
    writeFileSync(join(folder, CHANGED), source.replace(SENTENCE, `Changed ${times} times.`));
    return `Changed ${times} times.`;
  }

  try {
    const [reloads, restarts]: [number[], number[]] = [[], []];
    let url = await start('--watch');
    await answers(url, SENTENCE);
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now();
      await answers(url, change(round));
      reloads.push(performance.now() - began);
    }
    for (let round = 0; round < RESTARTS; round += 1) {
      const began = performance.now();
      const sentence = change(ROUNDS + round);
      await stop();
      url = await start();
      await answers(url, sentence);
      restarts.push(performance.now() - began);
    }
    add({
      name: 'change of a source to the first answer by it',
      value: median(reloads),
      unit: 'ms',
      baseline: { name: 'npm start again', value: median(restarts) },
      target: { most: 0.1 },
    });
  } finally {
    await stop();
    await dynamoDb.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
