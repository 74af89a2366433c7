/**
 * Merges against updates one by one, at AWS's limits, at Lambda's share of a processor, and under small merges; and how
 * long a check of a large table takes.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { connectTable, type Table } from '../../../lib/dynamodb/client.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { mergeAlerts } from '../../../lib/http/operations.ts';
import { createMergeAlertsHandler } from '../../../lib/operations/merge-alerts/merge.ts';
import { readMergeOrder } from '../../../lib/operations/merge-alerts/merge-order.ts';
import { finishMerge } from '../../../lib/operations/merge-alerts/move.ts';
import { checkTable } from '../../admin/check/check.ts';
import type { Finding } from '../../admin/check/finding.ts';
import { repair } from '../../admin/check/repair.ts';
import { writeBatch } from '../../admin/data/write.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { cpuClock, takeTurns } from '../compare.ts';
import { cpuShareOf } from '../cpu-share.ts';
import { accountLines } from '../fleet-data.ts';
import { startFunctionProcess } from '../function-process.ts';
import { AWS_LIMITS } from '../limits/capacity.ts';
import { startLimitsProxy } from '../limits/limits-proxy.ts';
import { type LoadResult, runMergeLoad } from '../merge-load.ts';
import { refusedMerges } from '../refused-merges.ts';
import type { NewFigure } from '../report.ts';

const ACCOUNT = 1;
const KEY = 'bench-key-of-merges-0000000000000';
const LARGEST = 9_700;
const MEMORY_MB = 512;
/** DynamoDB Local behind a proxy on a busy machine. */
const PATIENT = { connectionTimeout: 2_500, requestTimeout: 2_500 };
const MAX_CALLS = 40;
const objectId = () => randomBytes(12).toString('hex');

type Add = (figure: NewFigure) => void;

/** Creates alerts with a title of this length, and an incident to merge them into. */
async function fill({ table }: BenchService, count: number, textBytes = 60) {
  const ids = Array.from({ length: count }, objectId);
  const incident = objectId();
  const rows = ids.map((id) => ({ ...keys.alert(ACCOUNT, id), alert_id: id, title: 'x'.repeat(textBytes) }));
  const batches = Array.from({ length: Math.ceil(count / 25) }, (_, index) => rows.slice(index * 25, (index + 1) * 25));
  await forEach(batches, (batch) => writeBatch(table, batch));
  await writeBatch(table, [{ ...keys.incident(ACCOUNT, incident), incident_id: incident, title: 'Checkout is down' }]);
  return { ids, incident };
}

async function isDone(table: Table): Promise<boolean> {
  return ((await readMergeOrder(table, ACCOUNT)).pending ?? []).length === 0;
}

async function finish(table: Table): Promise<void> {
  for (const place of (await readMergeOrder(table, ACCOUNT)).pending ?? []) await finishMerge(table, ACCOUNT, place);
}

const update = (name: string, id: string, incident: string, sequence: number) => ({
  TableName: name,
  Key: keys.alert(ACCOUNT, id),
  UpdateExpression: 'SET incident_id = :to, moved_sequence = :sequence',
  ConditionExpression: 'attribute_exists(pk)',
  ExpressionAttributeValues: { ':to': incident, ':sequence': sequence },
});

/** CPU of this process for a merge, its reads and its commit included, against updates one by one. */
async function cpu(service: BenchService, add: Add): Promise<void> {
  const size = 1_000;
  const { table } = service;
  const { ids } = await fill(service, size);
  const incidents = await Promise.all(
    Array.from({ length: 90 }, () => fill(service, 0).then(({ incident }) => incident)),
  );
  let turn = 0;
  const next = () => incidents[turn++ % incidents.length] as string;
  const merge = async () => {
    service.stepClock(10_000);
    await service.call(mergeAlerts, KEY, { alert_ids: ids, incident_id: next() });
    await finish(table);
  };
  const oneByOne = async () => {
    const incident = next();
    await forEach(
      ids,
      async (id) => void (await service.byHand.send(new UpdateCommand(update(table.name, id, incident, 1)))),
    );
  };
  const spent = await takeTurns({ merge, oneByOne }, { rounds: 6, calls: 3, clock: cpuClock });
  add({
    name: 'CPU of a merge of 1,000, an alert',
    value: spent.merge.p50 / size,
    unit: 'ms',
    baseline: { name: 'an UpdateItem each, by a plain client', value: spent.oneByOne.p50 / size },
    target: { most: 0.12 },
  });
}

/** Merges through another client of the table. */
function mergingOver({ deps }: BenchService, through: Table) {
  const merge = createMergeAlertsHandler({ ...deps, now: Date.now, table: through });
  return async (ids: readonly string[], incident: string): Promise<void> => {
    const { statusCode, body } = await merge(eventOf(ids, incident), {} as Context);
    if (statusCode !== 200) throw new Error(`${mergeAlerts.name}: ${statusCode} ${body}`);
  };
}

