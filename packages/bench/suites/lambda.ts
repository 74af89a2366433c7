/**
 * Functions as Lambda runs them: bundles in processes that have the share of a processor of their memory, once they are
 * initialized, and a DynamoDB behind TLS that is 1 or 5 ms away. Against a bare handler that makes the same calls to
 * DynamoDB; what a million calls cost by memory; and the CPU of one call through the client of the table, against a plain
 * document client.
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { aliases } from '../../../infra/left-out.ts';
import { createAppKeys } from '../../../lib/auth/app-keys.ts';
import { createUsageKeyAuthorizer } from '../../../lib/auth/usage-key-authorizer.ts';
import { connectTable, type Table } from '../../../lib/dynamodb/client.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import {
  browseFleet,
  deleteWorkItem,
  getRumResource,
  type ListedOperation,
  mergeAlerts,
} from '../../../lib/http/operations.ts';
import { RUM_RECORD } from '../../../test/support/rum.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { bundle } from '../bundle.ts';
import { cpuClock, takeTurns } from '../compare.ts';
import { cpuShareOf, limitCpu } from '../cpu-share.ts';
import { accountLines, fleetLines, hostFields } from '../fleet-data.ts';
import type { WireCall } from '../lambda/bare.ts';
import type { NewFigure } from '../report.ts';

type Add = (figure: NewFigure) => void;

const ACCOUNT = 1;
const KEY = 'bench-key-of-functions-0000000000';
const ROUNDS = 3;
/** Calls in each environment after its first. */
const WARM_CALLS = 80;
/** Memory in MB, the round trip to DynamoDB in milliseconds, and whether a bare handler is compared; the last makes no calls that the bare one misses. */
const SETTINGS = [
  { memoryMb: 512, roundTripMs: 1, compared: true },
  { memoryMb: 512, roundTripMs: 5, compared: true },
  { memoryMb: 1_024, roundTripMs: 1, compared: true },
  { memoryMb: 1_769, roundTripMs: 1, compared: true },
  { memoryMb: 256, roundTripMs: 1, compared: false },
] as const;
/** Round trip to DynamoDB for the figures by memory. */
const CURVE_ROUND_TRIP_MS = 1;
/** Time between two calls of fleet browse, which allows thirty a minute. */
const BROWSE_STEP_MS = 2_100;
const MERGED = 10;
/** The order of merges is that of the clock. */
const MERGE_STEP_MS = 10;

/** US dollars, of a GB-second on arm64 and of a million requests: see docs/cost.md. */
const [GB_SECOND, MILLION_REQUESTS] = [0.0000133334, 0.2];

interface Subject {
  /** Name of the function. */
  name: string;
  /** Milliseconds by which the clock is set forward for each call. */
  stepMs?: number;
  event(index: number): object;
  /** Makes the same call in this process. */
  call(service: BenchService, index: number): Promise<unknown>;
}

const operation = (listed: ListedOperation, body: (index: number) => object, { stepMs = 0 } = {}): Subject => ({
  name: listed.name,
  stepMs,
  event: (index) => eventOf(listed, body(index)),
  call: (service, index) => service.call(listed, KEY, body(index)),
});

const idOf = (index: number) => index.toString(16).padStart(24, '0');
const INCIDENT = 'f'.repeat(24);
/** The authorizer caches keys, so each call has a new key, whose use it stores. */
const keyOf = (index: number) => `bench-key-${index}`.padEnd(32, '-');

const authorizer: Subject = {
  name: 'usage-key-authorizer',
  event: (index) => ({
    queryStringParameters: { app_key: keyOf(index) },
    methodArn: 'arn:aws:execute-api:a/prod/POST/b',
  }),
  call: ({ deps }, index) =>
    createUsageKeyAuthorizer(
      createAppKeys(deps, { recordsUse: true }),
      deps,
      'shared',
    )(authorizer.event(index) as never),
};

