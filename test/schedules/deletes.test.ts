import fc from 'fast-check';
import { expect } from 'vitest';
import { recordOfEntity } from '../../lib/ingest/records.ts';
import { rowsOf } from '../../lib/ingest/write-records.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { readWorkItem, restoreWorkItem } from '../../packages/admin/incidents/restore-work-item.ts';
import { createHandlers } from '../support/handlers.ts';
import { newAccount } from '../support/incidents.ts';
import { callAlone, put, stored, testDeps } from '../support/service.ts';
import { answersTruly, anyFate, onSchedules } from './schedule.ts';

const process = fc.record({
  kind: fc.constantFrom('delete', 'delete', 'delete', 'restore', 'record'),
  /** That the deletion names. */
  version: fc.constantFrom(1, 1, 1, 2, 3),
  fate: anyFate,
});
const cases = fc.array(process, { minLength: 1, maxLength: 4 });

onSchedules('a work item is deleted once, and every caller learns it', cases, async (processes, schedule) => {
  const { account, appKey } = await newAccount(schedule.table);
  const key = keys.workItem(account, 'w');
  await put(schedule.table, key, { work_item_id: 'w', title: 'first', version: 1 });
  const record = { kind: 'work_item', account_id: account, work_item_id: 'w', version: 1, title: 'second', at_ms: 1 };

  /** @returns the status of the answer; 200 for success */
  async function run(table: Table, kind: string, version: number): Promise<number> {
    if (kind === 'delete') {
      const options = { appKey, body: { work_item_id: 'w', version } };
      return (await callAlone(createHandlers(testDeps(table)), deleteWorkItem, options)).status;
    }
    if (kind === 'restore') {
      const row = await readWorkItem(table, account, 'w');
      return row?.deleted_at_ms !== undefined && (await restoreWorkItem(table, account, row)) ? 200 : 400;
    }
    for (const { write } of rowsOf([recordOfEntity(record as never)])) await write(table);
    return 200;
  }
  const running = processes.map(async ({ kind, version, fate }) => {
    const outcome = await schedule.start((table) => run(table, kind, version), fate);
    return {
      kind,
      version,
      fate,
      status: typeof outcome === 'object' ? outcome.result : undefined,
    };
  });
  const outcomes = await schedule.run(running);

  const row = await stored(schedule.table, key);
  // Each deletion and each restoration raises the version by one.
  expect('deleted_at_ms' in row, `version ${row.version}`).toBe(row.version % 2 === 0);
  expect(row.version).toBeLessThanOrEqual(1 + processes.filter(({ kind }) => kind !== 'record').length);
  const isRestored = outcomes.some(({ kind }) => kind === 'restore');
  for (const { kind, version, fate, status } of outcomes) {
    if (kind === 'record' && status === 200 && row.version === 1) expect(row.title).toBe('second');
    if (kind !== 'delete') continue;
    if (status === 200) expect(row.version).toBeGreaterThan(version);
    if (version === 1 && !isRestored && answersTruly(fate)) expect(status).toBe(200);
  }
});
