/** `npm start`: the service with sample data on this machine, until Ctrl-C. */
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { createConsole } from '../../console/console.ts';
import { listAccounts } from '../../lib/accounts/accounts.ts';
import { type OperationName, operations } from '../../lib/api/operations.ts';
import { createAppKeys } from '../../lib/auth/app-keys.ts';
import { DataError } from '../../lib/data/check.ts';
import { linesOf } from '../../lib/data/lines.ts';
import { loadData } from '../../lib/data/load.ts';
import { line } from '../../lib/printable.ts';
import { readSettings, SETTINGS } from '../../lib/settings.ts';
import { connectTable, PATIENT } from '../../lib/table/client.ts';
import { TIME_LIMITS } from '../../lib/time-limits.ts';
import { StartError, startDynamoDb } from './dynamodb-local.ts';
import { FAILURES, type Failure, isFailure, startFailingTable } from './failing-table.ts';
import type { Served } from './gateway.ts';
import { createLocalGatewayKeys } from './gateway-keys.ts';
import { startLimitsProxy } from './limits/proxy.ts';
import { noteRunning } from './running.ts';
import { DEMO_KEYS, sampleData, sampleId } from './sample.ts';
import { type LocalService, startService } from './service.ts';
import { createTable, LOCAL_TABLE_NAME } from './table.ts';

const failureLines = () =>
  Object.entries(FAILURES)
    .map(([name, seen]) => `                 ${name.padEnd(11)}  ${seen}`)
    .join('\n');

const HELP = `Usage: npm start -- [options]

Starts the service on this machine: DynamoDB Local, the table, sample data, and HTTP.
Set DYNAMODB_ENDPOINT to use another DynamoDB-compatible server instead of DynamoDB Local.

  --port N     listen on 127.0.0.1:N (default 3000)
  --data FILE  load FILE (newline-delimited JSON, see docs/data-format.md) instead of the sample data
  --db DIR     keep the database in DIR; if it holds data, no sample data is loaded
  --limits aws enforce DynamoDB's limits, and Lambda's CPU share for each function
  --fail PART  make a part of the table fail, to test your program (can be repeated):
${failureLines()}
  --help       show this help
`;

/** Wrong use of the command: exit code 2. */
class UsageError extends Error {}

interface Options {
  port: number;
  data: string | undefined;
  db: string | undefined;
  limits: boolean;
  fail: readonly Failure[];
}

function readOptions(): Options | 'help' {
  let values: { port?: string; data?: string; db?: string; limits?: string; fail?: string[]; help?: boolean };
  try {
    const options = {
      port: { type: 'string' },
      data: { type: 'string' },
      db: { type: 'string' },
      limits: { type: 'string' },
      fail: { type: 'string', multiple: true },
      help: { type: 'boolean' },
    } as const;
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See npm start -- --help.`);
  }
  if (values.help) return 'help';
  const { port = '3000', limits } = values;
  if (limits !== undefined && limits !== 'aws') throw new UsageError(`--limits must be aws, not "${limits}".`);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, not "${port}".`);
  const { fail = [] } = values;
  if (!fail.every(isFailure)) throw new UsageError(`--fail must be one of ${Object.keys(FAILURES).join(', ')}.`);
  return { port: Number(port), data: values.data, db: values.db, limits: limits !== undefined, fail };
}

/** Before anything is started: the port is free, and the data file can be read. */
async function checkFirst({ port, data }: Options): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()));
  }).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(
      error.code === 'EADDRINUSE'
        ? `Port ${port} is in use (perhaps by another npm start): stop that process, or choose another port with --port.`
        : `Cannot listen on port ${port} (${error.code}): choose another port with --port.`,
    );
  });
  if (data !== undefined)
    await access(data).catch((error: NodeJS.ErrnoException) => {
      throw new StartError(`Cannot read ${data} (${error.code}): check --data.`);
    });
}