const SUBJECTS: readonly Subject[] = [
  operation(browseFleet, () => ({}), { stepMs: BROWSE_STEP_MS }),
  operation(getRumResource, () => ({ no_cache: true })),
  operation(deleteWorkItem, (index) => ({ work_item_id: `w${index}`, version: 1 })),
  operation(
    mergeAlerts,
    (index) => ({
      incident_id: INCIDENT,
      alert_ids: Array.from({ length: MERGED }, (_, position) => idOf(index * MERGED + position)),
    }),
    { stepMs: MERGE_STEP_MS },
  ),
  authorizer,
];

const CALLS = SETTINGS.length * ROUNDS * (WARM_CALLS + 1);

function* lines(nowMs: number): Generator<string> {
  yield* accountLines(ACCOUNT, KEY);
  yield* fleetLines(ACCOUNT, 200, nowMs);
  const line = (kind: string, fields: object) => JSON.stringify({ kind, account_id: ACCOUNT, ...fields });
  for (let index = 0; index < CALLS; index += 1) {
    yield line('work_item', { work_item_id: `w${index}`, version: 1, title: 'Raise the timeout' });
    yield line('app_key', { app_key: keyOf(index) });
  }
  yield line('incident', { incident_id: INCIDENT, title: 'Checkout is down' });
  for (let index = 0; index < CALLS * MERGED; index += 1)
    yield line('alert', { alert_id: idOf(index), title: 'p99 above threshold' });
}

/** Records the DynamoDB calls of an operation, as rounds of concurrent calls. */
async function record(service: BenchService, subject: Subject): Promise<WireCall[][][]> {
  let rounds: WireCall[][] = [];
  let underWay = 0;
  const name = `record ${subject.name}`;
  service.table.client.middlewareStack.add(
    (next, context) => async (args) => {
      if (underWay === 0) rounds.push([]);
      underWay += 1;
      rounds.at(-1)?.push({ name: context.commandName as WireCall['name'], input: plain(args.input) });
      return next(args).finally(() => {
        underWay -= 1;
      });
    },
    { step: 'initialize', priority: 'high', name },
  );
  const all: WireCall[][][] = [];
  for (let index = 0; index < CALLS; index += 1) {
    // A new environment reads the key.
    service.stepClock(index % (WARM_CALLS + 1) === 0 ? 120_000 : (subject.stepMs ?? 0));
    rounds = [];
    await subject.call(service, index);
    all.push(rounds);
  }
  service.table.client.middlewareStack.remove(name);
  return all;
}

/** The input in the document client's form, if our client sent the wire format. */
function plain(input: object): object {
  const { ExpressionAttributeValues: values } = input as { ExpressionAttributeValues?: Record<string, AttributeValue> };
  const isRaw = Object.values(values ?? {}).some((value) => typeof value === 'object' && 'S' in value);
  return isRaw && values ? { ...input, ExpressionAttributeValues: unmarshall(values) } : { ...input };
}

async function bundled(entry: string, outfile: string): Promise<string> {
  const file = fileURLToPath(new URL(entry, import.meta.url));
  await bundle(file, outfile, entry.includes('functions') ? { alias: aliases() } : {});
  return outfile;
}

/** Milliseconds: by the clock, and of CPU. */
interface Took {
  tookMs: number;
  cpuMs: number;
}
interface Measured {
  init: Took[];
  first: Took[];
  warm: Took[];
}
const nothing = (): Measured => ({ init: [], first: [], warm: [] });

