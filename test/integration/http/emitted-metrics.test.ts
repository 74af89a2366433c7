/** The metrics that functions write to standard output: `infra/monitoring` has those that alarms and dashboard read. */
import { expect, it, vi } from 'vitest';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { createMetrics } from '../../../lib/shared/log.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, createHandlers, newTable, testDeps } from '../../support/service.ts';

it('a call is written with its duration, an event with its name, and how many records came of the feed', async () => {
  const lines: Record<string, unknown>[] = [];
  const startedMs = Date.now();
  const table = await newTable();
  const { appKey } = await newAccount(table);
  const deps = { ...testDeps(table), metrics: createMetrics('Ours/Stack') };
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    if (String(text).startsWith('{"_aws":')) lines.push(JSON.parse(String(text)));
    return true;
  });
  try {
    await callAlone(createHandlers(deps), browseFleet, { appKey });
    const frozen = createHandlers({ ...deps, settings: { ...deps.settings, writesFrozen: true } });
    await callAlone(frozen, deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } });
    await ingestOver(table, Date.now, deps).deliver(['not a record']);
  } finally {
    write.mockRestore();
  }
  /** A line of CloudWatch's embedded metric format. */
  const line = (dimensions: object, values: object) => ({
    _aws: {
      // CloudWatch would take a time in seconds for one of 1970, and drop data that old.
      Timestamp: expect.toSatisfy((atMs) => atMs >= startedMs && atMs <= Date.now()),
      CloudWatchMetrics: [
        {
          Namespace: 'Ours/Stack',
          Dimensions: [['service', ...Object.keys(dimensions)]],
          Metrics: Object.keys(values).map((Name) => ({ Name, Unit: Name === 'Duration' ? 'Milliseconds' : 'Count' })),
        },
      ],
    },
    service: 'incident-monitoring-rum',
    ...dimensions,
    ...values,
  });
  const call = { Calls: 1, Duration: expect.any(Number) };
  expect(lines).toEqual([
    line({ operation: 'browse-fleet', code: 'OK' }, call),
    line({ operation: 'delete-work-item', code: 'ServiceUnavailable' }, call),
    line({ event: 'refused_by_setting' }, { Events: 1 }),
    line({}, { Records: 0, LateRecords: 0, RefusedRecords: 1, FailedRecords: 0 }),
  ]);
});
