import { beforeAll, expect, it } from 'vitest';
import { deleteWorkItem, getRumResource, mergeAlerts } from '../../lib/api/operations.ts';
import { undoMerge } from '../../lib/incidents/undo-merge.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { finishFeed } from '../support/finish.ts';
import { newAccount } from '../support/incidents.ts';
import { RUM_RECORD } from '../support/rum.ts';
import { connectAgain, eventFor, handlersOver, invokeAlone, newTable, put, testDeps } from '../support/service.ts';
import { type Tap, tapWire } from '../support/wire.ts';

let table: Table;
let own: Table;
let tap: Tap;
beforeAll(async () => {
  table = await newTable();
  own = connectAgain(table);
  tap = tapWire(own);
});

// DynamoDB Local has no stale reads: what counts is what is asked for.
it('all that writes, refuses or lets in reads strongly consistent', async () => {
  const at = await newAccount(table);
  await put(table, keys.rumResource(at.account), RUM_RECORD);
  const to = await at.incident();
  const alerts = await at.alerts(120);
  const handlers = handlersOver(testDeps(own));
  await invokeAlone(handlers.getRumResource, eventFor(getRumResource, { appKey: at.appKey, body: {} }));
  await invokeAlone(handlers.getRumResource, eventFor(getRumResource, { appKey: at.appKey, body: {} }));
  await invokeAlone(
    handlers.deleteWorkItem,
    eventFor(deleteWorkItem, { appKey: at.appKey, body: { work_item_id: 'w', version: 1 } }),
  );
  const merge = { alert_ids: alerts, incident_id: to };
  await invokeAlone(handlers.mergeAlerts, eventFor(mergeAlerts, { appKey: at.appKey, body: merge }));
  const entry = (await at.feed(to)).find(({ kind }) => kind === 'merge');
  await finishFeed(own, [entry]);
  const request = { account: at.account, incidentId: to, sequence: entry.sequence, by: 'o', requestId: 'r' };
  await undoMerge(testDeps(own), request);

  const reads = tap.attempts.filter(({ command }) => /Get|Query/.test(command));
  expect(new Set(reads.map(({ command }) => command))).toEqual(
    new Set(['GetItemCommand', 'QueryCommand', 'BatchGetItemCommand']),
  );
  for (const { command, body } of reads) expect(`${command} ${body}`).toContain('"ConsistentRead":true');
});
