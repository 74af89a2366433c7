/** The certificate's own services: `npm start` with its data, and others with failing parts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listRunning } from '../../infra/local/running.ts';
import { connectTable } from '../../lib/table/client.ts';
import { CliError } from '../io.ts';
import { type Caller, createTurns } from './callers.ts';
import { entitiesOf, entityLines, fleetLines, linesText, rumLines, strangerLines } from './data.ts';
import type { Impaired, Lab } from './lab.ts';
import { warmUp } from './trial.ts';

/** Accounts with the same small fleet, which browse by turns. */
const BROWSERS = 6;

const START = fileURLToPath(new URL('../../infra/local/start.ts', import.meta.url));

/** Starts a service and waits until it serves. @returns where */
function startOne(children: ChildProcess[], args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, [START, '--port', '0', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let [output, errors] = ['', ''];
  child.stderr.on('data', (chunk) => (errors += chunk));
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      if (output.includes('Requests:')) return;
      output += chunk;
      const [, url] = /Serving at (\S+)/.exec(output) ?? [];
      if (url && output.includes('Requests:')) resolve(url);
    });
    child.once('close', () => reject(new CliError(`Cannot start the service. ${errors.trim()}`)));
  });
}

function newAccounts() {
  let account = randomInt(2 ** 30, 2 ** 46);
  const lines: { kind: string; account_id: number }[] = [];
  const keyOf = (account_id: number, more: object = {}): Caller => {
    const appKey = randomBytes(32).toString('base64url');
    lines.push({ kind: 'app_key', account_id, app_key: appKey, ...more } as (typeof lines)[number]);
    return { appKey };
  };
  return {
    lines,
    keyOf,
    /** A new account and its key. */
    add(permissions: string[] = ['monit']) {
      account += 1;
      const line = { kind: 'account', account_id: account, name: 'Certificate', permissions };
      lines.push(line);
      return { account, caller: keyOf(account) };
    },
  };
}

/** Starts everything that the certificate needs, on free ports. @returns it, and how to stop it */
export async function startLab(): Promise<{ lab: Lab; stop: () => Promise<void> }> {
  const nowMs = Date.now();
  const entities = entitiesOf(String(nowMs));
  const accounts = newAccounts();
  const [main, record, usage, stranger] = [accounts.add(), accounts.add(), accounts.add(), accounts.add([])];
  const [minute, second, burst] = [accounts.add(), accounts.add(), accounts.add()];
  const browsers = Array.from({ length: BROWSERS }, () => accounts.add());
  const expired = accounts.keyOf(main.account, { expires_at: Math.floor(nowMs / 1000) - 60 });
  const data = [
    ...accounts.lines,
    ...fleetLines(main.account, nowMs, { large: true }),
    ...browsers.flatMap(({ account }) => fleetLines(account, nowMs)),
    ...[main, record, usage, burst].flatMap(({ account }) => rumLines(account, nowMs)),
    ...entityLines(main.account, entities),
    ...strangerLines(stranger.account, entities),
  ];

  const folder = mkdtempSync(join(tmpdir(), 'certify-'));
  const children: ChildProcess[] = [];
  const stop = async () => {
    const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = running.map((child) => new Promise((resolve) => child.once('close', resolve)));
    for (const child of running.reverse()) child.kill('SIGTERM');
    await Promise.all(ended);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const file = join(folder, 'data.ndjson');
    writeFileSync(file, linesText(data));
    const url = await startOne(children, ['--data', file]);
    const running = listRunning().find((service) => service.url === url);
    if (!running) throw new CliError(`${url} is not listed as running.`);
    const { endpoint, tableName } = running;
    const table = connectTable({ name: tableName, endpoint });

    const impaired = new Map<Impaired, Promise<string>>();
    const startImpaired = (how: Impaired) => {
      const start = () =>
        how === 'no service map'
          ? startOne(children, [], { DYNAMODB_ENDPOINT: endpoint, SERVICEMAP_ENABLED: 'false' })
          : startOne(children, ['--fail', how], { DYNAMODB_ENDPOINT: endpoint });
      // On a busy machine the database may take too long to answer the first time.
      const started = start().catch(start);
      impaired.set(how, started);
      return started;
    };
    const lab: Lab = {
      url,
      main: main.caller,
      turns: createTurns(
        browsers.map(({ caller }) => caller),
        [main.caller],
      ),
      entities,
      stranger: stranger.caller,
      expired,
      spare: { minute: minute.caller, second: second.caller, burst: burst.caller },
      changing: { record: { table, ...record }, usage: { table, ...usage } },
      stored: { table, account: main.account },
      impaired: (how) => impaired.get(how) ?? startImpaired(how),
    };
    await warmUp(lab);
    return {
      lab,
      async stop() {
        table.client.destroy();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
