import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENT } from './aws/http-handler.ts';
import { createLog, createMetrics, type Log, type MetricsSink, originalFrames } from './shared/log.ts';
import { type Environment, readSettings, type Settings, TIME_LIMITS, type TimeLimits } from './shared/settings.ts';
import { connectTable, type Table } from './table/client.ts';
import { keys } from './table/keys.ts';
import { getRow } from './table/read.ts';

/** What a function depends on. Tests replace parts of it. */
export interface Deps {
  readonly table: Table;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set back. */
  readonly monotonicNow: () => number;
  /** A random id of at least 122 bits. */
  readonly newId: () => string;
  readonly log: Log;
  readonly metrics: MetricsSink;
  readonly settings: Settings;
  readonly timeLimits: TimeLimits;
}

/**
 * The composition root of a deployed function.
 * @param connections opened to DynamoDB before the first call: as many as the call's first reads use concurrently
 * @param patient whether DynamoDB calls have the longer time limits of an operator's commands: for functions whose answer nobody waits for
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
    ? { call: noop, event: noop, records: noop }
    : createMetrics(settings.metricsNamespace);
  return {
    table,
    now: Date.now,
    monotonicNow: performance.now.bind(performance),
    newId: randomUUID,
    log: settings.quiet ? { info: noop, warn: printCause, error: log.error } : log,
    metrics,
    settings,
    timeLimits: TIME_LIMITS,
  };
}

const noop = () => undefined;

/** Prints for a person why a call was answered 503. Drops all other warnings. */
function printCause(message: string, { cause, error_name, request_id }: Record<string, unknown>): void {
  if (cause !== undefined) process.stdout.write(`${message}: ${cause} (${error_name}), request_id ${request_id}\n`);
}

/** Milliseconds. In DynamoDB's region a connection and a read take about 10 ms; to wait longer does not help the first call. */
const MAX_WARM_UP_MS = 100;

/**
 * Opens connections, and compiles the read path, by reading an app key that does not exist. A function without that grant gets AccessDenied,
 * which opens the connection just as well. Errors are ignored: a real one meets the first call, too.
 */
async function warmUp(table: Table, connections: number): Promise<void> {
  const reads = Array.from({ length: connections }, () => getRow(table, keys.appKey('')).catch(noop));
  await Promise.race([Promise.all(reads), sleep(MAX_WARM_UP_MS, undefined, { ref: false })]);
}
