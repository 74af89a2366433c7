/** What `npm start` starts: DynamoDB Local, the table with its data, and the service. */

import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import inspector from 'node:inspector';
import { join, resolve } from 'node:path';
import { PATIENT } from '../../lib/aws/http-handler.ts';
import { createAppKeys } from '../../lib/http/app-keys.ts';
import { operations } from '../../lib/operations/index.ts';
import { isUnavailable } from '../../lib/shared/concurrency.ts';
import { SETTINGS, TIME_LIMITS } from '../../lib/shared/settings.ts';
import { connectTable, type Table } from '../../lib/table/client.ts';
import { listAccounts } from '../admin/accounts/accounts.ts';
import { CliError } from '../admin/cli/io.ts';
import { startConsole } from '../admin/console/console.ts';
import { checkData, DataError } from '../admin/data/check-lines.ts';
import { linesOf } from '../admin/data/lines.ts';
import { countKinds, countsText, writeData } from '../admin/data/load.ts';
import { connectIngestQueues } from '../admin/ingest/queues.ts';
import { NoAnswerError, withAnswerTimeout } from '../admin/local-service/answer-timeout.ts';
import { createLocalGatewayKeys } from '../admin/local-service/local-gateway-keys.ts';
import { createTable, LOCAL_TABLE_NAME } from '../admin/local-service/local-table.ts';
import { registerRunning } from '../admin/local-service/running.ts';
import { line } from '../admin/text/printable.ts';
import { damageAdvice, startDynamoDb } from './dynamodb-local.ts';
import { FAILURES, type Failure, startFailingTable } from './failing-table.ts';
import { fullDisk } from './full-disk.ts';
import type { Served } from './gateway.ts';
import { type LocalService, startService } from './local-service.ts';
import { DEMO_KEYS, sampleData } from './sample.ts';
import { startSampleReports } from './sample-reports.ts';
import type { Options } from './start-options.ts';
import type { Template } from './template.ts';

/**
 * @param atEnd registers a function that stops a started part
 * @param fail called with an error that ends the service after it has started
 * @throws CliError saying what to do
 */
export async function serve(
  options: Options,
  atEnd: (stop: () => Promise<void>) => void,
  fail: (error: unknown) => void,
): Promise<void> {
  const preparing = prepareTable(options, atEnd, fail);
  // An editor's terminal may have attached a debugger already.
  if (options.inspect && !inspector.url()) inspector.open();
  if (options.inspect && !inspector.url())
    throw new CliError("The debugger's port 9229 is in use: stop the process that uses it.");
  const [{ endpoint, table }, template] = await Promise.all([preparing, readTemplate()]);
  const clocks = { now: Date.now, monotonicNow: performance.now.bind(performance) };
  const demo = await createAppKeys({ table, ...clocks, timeLimits: TIME_LIMITS }).find(DEMO_KEYS.demo);
  const demoKey = demo && DEMO_KEYS.demo; // absent from a table with the user's own data
  const failing = options.fail.length > 0 ? await startFailingTable(endpoint, options.fail) : undefined;
  if (failing) atEnd(failing.close);
  const service = await startService({
    template,
    endpoint,
    functionsEndpoint: failing?.endpoint,
    tableName: LOCAL_TABLE_NAME,
    port: options.port,
    onServed,
    onFailed,
    demoKey,
    eventsFile: options.events,
  });
  atEnd(service.stop);
  const { url, queueUrls: outputs } = service;
  const { address: consoleAddress, stop: stopConsole } = await startConsole({
    table,
    target: `local, ${url}`,
    isLocal: true,
    commandOptions: ['--service', url],
    now: Date.now,
    url,
    measure: async () => service.measure(),
    deadLetters: async () => service.measure().dead_letters,
    ingestQueues: connectIngestQueues(new Map(Object.entries(outputs)), undefined).ingestQueues,
    onFailed: (text) => process.stderr.write(`${text}\n`),
  });
  atEnd(stopConsole);
  try {
    atEnd(registerRunning({ pid: process.pid, url, endpoint, tableName: LOCAL_TABLE_NAME, outputs }));
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code;
    show(
      `Warning: cannot write to .local (${why}), so \`npm run admin\` does not find this service: make .local writable and start again, or use a DynamoDB of your own and set DYNAMODB_ENDPOINT for both.`,
    );
  }
  if (demo && !options.still) atEnd(startSampleReports(service.sendToIngest));
  if (service.streamProblem)
    show(`Warning: cannot read the table's stream (${service.streamProblem}); interrupted merges stay pending.`);
  show(welcome(service, consoleAddress, demoKey, options.fail));
  // An error that nothing catches must not end the service.
  process.on('uncaughtException', (error) =>
    process.stderr.write(`Unexpected error (the service keeps running): ${error.stack}\n`),
  );
}

