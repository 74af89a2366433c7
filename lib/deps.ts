import { randomUUID } from 'node:crypto';
import { createLog, type Log } from './log.ts';
import { createMetrics, type MetricsSink } from './metrics.ts';
import { type Environment, readSettings, type Settings } from './settings.ts';
import { originalFrames } from './source-map.ts';
import { PATIENT, type Table } from './table/client.ts';
import { connectEarly } from './table/connect-early.ts';
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
  const table = await connectEarly(
    { name: settings.tableName, endpoint: settings.dynamodbEndpoint, ...(patient && PATIENT) },
    { url: settings.expectedEndpoint, connections },
  );
  const metrics = settings.quiet ? { call: nothing, event: nothing } : createMetrics();
  if (settings.compileCacheRejected) metrics.event('compile_cache_rejected');
  return {
    table,
    now: Date.now,
    newId: randomUUID,
    log: settings.quiet ? { info: nothing, warn: nothing, error: log.error } : log,
    metrics,
    settings,
    timeLimits: TIME_LIMITS,
  };
}

const nothing = () => undefined;
