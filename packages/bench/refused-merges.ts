/**
 * What other accounts notice while one account sends merges that are refused, on a new table: in memory, with the units and times of
 * DynamoDB, since reads of DynamoDB Local would wait for each other's CPU. The calls of both share one processor here, which on Lambda
 * they do not: what others notice is less there.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { keys } from '../../lib/dynamodb/keys.ts';
import { mergeAlerts } from '../../lib/http/operations.ts';
import { createMergeAlertsHandler } from '../../lib/operations/merge-alerts/merge.ts';
import { TIME_LIMITS } from '../../lib/shared/time-limits.ts';
import { loadData } from '../admin/data/load.ts';
import { writeBatch } from '../admin/data/write.ts';
import { createTokenBuckets } from '../local/token-buckets.ts';
import { connectDouble } from '../proof/simulation/double-client.ts';
import { TableDouble } from '../proof/simulation/table-double.ts';
import type { BenchService } from './bench-service.ts';
import { accountLines } from './fleet-data.ts';
import type { NewFigure } from './report.ts';

const REFUSED = 101;
const NEIGHBOURS = Array.from({ length: 20 }, (_, index) => 201 + index);
/** Alternates rounds with and without refused merges, so that both meet the same machine; the median of the rounds counts. */
const ROUNDS = 5;
const SECONDS = 6;
/** Merges a second of all neighbours together. */
const MERGES_A_SECOND = 20;
const SIZE = 90;
/** The capacity of a new table: Developer Guide, "DynamoDB on-demand capacity mode". */
const READ_UNITS = { rate: 12_000, burst: 12_000 };
/** Assumed latencies of DynamoDB, in milliseconds. */
const CALL_MS = 5;
const TRANSACTION_MS = 15;

const keyOf = (account: number) => `bench-key-of-refused-merges-${account}`.padEnd(32, '0');
const objectIds = (count: number) => Array.from({ length: count }, () => randomBytes(12).toString('hex'));
const bodyOf = (ids: readonly string[], incident: string) => JSON.stringify({ alert_ids: ids, incident_id: incident });

/** A table in memory with a limit for the whole table. A missing row counts as one unit. */
function newTable() {
  const double = new TableDouble();
  const bucketOf = createTokenBuckets(1, () => performance.now());
  return connectDouble(async (request) => {
    await sleep(request.name === 'TransactWriteCommand' ? TRANSACTION_MS : CALL_MS);
    const { RequestItems = {} } = request.input as { RequestItems?: Record<string, { Keys?: unknown[] }> };
    const units = Object.values(RequestItems).reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
    const bucket = bucketOf('table', READ_UNITS);
    if (bucket.tokens < units) throw Object.assign(new Error(), { name: 'ThrottlingException' });
    bucket.tokens -= units;
    return double.apply(request);
  });
}

export async function refusedMerges({ deps }: BenchService, add: (figure: NewFigure) => void): Promise<void> {
  const table = newTable();
  const nowSeconds = Math.floor(Date.now() / 1000);
  const incidents = new Map<number, string>();
  const alerts = new Map<number, string[]>();
  for (const account of [REFUSED, ...NEIGHBOURS]) {
    await loadData(table, 'bench', accountLines(account, keyOf(account)), { nowSeconds });
    const [incident = '', ...ids] = objectIds(1 + (account === REFUSED ? 9_600 : SIZE));
    incidents.set(account, incident);
    alerts.set(account, ids);
    const rows = ids.map((id) => ({ ...keys.alert(account, id), alert_id: id, title: 'p99 above threshold' }));
    await writeBatch(table, [
      { ...keys.incident(account, incident), incident_id: incident, title: 'Checkout is down' },
    ]);
    for (let from = 0; from < rows.length; from += 25) await writeBatch(table, rows.slice(from, from + 25));
  }

  const merge = createMergeAlertsHandler({ ...deps, timeLimits: TIME_LIMITS, newId: randomUUID, now: Date.now, table });
  const call = async (account: number, body: string): Promise<number> => {
    const event = {
      path: mergeAlerts.path,
      headers: { 'Content-Type': 'application/json' },
      queryStringParameters: { app_key: keyOf(account) },
      requestContext: { requestId: 'bench' },
      body,
    };
    const { statusCode } = await merge(event as unknown as APIGatewayProxyEvent, {} as Context);
    return statusCode;
  };
  const incidentOf = (account: number) => incidents.get(account) as string;
  const known = alerts.get(REFUSED) as string[];
  // Merges that are refused by the first read, and by the last.
  const bodies = [objectIds(9_600), [...known, ...objectIds(1)]].map((ids) => bodyOf(ids, incidentOf(REFUSED)));
  const count = { failed: 0, limited: 0 };
  const sendRefused = async (index: number) => {
    if ((await call(REFUSED, bodies[index % bodies.length] as string)) === 429) count.limited += 1;
  };
  /** Starts an action at a rate per second, whatever the outcomes. */
  const load = async (perSecond: number, act: (index: number) => Promise<void>) => {
    const began = performance.now();
    const acts: Promise<void>[] = [];
    for (let index = 0; index < perSecond * SECONDS; index += 1) {
      await sleep(Math.max(0, began + (index / perSecond) * 1000 - performance.now()));
      acts.push(act(index));
    }
    await Promise.all(acts);
  };
  const p95 = async (beside: () => Promise<void>) => {
    // Waits until the table has all its units again.
    await sleep((1000 * READ_UNITS.burst) / READ_UNITS.rate);
    const times: number[] = [];
    const mergeOnce = async (index: number) => {
      const account = NEIGHBOURS[index % NEIGHBOURS.length] as number;
      const began = performance.now();
      if ((await call(account, bodyOf(alerts.get(account) ?? [], incidentOf(account)))) !== 200) count.failed += 1;
      times.push(performance.now() - began);
    };
    await Promise.all([load(MERGES_A_SECOND, mergeOnce), beside()]);
    times.sort((one, other) => one - other);
    return times[Math.floor((times.length - 1) * 0.95)] as number;
  };
  const { rate } = mergeAlerts.throttle;
  const nothing = async () => undefined;
  const refused = () => load(rate, sendRefused);
  for (const warmUp of [nothing, refused]) await p95(warmUp);
  const rounds: { alone: number; beside: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({ alone: await p95(nothing), beside: await p95(refused) });
  const median = (of: keyof (typeof rounds)[number]) =>
    rounds.map((round) => round[of]).sort((one, other) => one - other)[Math.floor(ROUNDS / 2)] as number;
  add({
    name: `neighbours' merges of ${SIZE} beside ${rate} refused ones of 9,600 a second: p95, median of ${ROUNDS} rounds`,
    value: median('beside'),
    unit: 'ms',
    baseline: { name: 'without them', value: median('alone') },
    target: { most: 1.5 },
  });
  add({ name: "neighbours' merges beside them: failed", value: count.failed, unit: 'calls', target: { most: 0 } });
  add({ name: 'of the refused ones, by the budget', value: count.limited, unit: 'calls' });
}
