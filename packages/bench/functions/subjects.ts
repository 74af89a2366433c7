/** The functions that are measured, their data, and the calls to DynamoDB that they make. */

import { setImmediate } from 'node:timers/promises';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import type { ListedOperation } from '../../../lib/operations/index.ts';
import { mergeAlerts } from '../../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../../lib/table/client.ts';
import { connectDouble } from '../../../test/table-double/client.ts';
import { TableDouble } from '../../../test/table-double/table-double.ts';
import { loadData } from '../../admin/data/load.ts';
import { DEMO_KEYS, sampleData } from '../../local/sample.ts';
import { benchHandlers, PAST_CACHE_MS } from '../service.ts';
import type { Command } from './bare.ts';

export interface Subject {
  /** Milliseconds by which the clock is set forward for each call. */
  stepMs: number;
  operation: ListedOperation;
  /** The largest ratio of the CPU of a warm call to a bare handler's that is accepted. */
  mostWarm: number;
  body(index: number): object;
}

const ACCOUNT = 1;
/** Fleet browse allows thirty calls a minute. */
const BROWSE_STEP_MS = 2_100;
const ALERTS_PER_MERGE = 10;
/** A merge's sequence is the time in milliseconds, so each merge is sent at a later time. */
const MERGE_STEP_MS = 10;
const INCIDENT = 'f'.repeat(24);
const alertId = (index: number) => index.toString(16).padStart(24, '0');
const alertsOf = (merge: number) =>
  Array.from({ length: ALERTS_PER_MERGE }, (_, index) => alertId(merge * ALERTS_PER_MERGE + index));
export const SUBJECTS: readonly Subject[] = [
  { operation: browseFleet, stepMs: BROWSE_STEP_MS, mostWarm: 0.75, body: () => ({}) },
  { operation: getRumResource, stepMs: 0, mostWarm: 0.8, body: () => ({ no_cache: true }) },
  {
    operation: deleteWorkItem,
    stepMs: 0,
    mostWarm: 0.75,
    body: (index) => ({ work_item_id: `w${index}`, version: 1 }),
  },
  {
    operation: mergeAlerts,
    stepMs: MERGE_STEP_MS,
    mostWarm: 0.85,
    body: (index) => ({ incident_id: INCIDENT, alert_ids: alertsOf(index) }),
  },
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
    line('incident', { incident_id: INCIDENT, title: 'Checkout is down' }),
    ...linesOf(calls * ALERTS_PER_MERGE, (index) =>
      line('alert', { alert_id: alertId(index), title: 'p99 above threshold' }),
    ),
  ];
}

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
  return async ({ operation, body, stepMs }: Subject, calls: number): Promise<Command[][][]> => {
    const roundsOfCalls: Command[][][] = [];
    for (let index = 0; index < calls; index += 1) {
      // The first call in an environment reads the app key.
      handlers.stepClock(index % callsInEnvironment === 0 ? PAST_CACHE_MS : stepMs);
      rounds = [];
      await handlers.call(operation, DEMO_KEYS.demo, body(index));
      roundsOfCalls.push(rounds);
    }
    return roundsOfCalls;
  };
}
