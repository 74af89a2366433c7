/** The functions that are measured, their data, and the calls to DynamoDB that they make. */
import { setImmediate } from 'node:timers/promises';
import { DEMO_KEYS, sampleData } from '../../../infra/generate/sample.ts';
import { createAppKeys } from '../../../lib/auth/app-keys.ts';
import { createUsageKeyAuthorizer } from '../../../lib/auth/usage-key-authorizer.ts';
import type { Table } from '../../../lib/dynamodb/client.ts';
import {
  browseFleet,
  deleteWorkItem,
  getRumResource,
  type ListedOperation,
  mergeAlerts,
} from '../../../lib/http/operations.ts';
import { loadData } from '../../admin/data/load.ts';
import { connectDouble } from '../../proof/simulation/double-client.ts';
import { TableDouble } from '../../proof/simulation/table-double.ts';
import { benchHandlers, eventOf } from '../bench-service.ts';
import type { Command } from './bare.ts';

type Handlers = ReturnType<typeof benchHandlers>;

export interface Subject {
  /** Name of the function. */
  name: string;
  /** Milliseconds by which the clock is set forward for each call. */
  stepMs: number;
  event(index: number): object;
  /** Makes the same call in this process. */
  call(handlers: Handlers, index: number): Promise<unknown>;
}

const operation = (listed: ListedOperation, body: (index: number) => object, stepMs = 0): Subject => ({
  name: listed.name,
  stepMs,
  event: (index) => eventOf(listed, DEMO_KEYS.demo, body(index)),
  call: (handlers, index) => handlers.call(listed, DEMO_KEYS.demo, body(index)),
});

const ACCOUNT = 1;
/** Fleet browse allows thirty calls a minute. */
const BROWSE_STEP_MS = 2_100;
const ALERTS_PER_MERGE = 10;
/** A merge's sequence is the time in milliseconds, so each merge is sent at a later time. */
const MERGE_STEP_MS = 10;
const INCIDENT = 'f'.repeat(24);
const alertId = (index: number) => index.toString(16).padStart(24, '0');
/** Each call has a new key, since the authorizer caches keys. */
const keyOf = (index: number) => `bench-key-${index}`.padEnd(32, '-');

const authorizer: Subject = {
  name: 'usage-key-authorizer',
  stepMs: 0,
  event: (index) => ({
    queryStringParameters: { app_key: keyOf(index) },
    methodArn: 'arn:aws:execute-api:a/prod/POST/b',
  }),
  call({ deps }, index) {
    const authorize = createUsageKeyAuthorizer(createAppKeys(deps, { recordsUse: true }), deps, 'shared');
    return authorize(authorizer.event(index) as never);
  },
};

export const SUBJECTS: readonly Subject[] = [
  operation(browseFleet, () => ({}), BROWSE_STEP_MS),
  operation(getRumResource, () => ({ no_cache: true })),
  operation(deleteWorkItem, (index) => ({ work_item_id: `w${index}`, version: 1 })),
  operation(
    mergeAlerts,
    (index) => ({
      incident_id: INCIDENT,
      alert_ids: Array.from({ length: ALERTS_PER_MERGE }, (_, position) =>
        alertId(index * ALERTS_PER_MERGE + position),
      ),
    }),
    MERGE_STEP_MS,
  ),
  authorizer,
];

/** The data that this number of calls of each subject needs, as lines of the data format. */
export function linesFor(calls: number): string[] {
  const line = (kind: string, fields: object) => JSON.stringify({ kind, account_id: ACCOUNT, ...fields });
  const linesOf = (count: number, lineOf: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => lineOf(index));
  return [
    ...sampleData(Date.now()),
    ...linesOf(calls, (index) =>
      line('work_item', { work_item_id: `w${index}`, version: 1, title: 'Raise the timeout' }),
    ),
    ...linesOf(calls, (index) => line('app_key', { app_key: keyOf(index) })),
    line('incident', { incident_id: INCIDENT, title: 'Checkout is down' }),
    ...linesOf(calls * ALERTS_PER_MERGE, (index) =>
      line('alert', { alert_id: alertId(index), title: 'p99 above threshold' }),
    ),
  ];
}

/** Longer than app keys are cached. */
const PAST_CACHE_MS = 120_000;

/**
 * Prepares a table in memory, on which the subjects' calls to DynamoDB are recorded.
 * @param name of the table in the recorded calls
 * @returns a function that makes calls of a subject, and returns for each call its rounds of concurrent calls to DynamoDB
 */
export async function createRecorder(name: string, lines: readonly string[], callsInEnvironment: number) {
  const double = new TableDouble();
  let rounds: Command[][] = [];
  let underWay = 0;
  const inMemory = connectDouble(async (request) => {
    if (underWay === 0) rounds.push([]);
    underWay += 1;
    rounds.at(-1)?.push({ name: request.name as Command['name'], input: request.input });
    await setImmediate(); // so that concurrent calls are under way together
    underWay -= 1;
    return double.apply(request);
  });
  const table: Table = { ...inMemory, name };
  await loadData(table, 'bench', lines, { nowMs: Date.now() });
  const handlers = benchHandlers(table);
  return async (subject: Subject, calls: number): Promise<Command[][][]> => {
    const roundsOfCalls: Command[][][] = [];
    for (let index = 0; index < calls; index += 1) {
      // The first call in an environment reads the app key.
      handlers.stepClock(index % callsInEnvironment === 0 ? PAST_CACHE_MS : subject.stepMs);
      rounds = [];
      await subject.call(handlers, index);
      roundsOfCalls.push(rounds);
    }
    return roundsOfCalls;
  };
}
