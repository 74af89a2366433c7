/**
 * Small merges beside large ones of the same account, and whether DynamoDB's limits apply meanwhile. The service, DynamoDB Local and each caller are processes of
 * their own.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLimitsProxy } from '../../test/limits-proxy/limits-proxy.ts';
import { startDynamoDb } from '../local/dynamodb-local.ts';
import type { CallerOptions, CallerReport } from './merge-caller.ts';
import type { Figure } from './run.ts';
import { accountLines } from './service.ts';

const ACCOUNT = 1;
const APP_KEY = 'bench-key-of-the-fairness-of-merges-0000';
const SECONDS = 20;
const root = fileURLToPath(new URL('../../', import.meta.url));

const idsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => (first + index).toString(16).padStart(24, '0'));
const INCIDENTS = idsFrom(1, 20);
const SMALL = idsFrom(1_000, 400);

interface Fairness {
  /** Merges of one alert that begin each second. */
  smallPerSecond: number;
  /** Alerts of the merges that another caller sends, one after the other. */
  largeSize: number;
  /** Whether DynamoDB's limits apply. */
  isLimited: boolean;
}

async function measure({
  smallPerSecond,
  largeSize,
  isLimited,
}: Fairness): Promise<Record<'small' | 'large', CallerReport>> {
  await using resources = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  resources.defer(() => rm(folder, { recursive: true }));
  const large = idsFrom(100_000, largeSize);
  const data = join(folder, 'data.ndjson');
  await writeFile(data, linesWith([...SMALL, ...large]).join('\n'));
  let { endpoint } = resources.adopt(await startDynamoDb(), ({ stop }) => stop());
  if (isLimited) ({ endpoint } = resources.adopt(await startLimitsProxy(endpoint), ({ close }) => close()));
  const { url } = resources.adopt(await startService(data, endpoint), ({ stop }) => stop());
  const caller = { url, appKey: APP_KEY, incidentIds: INCIDENTS };
  const smallCaller = { ...caller, alertIds: SMALL, size: 1, perSecond: smallPerSecond };
  await call({ ...smallCaller, seconds: 1 }); // loads the function
  const [ofSmall, ofLarge] = await Promise.all([
    call({ ...smallCaller, seconds: SECONDS }),
    call({ ...caller, alertIds: large, size: largeSize, seconds: SECONDS }),
  ]);
  return { small: ofSmall, large: ofLarge };
}

function linesWith(alertIds: readonly string[]): string[] {
  const line = (kind: string, fields: object) => JSON.stringify({ kind, account_id: ACCOUNT, ...fields });
  return [
    ...accountLines(ACCOUNT, APP_KEY),
    ...INCIDENTS.map((incident_id) => line('incident', { incident_id, title: 'Checkout is down' })),
    ...alertIds.map((alert_id) => line('alert', { alert_id, title: 'p99 above threshold' })),
  ];
}

/** Runs what `npm start` does. */
async function startService(data: string, endpoint: string) {
  const child = spawn(process.execPath, ['packages/local/start.ts', '--port', '0', '--data', data], {
    cwd: root,
    env: { ...process.env, DYNAMODB_ENDPOINT: endpoint },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const [, url] = /Serving at (\S+).*Press Ctrl-C/s.exec(output) ?? [];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error(`the service has ended: ${output}`)));
  });
  return {
    url,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

async function call(options: CallerOptions): Promise<CallerReport> {
  const child = fork(fileURLToPath(new URL('./merge-caller.ts', import.meta.url)));
  const ended = once(child, 'exit');
  child.send(options);
  const [report] = (await Promise.race([once(child, 'message'), ended])) as [CallerReport | number];
  await ended;
  if (typeof report === 'number') throw new Error(`a caller has ended with exit code ${report}`);
  return report;
}

export async function run(add: (figure: Figure) => void): Promise<void> {
  await addFigures(add, { smallPerSecond: 5, largeSize: 2_000, isLimited: false });
  await addFigures(add, { smallPerSecond: 20, largeSize: 400, isLimited: true });
}

async function addFigures(add: (figure: Figure) => void, fairness: Fairness): Promise<void> {
  const { smallPerSecond, largeSize, isLimited } = fairness;
  const { small, large } = await measure(fairness);
  const load = `${smallPerSecond} small a second beside a caller of ${largeSize}${isLimited ? ', with limits' : ''}`;
  const addRefused = (name: string, { refused, sent }: CallerReport) =>
    add({ name, value: refused, unit: 'merges', baseline: { name: 'sent', value: sent }, most: 0 });
  addRefused(`${load}: refused`, small);
  add({ name: `${load}: p99`, value: small.p99, unit: 'ms', baseline: { name: 'a second', value: 1_000 }, most: 1 });
  addRefused(`${load}: large ones refused`, large);
}