async function start(
  options: Options,
  atEnd: (stop: () => Promise<void>) => void,
  fail: (error: unknown) => void,
): Promise<void> {
  await checkFirst(options);
  const starting = startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT, dbDirectory: options.db });
  atEnd(async () => (await starting).stop());
  const context = Object.entries(SETTINGS).map(([name, { env }]) => [name, process.env[env] || undefined]);
  // Loaded only now, so that wrong options are reported at once.
  const synthesizing = import('./synthesize.ts').then(({ synthesize }) => synthesize(Object.fromEntries(context)));
  const [dynamoDb, template] = await Promise.all([starting, synthesizing]);
  void dynamoDb.lost.then((sentence) => fail(new StartError(sentence)));
  await createTable(dynamoDb.endpoint, LOCAL_TABLE_NAME);
  const limits = options.limits ? await startLimitsProxy(dynamoDb.endpoint) : undefined;
  if (limits) atEnd(limits.close);
  // The sample is loaded without limits: it is there at once.
  const endpoint = limits?.endpoint ?? dynamoDb.endpoint;
  const table = connectTable({ name: LOCAL_TABLE_NAME, endpoint: dynamoDb.endpoint, ...PATIENT });
  const load = { nowSeconds: Math.floor(Date.now() / 1000), gatewayKeys: createLocalGatewayKeys(table) };
  if (options.data !== undefined) {
    const lines = linesOf(createReadStream(options.data));
    show(`Loaded ${options.data}: ${counts(await loadData(table, options.data, lines, load))}`);
  } else if ((await listAccounts(table)).length === 0) {
    show(`Loaded sample data: ${counts(await loadData(table, 'sample', sampleData(Date.now()), load))}`);
  } else show('The table already has data: no sample data is loaded.');
  const settings = readSettings({ TABLE_NAME: LOCAL_TABLE_NAME });
  const known = await createAppKeys({ table, now: Date.now, settings, timeLimits: TIME_LIMITS }).find(DEMO_KEYS.demo);
  const demoKey = known && DEMO_KEYS.demo; // a table of the user's own data has no such key
  atEnd(async () => table.client.destroy());

  const failing = options.fail.length > 0 ? await startFailingTable(endpoint, options.fail) : undefined;
  if (failing) atEnd(failing.close);
  let service: LocalService | undefined;
  const console = createConsole({
    table,
    target: `the table of npm start, at ${dynamoDb.endpoint}`,
    commandOptions: () => `--service ${service?.url}`,
    now: Date.now,
    deadLetters: () => service?.deadLetters.length ?? 0,
  });
  service = await startService({
    template,
    endpoint,
    ...(failing && { functionsEndpoint: failing.endpoint }),
    tableName: LOCAL_TABLE_NAME,
    port: options.port,
    onServed,
    onFailed,
    console: console.listener,
    ...(demoKey !== undefined && { demoKey }),
    limitCpu: options.limits,
  });
  atEnd(service.stop);
  const unnote = noteRunning({ pid: process.pid, url: service.url, endpoint, tableName: LOCAL_TABLE_NAME });
  atEnd(async () => unnote());
  if (service.streamProblem)
    show(`Warning: cannot read the table's stream (${service.streamProblem}); interrupted merges stay pending.`);
  show(welcome(service.url, console.entrance, demoKey, options.fail));
  // A last resort: nothing that a request does ends the service.
  process.on('uncaughtException', (error) =>
    process.stderr.write(`Unexpected error (the service keeps running): ${error.stack}\n`),
  );
}

const counts = (report: Record<string, number>) =>
  Object.entries(report)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');

function welcome(url: string, entrance: string, demoKey: string | undefined, fail: readonly Failure[]): string {
  const appKey = demoKey ?? '<API_KEY>';
  const curl = (path: string, body: object) =>
    `curl -s '${url}${path}?app_key=${appKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const ids = { alert_ids: [sampleId('alert 0'), sampleId('alert 1')], incident_id: sampleId('incident 0') };
  const bodies: Record<OperationName, object> = {
    'browse-fleet': { limit: 1, statuses: ['stale', 'degraded'] },
    'get-rum-resource': {},
    'delete-work-item': { work_item_id: 'wi-1001', version: 1 },
    'merge-alerts': { ...ids, comment: 'same cause' },
  };
  return [
    '',
    `Serving at ${url}`,
    `Reference  ${url}/docs`,
    `Console    ${url}${entrance}`,
    ...(demoKey === undefined ? [] : [`Demo key   ${demoKey}`]),
    ...fail.map((failure) => `Failing    ${failure}: ${FAILURES[failure]}`),
    '',
    ...operations.map(({ name, path }) => curl(path, bodies[name])),
    '',
    'Press Ctrl-C to stop. Requests:',
  ].join('\n');
}

function onServed({ method, path, status, code, durationMs, requestId }: Served): void {
  show(line`${new Date().toISOString()} ${method} ${path} ${status} ${code} ${durationMs.toFixed(1)} ms ${requestId}`);
}

/** Why calls are answered with InternalError: a function of the service is broken. */
function onFailed(functionName: string, { message }: Error): void {
  process.stderr.write(`${line`The function ${functionName} failed: ${message}`}\n`);
}

const show = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  let ending: Promise<void> | undefined;
  const end = (exitCode: number) => {
    ending ??= (async () => {
      for (const stop of stops.reverse()) await stop().catch(() => undefined);
      process.exit(exitCode);
    })();
    return ending;
  };
  function fail(error: unknown): void {
    if (ending) return;
    process.stderr.write(`${messageOf(error)}\n`);
    void end(error instanceof UsageError ? 2 : 1);
  }
  process.on('SIGINT', () => end(0));
  process.on('SIGTERM', () => end(0));
  process.on('SIGHUP', () => end(0)); // the terminal was closed
  // npm that is ended by a signal leaves what it runs behind.
  if (process.env.npm_lifecycle_event !== undefined) whenOrphaned(() => end(0));
  try {
    if (Number(process.versions.node.split('.')[0]) < 24)
      throw new StartError('Node 24 is required: use `npm start`, which provides it.');
    const options = readOptions();
    if (options === 'help') process.stdout.write(HELP);
    else await start(options, (stop) => stops.push(stop), fail);
  } catch (error) {
    fail(error);
  }
}

const PARENT_CHECK_MS = 1_000;

function whenOrphaned(act: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => process.ppid === parent || act(), PARENT_CHECK_MS);
  timer.unref();
}

/** What a user sees of a failure: our own sentences whole, of anything else its kind and first line. */
function messageOf(error: unknown): string {
  if (error instanceof StartError || error instanceof UsageError || error instanceof DataError) return error.message;
  const { name, message } = error as Error;
  return `Cannot start the service: ${name}: ${message.split('\n')[0]}`;
}

await main();