const eventOf = (ids: readonly string[], incident: string) =>
  ({
    path: mergeAlerts.path,
    headers: { 'Content-Type': 'application/json' },
    queryStringParameters: { app_key: KEY },
    requestContext: { requestId: 'bench' },
    body: JSON.stringify({ alert_ids: ids, incident_id: incident }),
  }) as unknown as APIGatewayProxyEvent;

/**
 * 9,700 alerts of 2 KB at a tenth of AWS's write units a second, so that these decide and not the machine, and with as many units
 * at once: from the commit to the last move, against the time in which the hottest key is granted its units.
 */
async function atLimits(service: BenchService, add: Add): Promise<void> {
  const { ids, incident } = await fill(service, LARGEST, 1_700);
  const limits = { writeUnits: AWS_LIMITS.writeUnits / 10, burstSeconds: AWS_LIMITS.burstSeconds * 10 };
  const proxy = await startLimitsProxy(service.endpoint, limits);
  const through = connectTable({ name: service.table.name, endpoint: proxy.endpoint, timeouts: PATIENT });
  let committed = 0;
  const committing = (async () => {
    while (committed === 0) if (!(await isDone(service.table))) committed = performance.now();
  })();
  await retried(() => mergingOver(service, through)(ids, incident));
  await committing;
  while (!(await isDone(service.table))) await finish(through).catch(() => undefined);
  const took = performance.now() - committed;
  const longest = Math.max(...[...proxy.usages().values()].map(({ write }) => write));
  add({
    name: '9,700 alerts of 2 KB at a tenth of the limits: from commit to last move',
    value: took / 1000,
    unit: 's',
    baseline: { name: 'what its hottest key is granted', value: longest / limits.writeUnits - limits.burstSeconds },
    target: { most: 1.5 },
  });
  through.client.destroy();
  await proxy.close();
}

/**
 * Retries a call that answers 503, as callers do.
 * @returns the number of calls
 */
async function retried(act: () => Promise<unknown>): Promise<number> {
  for (let calls = 1; ; calls += 1)
    try {
      await act();
      return calls;
    } catch (error) {
      if (!/ 503 /.test((error as Error).message) || calls === MAX_CALLS) throw error;
    }
}

/** The same with a function that has the share of a processor that Lambda gives it. */
async function atShareOfCpu(service: BenchService, add: Add): Promise<void> {
  const proxy = await startLimitsProxy(service.endpoint);
  const env = { AWS_REGION: 'local', TABLE_NAME: service.table.name, DYNAMODB_ENDPOINT: proxy.endpoint, QUIET: 'true' };
  const entry = new URL('../../../functions/merge-alerts.ts', import.meta.url);
  const merging = await startFunctionProcess({ entry, env, timeoutMs: 30_000 }, cpuShareOf(MEMORY_MB));
  const call = async (ids: readonly string[], incident: string) => {
    const { statusCode, body } = (await merging.invoke(eventOf(ids, incident))) as { statusCode: number; body: string };
    if (statusCode !== 200) throw new Error(`${mergeAlerts.name}: ${statusCode} ${body}`);
  };
  const warmUp = await fill(service, 200);
  await retried(() => call(warmUp.ids, warmUp.incident));
  while (!(await isDone(service.table))) await finish(service.table);
  const { ids, incident } = await fill(service, LARGEST, 1_700);
  const began = performance.now();
  const calls = await retried(() => call(ids, incident));
  const answered = performance.now() - began;
  const through = connectTable({ name: service.table.name, endpoint: proxy.endpoint, timeouts: PATIENT });
  // What finish-merges does, which has a whole processor.
  while (!(await isDone(service.table))) await finish(through).catch(() => undefined);
  const finished = performance.now() - began;
  add({
    name: '9,700 at 0.29 of a processor: calls until it is committed',
    value: calls,
    unit: 'calls',
    target: { most: 1 },
  });
  add({ name: '9,700 at 0.29 of a processor: answered after', value: answered / 1000, unit: 's', target: { most: 3 } });
  add({
    name: '9,700 at 0.29 of a processor: finished after',
    value: finished / 1000,
    unit: 's',
    target: { most: 60 },
  });
  await merging.stop();
  through.client.destroy();
  await proxy.close();
}

/** Assumed latencies of DynamoDB, in milliseconds: of a call, and of a transaction, during which its rows are in use. */
const DYNAMODB = { callMs: 5, transactionMs: 15 };

/**
 * Loads of one account, by callers who merge one alert each and callers who merge 2,000. DynamoDB Local's transactions never meet:
 * the proxy lets them.
 */