/** Runs a bundle in an environment of its own: its initialization, its first call and the others. */
async function runOnce(file: string, env: Record<string, string>, share: number, events: unknown[], into: Measured) {
  const child = fork(fileURLToPath(new URL('../lambda/process.ts', import.meta.url)), {
    env: { ...env, BUNDLE: file, PATH: process.env.PATH, HOME: tmpdir() },
    serialization: 'advanced',
    silent: true,
  });
  const next = async () => (await once(child, 'message'))[0] as Took & { status?: unknown };
  const init = await next();
  const unlimit = share < 1 ? limitCpu(child.pid as number, share) : () => {};
  const calls: Took[] = [];
  for (const event of events) {
    child.send(event as object);
    const { status, ...took } = await next();
    if (status !== 200) throw new Error(`${file} answers ${status}`);
    calls.push(took);
  }
  unlimit();
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  into.init.push(init);
  into.first.push(calls[0] as Took);
  into.warm.push(...calls.slice(1));
}

const quantile = (values: readonly number[], fraction: number) =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length * fraction)] as number;

interface Comparison {
  setting: string;
  ours: Measured;
  bare: Measured;
}

const sumsOf = ({ init, first }: Measured, of: keyof Took) =>
  init.map((one, index) => one[of] + (first[index] as Took)[of]);
const valuesOf = (all: readonly Took[], of: keyof Took) => all.map((one) => one[of]);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What is compared, and its target. */
const FIGURES = [
  ['init + first call', (one: Measured) => quantile(sumsOf(one, 'tookMs'), 0.5), 0.75],
  ['first call', ({ first }: Measured) => quantile(valuesOf(first, 'tookMs'), 0.5), 0.5],
  ['p50', ({ warm }: Measured) => quantile(valuesOf(warm, 'tookMs'), 0.5), 1],
  ['p99', ({ warm }: Measured) => quantile(valuesOf(warm, 'tookMs'), 0.99), 1],
] as const;

/** Compares CPU, which depends neither on memory nor on the speed of DynamoDB Local. */
const CPU_FIGURES = [
  ['CPU of init + first call', (one: Measured) => quantile(sumsOf(one, 'cpuMs'), 0.5), 0.75],
  ['CPU of a first call', ({ first }: Measured) => quantile(valuesOf(first, 'cpuMs'), 0.5), 0.5],
  ['CPU of a warm call', ({ warm }: Measured) => mean(valuesOf(warm, 'cpuMs')), 0.9],
] as const;

/** Prints all settings; the figure is that of the worst. */
function addFigures(add: Add, name: string, all: readonly Comparison[]): void {
  for (const [what, of, most] of FIGURES) {
    const values = all.map(({ setting, ours, bare }) => ({ setting, value: of(ours), baseline: of(bare) }));
    const ratios = values.map(({ setting, value, baseline }) => `${setting} ${(value / baseline).toFixed(2)} x`);
    process.stdout.write(`  ${name}, ${what}: ${ratios.join('; ')}\n`);
    const [worst] = values.sort((one, other) => other.value / other.baseline - one.value / one.baseline);
    if (!worst) throw new Error(`nothing was measured of ${name}`);
    add({
      name: `${name}: ${what}, worst setting`,
      value: worst.value,
      unit: 'ms',
      baseline: { name: `a bare handler, ${worst.setting}`, value: worst.baseline },
      target: { most },
    });
  }
  const together = (which: 'ours' | 'bare'): Measured => ({
    init: all.flatMap((one) => one[which].init),
    first: all.flatMap((one) => one[which].first),
    warm: all.flatMap((one) => one[which].warm),
  });
  const [ours, bare] = [together('ours'), together('bare')];
  for (const [what, of, most] of CPU_FIGURES)
    add({
      name: `${name}: ${what}`,
      value: of(ours),
      unit: 'ms',
      baseline: { name: 'a bare handler', value: of(bare) },
      target: { most },
    });
}

/** Adds a warm call's duration with so much memory, and Lambda's price of a million, each billed in whole milliseconds. */
function addCurve(add: Add, name: string, memoryMb: number, { warm }: Measured): void {
  const took = valuesOf(warm, 'tookMs');
  const billedSeconds = mean(took.map(Math.ceil)) * 1_000;
  add({ name: `${name} at ${memoryMb} MB: duration`, value: mean(took), unit: 'ms' });
  add({
    name: `${name} at ${memoryMb} MB: a million calls`,
    value: MILLION_REQUESTS + billedSeconds * (memoryMb / 1_024) * GB_SECOND,
    unit: 'USD',
  });
}

