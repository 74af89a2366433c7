/** A client of a table that has been through a storm of throttled and hanging calls, as that of a warm function may have been. */

import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import { connectTable, type Table, type TableOptions } from '../../lib/table/client.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { newAccount } from '../support/incidents.ts';
import { type Answer, callAlone, handlersOver, PATIENT_LIMITS, testDeps } from '../support/service.ts';

/** Milliseconds after which a call in the storm times out. */
const CALL_MS = 1_200;
/** Calls of each kind: more than the client has sockets, and than the SDK's shared quota has retries. */
const CALLS = process.env.FAULTS ? 200 : 120;

/**
 * Connects to a table through a proxy, and sends many calls at once whose attempts are all throttled, then as many whose attempts all
 * hang. The proxy's plan is empty afterwards.
 * @param timeouts in milliseconds; by default production's
 */
export async function connectAfterStorm(
  table: Table,
  proxy: FaultProxy,
  timeouts?: TableOptions['timeouts'],
): Promise<Table> {
  const through = connectTable({ name: table.name, endpoint: proxy.endpoint, ...(timeouts && { timeouts }) });
  const { appKey } = await newAccount(table);
  const handlers = handlersOver(testDeps(through, { timeLimits: { ...PATIENT_LIMITS, callMs: CALL_MS } }));
  const call = (work_item_id: string) =>
    callAlone(handlers, deleteWorkItem, { appKey, body: { work_item_id, version: 1 } });
  proxy.plan();
  await call('opens a connection and looks the key up');
  proxy.plan(({ body }) => (body.includes('storm-hang') ? 'hang' : 'throttle'));
  // One kind after the other, since hanging calls hold all sockets: throttled calls would not be retried in time.
  const answers: Answer[] = [];
  for (const kind of ['storm-throttle', 'storm-hang'])
    answers.push(...(await Promise.all(Array.from({ length: CALLS }, (_, index) => call(`${kind}-${index}`)))));
  // Attempts whose calls have timed out may still reach the proxy.
  proxy.ignore('storm-');
  proxy.plan();
  const unexpected = answers.find(({ status }) => status !== 503);
  if (unexpected) throw new Error(`a call in a storm answered ${unexpected.status}`);
  return through;
}
