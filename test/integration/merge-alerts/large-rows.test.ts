/** Merges of alerts whose rows are large, and the message for a large merge from the table's stream: what the table in memory does not have. */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import { expect, inject, it } from 'vitest';
import { mergeMessage } from '../../../lib/events/messages.ts';
import { createFinishMerges, finishMerge } from '../../../lib/operations/merge-alerts/finish.ts';
import { keys } from '../../../lib/table/keys.ts';
import { readDeployment } from '../../../packages/local/deployment.ts';
import { matches } from '../../../packages/local/stream.ts';
import { insertsOf } from '../../../packages/local/test/support/stream-records.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../../limits-proxy/item-size.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { relayed } from '../../support/events.ts';
import { dyingAfterCommit, intercepted } from '../../support/faults.ts';
import { expectMerged, finishEntries, newAccount, objectId } from '../../support/incidents.ts';
import { newTable, put, putAll, testDeps } from '../../support/service.ts';
import { LIMITS, mergesOf } from './merging.ts';

const table = await newTable({ stream: true });

async function newScene(alertCount: number) {
  const tenant = await newAccount(table);
  const [one, two] = [await tenant.incident(), await tenant.incident()];
  return { ...mergesOf(table, tenant, [one, two]), tenant, one, two, alerts: await tenant.alerts(alertCount) };
}

it("a pending merge is finished by the message that the table's stream makes of its entry", async () => {
  const { tenant, one, alerts, merge } = await newScene(3);
  const through = intercepted(table, dyingAfterCommit());
  await merge({ alert_ids: alerts, incident_id: one }, { through });
  const [{ pk, sk }] = await tenant.history(one);
  const records = await insertsOf(table, { pk, sk });
  expect(records).toHaveLength(1);
  const { patterns } = readDeployment(inject('template'), table.name).stream;
  expect(patterns.filter((pattern) => matches(pattern, records[0]))).toHaveLength(1);
  const Records = (await relayed(table, records)).merges.map((key) => ({ body: mergeMessage(key).MessageBody }));
  await createFinishMerges(testDeps(table))({ Records } as SQSEvent, { getRemainingTimeInMillis: () => 30_000 });
  await expectMerged(tenant, one, alerts);
});

it.each([
  [8, undefined],
  [9, true],
])('a merge of %i alerts of 60 KB is large: %s, since a small one has at most 500 KB', async (count, large) => {
  const { tenant, one, merge } = await newScene(0);
  const alerts = Array.from({ length: count }, objectId);
  const row = (id: string) => ({ ...keys.alert(tenant.account, id), alert_id: id, notes: 'x'.repeat(60_000) });
  await putAll(table, alerts.map(row));
  await merge({ alert_ids: alerts, incident_id: one }, { limits: {} });
  await expectMerged(tenant, one, alerts);
  expect((await tenant.history(one))[0].large).toBe(large);
});

it('an alert whose row cannot be updated fails a small merge, and leaves a large one pending until it is smaller', async () => {
  const { tenant, one, two, alerts, send, merge } = await newScene(5);
  const [full = '', ...others] = alerts;
  const key = keys.alert(tenant.account, full);
  /** Fills its row so that only `room` still fits below DynamoDB's limit, which counts keys, names and values. */
  const fill = (room: Record<string, unknown> = {}) => {
    const length =
      MAX_ITEM_BYTES - itemBytes(marshall({ ...key, alert_id: full, title: '' })) - itemBytes(marshall(room));
    return put(table, key, { alert_id: full, title: 'x'.repeat(length) });
  };
  await fill();
  const refused = await send({ alert_ids: alerts, incident_id: one, title: 'New' }, { limits: {} });
  expectEnvelope(refused, 400, 'BadRequest');
  expect(refused.body.error.message).toContain(full);
  expect(await tenant.history(one)).toEqual([]);

  await merge({ alert_ids: alerts, incident_id: two }, { limits: { transactionItems: 6 } });
  const history = await tenant.history(two);
  const [{ sequence }] = history;
  const deps = testDeps(table);
  await expect(finishEntries(table, history, { deps })).rejects.toThrow(full);
  // The log line that docs/runbook.md tells the operator to look for.
  const entry = { account_id: tenant.account, incident_id: two, sequence };
  const fields = { ...entry, error_name: 'AlertsTooLargeError', alert_ids: [full] };
  expect(deps.log.lines).toEqual([{ level: 'error', message: 'merge not finished', fields }]);
  expect(new Set(await tenant.placements(others))).toEqual(new Set([two]));
  expect(await tenant.pending()).toEqual([String(sequence)]);

  // What the operator can do. The row is as large as it can be and still be moved, with any sequence of as many digits.
  await fill({ incident_id: two, moved_sequence: 1_111_111_111_111 });
  expect(await finishMerge(table, tenant.account, { incidentId: two, sequence }, LIMITS.transactionItems)).toBe(
    'finished',
  );
  await expectMerged(tenant, two, alerts);
});

it('an incident whose row would be too large refuses a new title', async () => {
  const { tenant, alerts, send } = await newScene(1);
  const id = objectId();
  const key = keys.incident(tenant.account, id);
  const empty = itemBytes(marshall({ ...key, incident_id: id, title: '', notes: '' }));
  await put(table, key, { incident_id: id, title: '', notes: 'x'.repeat(MAX_ITEM_BYTES - empty) });
  expectEnvelope(await send({ alert_ids: alerts, incident_id: id, title: 'New' }), 400, 'BadRequest');
  expect(await tenant.history(id)).toEqual([]);
});