const eventOf = (listed: ListedOperation, body: object) => ({
  path: listed.path,
  headers: { 'Content-Type': 'application/json' },
  queryStringParameters: { app_key: KEY },
  requestContext: { requestId: 'bench' },
  body: JSON.stringify(body),
});

function certificate(folder: string): { key: string; cert: string } {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const args = ['req', '-x509', ...curve, '-nodes', '-keyout', keyFile, '-out', certFile, '-days', '2', ...names];
  execFileSync('openssl', args, { stdio: 'ignore' });
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') };
}

async function startServer(name: 'canned' | 'proxy', { key, cert }: { key: string; cert: string }, env: object) {
  const child = fork(fileURLToPath(new URL(`../lambda/${name}.ts`, import.meta.url)), {
    env: { ...env, KEY: key, CERT: cert, PATH: process.env.PATH },
  });
  const [port] = await once(child, 'message');
  return { endpoint: `https://localhost:${port}`, stop: () => child.disconnect() };
}

/** @returns its endpoint with the credentials of the target */
async function startProxy(target: string, files: { key: string; cert: string }, roundTripMs: number) {
  const { port, username } = new URL(target);
  const proxy = await startServer('proxy', files, { TARGET_PORT: port, ROUND_TRIP_MS: String(roundTripMs) });
  return { ...proxy, endpoint: proxy.endpoint.replace('//', `//${username || 'local'}@`) };
}

/** Rows that are not part of the data format's import. */
const fillRum = ({ table }: BenchService) =>
  table.client.send(
    new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName: table.name, Item: { ...keys.rumResource(ACCOUNT), ...RUM_RECORD } } },
        { Put: { TableName: table.name, Item: { ...keys.rumUsage(ACCOUNT), session_limit_reached: false } } },
      ],
    }),
  );

async function functions(add: Add, folder: string): Promise<void> {
  const all = [...lines(Date.now())];
  const recorder = await startBenchService(all, { stream: false });
  const anotherTable = () => startBenchService(all, { endpoint: recorder.endpoint, stream: false });
  const [forOurs, forBare] = await Promise.all([anotherTable(), anotherTable()]);
  await Promise.all([recorder, forOurs, forBare].map(fillRum));
  const files = certificate(folder);
  const bare = await bundled('../lambda/bare.ts', join(folder, 'bare.mjs'));
  for (const subject of SUBJECTS) {
    const { name, stepMs = 0, event } = subject;
    const ours = await bundled(`../../../functions/${name}.ts`, join(folder, `${name}.mjs`));
    const calls = await record(recorder, subject);
    let next = 0;
    const comparisons: Comparison[] = [];
    for (const { memoryMb, roundTripMs, compared } of SETTINGS) {
      const proxy = await startProxy(recorder.endpoint, files, roundTripMs);
      const env = {
        AWS_REGION: 'local',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        DYNAMODB_ENDPOINT: proxy.endpoint,
        NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
        SHARED_GATEWAY_KEY: 'shared',
        STEP_MS: String(stepMs),
      };
      const envOfOurs = (callsBefore: number) => ({
        ...env,
        TABLE_NAME: forOurs.table.name,
        AHEAD_MS: String(stepMs * callsBefore),
      });
      const measured = { ours: nothing(), bare: nothing() };
      const share = cpuShareOf(memoryMb);
      for (let round = 0; round < ROUNDS; round += 1) {
        const indexes = Array.from({ length: WARM_CALLS + 1 }, (_, call) => next + call);
        next += indexes.length;
        const own = () => runOnce(ours, envOfOurs(indexes[0] as number), share, indexes.map(event), measured.ours);
        const rounds = (index: number) => inTable(calls[index] as WireCall[][], forBare.table);
        const byHand = () =>
          runOnce(
            bare,
            env,
            share,
            indexes.map((index) => ({ rounds: rounds(index) })),
            measured.bare,
          );
        const acts = round % 2 === 0 ? [own, byHand] : [byHand, own];
        for (const act of compared ? acts : [own]) await act();
      }
      proxy.stop();
      if (compared) comparisons.push({ setting: `${memoryMb} MB and ${roundTripMs} ms`, ...measured });
      if (roundTripMs === CURVE_ROUND_TRIP_MS) addCurve(add, name, memoryMb, measured.ours);
    }
    addFigures(add, name, comparisons);
  }
  await Promise.all([forOurs, forBare].map((service) => service.stop()));
  await recorder.stop();
}

