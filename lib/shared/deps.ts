import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTable, PATIENT, type Table } from '../dynamodb/client.ts';
import { keys } from '../dynamodb/keys.ts';
import { getRow } from '../dynamodb/row.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics, type MetricsSink } from './metrics.ts';
import { type Environment, readSettings, type Settings } from './settings.ts';
import { originalFrames } from './source-map.ts';
import { TIME_LIMITS, type TimeLimits } from './time-limits.ts';

/** External dependencies: table, clock, randomness, log, settings. */
export interface Deps {
  readonly table: Table;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** A random id of at least 122 bits. */
  readonly newId: () => string;
  readonly log: Log;
  readonly metrics: MetricsSink;
  readonly settings: Settings;
  readonly timeLimits: TimeLimits;
}

/**
 * The composition root: what a deployed function runs on.
 * @param connections to DynamoDB, opened before the first call: as many as its first reads that go out at once
 * @param patient with the time limits of an operator's commands: nobody waits for the answer
 * @throws SettingsError
 */
export async function createDeps({
  connections,
  patient = false,
  env,
}: {
  connections: number;
  patient?: boolean;
  env?: Environment;
}): Promise<Deps> {
  const settings = readSettings(env);
  const log = createLog(originalFrames);
  const table = connectTable({
    name: settings.tableName,
    endpoint: settings.dynamodbEndpoint,
    ...(patient && PATIENT),
  });
  await warmUp(table, connections);
  const metrics = settings.quiet
    ? { call: nothing, event: nothing, records: nothing }
    : createMetrics(settings.metricsNamespace);
  return {
    table,
    now: Date.now,
    newId: randomUUID,
    log: settings.quiet ? { info: nothing, warn: sayCause, error: log.error } : log,
    metrics,
    settings,
    timeLimits: TIME_LIMITS,
  };
}

const nothing = () => undefined;

/** Why a call is answered 503, in one line for a person; other warnings are not printed. */
function sayCause(message: string, { cause, error_name, request_id }: Record<string, unknown>): void {
  if (cause !== undefined) process.stdout.write(`${message}: ${cause} (${error_name}), request_id ${request_id}\n`);
}

/** Milliseconds. Near DynamoDB a connection and a read take a tenth of it; a longer wait would save no later call anything. */
const LONGEST_WARM_UP_MS = 100;

/** Reads a row that no table has: so the first call finds connections, and compiled code. No error: a call will meet it too. */
async function warmUp(table: Table, connections: number): Promise<void> {
  const reads = Array.from({ length: connections }, () => getRow(table, keys.appKey('')).catch(nothing));
  await Promise.race([Promise.all(reads), sleep(LONGEST_WARM_UP_MS, undefined, { ref: false })]);
}