/** Synthesizes the template, which takes half a second. Tests have done that already, and name the file with it. */
async function readTemplate(): Promise<Template> {
  const { SYNTHESIZED_TEMPLATE: file } = process.env;
  if (file) return JSON.parse(readFileSync(file, 'utf8'));
  const context = Object.entries(SETTINGS).map(([name, { env }]) => [name, process.env[env] || undefined]);
  const { synthesize } = await import('./synthesize.ts');
  return synthesize(Object.fromEntries(context));
}

/**
 * While the table is created and loaded: time without an answer from DynamoDB after which a message says so, and after which the start
 * fails.
 */
const NOTICE_AFTER_MS = 3_000;
const FAIL_AFTER_MS = 30_000;

/** Starts DynamoDB, creates the table and loads its data. */
async function prepareTable(
  options: Options,
  atEnd: (stop: () => Promise<void>) => void,
  fail: (error: unknown) => void,
): Promise<{ endpoint: string; table: Table }> {
  const { db } = options;
  const onWaiting = () => show('Still waiting for DynamoDB.');
  const waiting = setTimeout(onWaiting, NOTICE_AFTER_MS);
  const starting = startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT, dbDirectory: db });
  atEnd(async () => (await starting).stop());
  const { endpoint, ended } = await starting;
  clearTimeout(waiting);
  void ended.then((message) => fail(new CliError(message)));
  const table = connectTable({ name: LOCAL_TABLE_NAME, endpoint, ...PATIENT });
  atEnd(async () => table.client.destroy());
  const watched = withAnswerTimeout(table, { warnAfterMs: NOTICE_AFTER_MS, failAfterMs: FAIL_AFTER_MS, onWaiting });
  try {
    await createTable(endpoint, LOCAL_TABLE_NAME);
    await loadTable(watched.table, options);
  } catch (error) {
    if (error instanceof DataError) throw new CliError(error.message);
    if (!(error instanceof NoAnswerError || isUnavailable(error))) throw error;
    const problem = `DynamoDB has stopped answering (${(error as Error).name}): check the load of this machine.`;
    throw new CliError((db && fullDisk(db)) || `${problem}${damageAdvice(db)}`);
  } finally {
    watched.stop();
  }
  return { endpoint, table };
}

/**
 * Loads the data that the options name; without such data, loads the sample if the table is empty. Repeats an interrupted load, which
 * writes the same rows again.
 */
async function loadTable(table: Table, { data, db, still }: Options): Promise<void> {
  /** A file that exists while loading: contains the path of the data file, or nothing for the sample. */
  const marker = db === undefined ? undefined : join(db, 'loading');
  const interrupted = marker !== undefined && existsSync(marker) ? readFileSync(marker, 'utf8') : undefined;
  const file = data ?? (interrupted || undefined);
  if (file === undefined && interrupted === undefined && (await listAccounts(table)).length > 0) {
    show('The table already has data: no sample data is loaded.');
    return;
  }
  const source = file ?? 'sample data';
  const nowMs = Date.now();
  const input = file === undefined ? sampleData(nowMs, { reporting: !still }) : linesOf(createReadStream(file));
  const lines = await checkData(table, source, input, { nowMs });
  if (marker) writeFileSync(marker, file === undefined ? '' : resolve(file));
  await writeData(table, source, lines, { nowMs, gatewayKeys: createLocalGatewayKeys(table) });
  show(`Loaded ${source}: ${countsText(countKinds(lines))}`);
  if (marker) rmSync(marker);
}

function welcome(
  { url, queueUrls }: LocalService,
  consoleAddress: string,
  demoKey: string | undefined,
  fail: readonly Failure[],
): string {
  const appKey = demoKey ?? '<API_KEY>';
  // With these variables curl would send the calls to a proxy.
  const { http_proxy, all_proxy, ALL_PROXY } = process.env;
  const direct = http_proxy || all_proxy || ALL_PROXY ? " --noproxy '*'" : '';
  const curl = (path: string, body: object) =>
    `curl -s${direct} '${url}${path}?app_key=${appKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  return [
    '',
    `Serving at ${url}`,
    `Reference  ${url}/docs`,
    `Console    ${consoleAddress}`,
    `Feed       ${queueUrls.FeedUrl}`,
    ...(demoKey === undefined ? [] : [`Demo key   ${demoKey}`]),
    ...fail.map((failure) => `Failing    ${failure}: ${FAILURES[failure]}`),
    '',
    ...operations.map(({ path, example }) => curl(path, example.request)),
    '',
    'Press Ctrl-C to stop. Requests:',
  ].join('\n');
}

function onServed({ method, path, status, code, durationMs, requestId }: Served): void {
  show(line`${new Date().toISOString()} ${method} ${path} ${status} ${code} ${durationMs.toFixed(1)} ms ${requestId}`);
}

/** Prints why a function failed. */
function onFailed(functionName: string, { message }: Error): void {
  process.stderr.write(`${line`The function ${functionName} failed: ${message}`}\n`);
}

const show = (text: string) => process.stdout.write(`${text}\n`);