/** Recorded calls, changed to another table. */
function inTable(rounds: readonly WireCall[][], { name }: Table): WireCall[][] {
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed);
    if (typeof value !== 'object' || value === null || value instanceof Set || value instanceof Uint8Array)
      return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => {
        if (key === 'ClientRequestToken') return [];
        if (key === 'RequestItems') return [[key, Object.fromEntries(Object.values(inner).map((one) => [name, one]))]];
        return [[key, key === 'TableName' ? name : renamed(inner)]];
      }),
    );
  };
  return rounds.map((round) => round.map(({ name, input }) => ({ name, input: renamed(input) as object })));
}

/** CPU of this process for one call over TLS, to a server that answers at once. */
async function wireCalls(add: Add, folder: string): Promise<void> {
  const Item = marshall({ ...keys.host(ACCOUNT, 'a'), ...hostFields() });
  const replies = { GetItem: { Item }, Query: { Items: Array(50).fill(Item), Count: 50, ScannedCount: 50 } };
  const server = await startServer('canned', certificate(folder), { REPLIES: JSON.stringify(replies) });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const name = 'table';
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const theirs = DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint: server.endpoint, region: 'local', credentials }),
  );
  const ours = connectTable({ name, endpoint: server.endpoint }).client;
  const key = keys.workItem(ACCOUNT, 'one');
  const update = (sk: string) => ({
    TableName: name,
    Key: { ...key, sk },
    UpdateExpression: 'SET incident_id = :to, moved_sequence = :sequence',
    ExpressionAttributeValues: { ':to': 'incident', ':sequence': 3 },
  });
  const hosts = keys.host(ACCOUNT, 'a').pk;
  const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': hosts }, Limit: 50 };
  const commands = {
    GetItem: () => new GetCommand({ TableName: name, Key: key }),
    UpdateItem: () => new UpdateCommand(update('one')),
    'Query of 50 rows': () => new QueryCommand({ TableName: name, ...query }),
    'TransactWriteItems of 10': () =>
      new TransactWriteCommand({
        TransactItems: Array.from({ length: 10 }, (_, index) => ({ Update: update(String(index)) })),
      }),
  };
  for (const [what, command] of Object.entries(commands)) {
    const calling = (client: DynamoDBDocumentClient) => async () => {
      for (let call = 0; call < 20; call += 1) await client.send(command() as never);
    };
    const tasks = { ours: calling(ours), plain: calling(theirs) };
    const spent = await takeTurns(tasks, { rounds: 20, calls: 5, clock: cpuClock });
    add({
      name: `CPU of a call over TLS: ${what}`,
      value: (spent.ours.p50 / 20) * 1_000,
      unit: 'us',
      baseline: { name: 'a plain document client', value: (spent.plain.p50 / 20) * 1_000 },
      target: { most: 0.9 },
    });
  }
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  for (const client of [ours, theirs]) client.destroy();
  server.stop();
}

export async function run(add: Add): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lambda-'));
  try {
    await wireCalls(add, folder);
    await functions(add, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