async function fairness(service: BenchService, add: Add): Promise<void> {
  const unlimited = { writeUnits: 1e9, readUnits: 1e9 };
  const proxy = await startLimitsProxy(service.endpoint, { ...DYNAMODB, ...unlimited });
  const through = connectTable({ name: service.table.name, endpoint: proxy.endpoint });
  let transactions = 0;
  through.client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'TransactWriteCommand') transactions += 1;
        return next(args);
      },
    { step: 'initialize' },
  );
  const merge = mergingOver(service, through);
  const small = await fill(service, 1_000);
  const into = await Promise.all(Array.from({ length: 20 }, async () => (await fill(service, 0)).incident));
  const callers = await Promise.all(Array.from({ length: 6 }, () => fill(service, 2_000)));
  const statusOf = (ids: readonly string[], index: number): Promise<number> =>
    merge(ids, into[index % into.length] as string).then(
      () => 200,
      async (error: Error) => {
        // The read budget: it is not what is measured here.
        if (/ 429 /.test(error.message)) {
          await sleep(3_000 - (Date.now() % 3_000));
          return statusOf(ids, index);
        }
        if (!/ 503 /.test(error.message)) throw error;
        return 503;
      },
    );
  const send = {
    small: (_caller: number, index: number) => statusOf([small.ids[index % small.ids.length] as string], index),
    large: (caller: number, index: number) => statusOf(callers[caller]?.ids ?? [], index),
  };
  const seconds = 30;
  for (let index = 0; index < 3; index += 1) await send.small(0, index);
  const alone = await runMergeLoad({ seconds: 5, smallPerSecond: 2 }, send);
  const lone = { name: 'a merge alone', value: alone.small.p50Ms };
  /** @param mostMs what the p99 may be, in milliseconds */
  const addSmall = (load: string, { small }: LoadResult, mostMs: number) => {
    const most = Number((mostMs / lone.value).toFixed(1));
    add({ name: `${load}: refused`, value: small.refused, unit: 'calls', target: { most: 0 } });
    add({ name: `${load}: p99`, value: small.p99Ms, unit: 'ms', baseline: lone, target: { most } });
  };
  addSmall(
    '20 small merges a second',
    await runMergeLoad({ seconds, smallPerSecond: 20 }, send),
    300 + alone.small.p50Ms,
  );
  // They all write one row, one after the other.
  const queued = 40 * DYNAMODB.transactionMs;
  addSmall(
    '40 small merges at once',
    await runMergeLoad({ seconds: 1, smallPerSecond: 40, atOnce: true }, send),
    300 + queued,
  );
  const largeAlone = await runMergeLoad({ seconds, smallPerSecond: 0, largeCallers: 6 }, send);
  await finish(service.table);
  const both = await runMergeLoad({ seconds, smallPerSecond: 10, largeCallers: 6 }, send);
  addSmall('10 small merges a second beside 6 callers of 2,000', both, 1_000);
  add({
    name: 'merges of 2,000 beside them: more than two calls',
    value: both.large.later,
    unit: 'merges',
    target: { most: 0 },
  });
  add({
    name: 'merges of 2,000 beside them',
    value: both.large.committed,
    unit: 'merges',
    baseline: { name: 'without small ones', value: largeAlone.large.committed },
    target: { least: 0.8 },
  });
  await finish(service.table);
  transactions = 0;
  const beyond = await runMergeLoad({ seconds, smallPerSecond: 50, throttled: true }, send);
  add({
    name: '50 a second, beyond the plan: transactions of a merge',
    value: transactions / beyond.small.sent,
    unit: '',
    target: { most: 2 },
  });
  addSmall('of these, what the plan lets through', beyond, 1_000);
  through.client.destroy();
  await proxy.close();
}

/** A check of a table of 100,000 rows, and the repair of a tenth of them. */
async function checking(service: BenchService, add: Add): Promise<void> {
  const { table } = service;
  const seconds = async (act: () => Promise<unknown>) => {
    const began = performance.now();
    await act();
    return (performance.now() - began) / 1000;
  };
  const count = async () => {
    let rows = 0;
    for await (const { Count = 0 } of paginateScan(
      { client: table.client },
      { TableName: table.name, Select: 'COUNT' },
    ))
      rows += Count;
    return rows;
  };
  await fill(service, 100_000 - (await count()));
  const torn = Array.from({ length: 10_000 }, objectId);
  const rows = torn.map((id) => ({
    ...keys.alert(ACCOUNT, id),
    alert_id: id,
    title: 't',
    moved_sequence: 1,
    moved_from: objectId(),
  }));
  const batches = Array.from({ length: 400 }, (_, index) => rows.slice(index * 25, (index + 1) * 25));
  await forEach(batches, (batch) => writeBatch(table, batch));
  const findings: Finding[] = [];
  const scan = await seconds(count);
  const check = await seconds(async () => {
    for await (const some of checkTable(table)) findings.push(...some);
  });
  const repaired = await seconds(() => repair(table, findings));
  add({
    name: 'check and repair of a table of 100,000 rows, a tenth of them inconsistent',
    value: check + repaired,
    unit: 's',
    target: { most: 60 },
  });
  add({ name: 'the check alone', value: check, unit: 's', baseline: { name: 'one scan of the table', value: scan } });
}

export async function run(add: Add): Promise<void> {
  const parts = [cpu, atLimits, atShareOfCpu, fairness, refusedMerges, checking];
  for (const part of parts) {
    const service = await startBenchService(accountLines(ACCOUNT, KEY), { stream: false });
    try {
      await part(service, add);
    } catch (error) {
      // The other figures are still worth having.
      process.exitCode = 1;
      process.stderr.write(`${part.name}: ${(error as Error).message}\n`);
    } finally {
      await service.stop();
    }
  }
}
