/** What a warm function may have been through before the call that a test looks at. */

import { connectTable, type Table, type TableOptions } from '../../lib/dynamodb/client.ts';
import { deleteWorkItem } from '../../lib/http/operations.ts';
import { TIME_LIMITS } from '../../lib/shared/time-limits.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { newAccount } from './incidents.ts';
import { type Answer, eventFor, handlersOver, invokeAlone, testDeps } from './service.ts';

/** Calls of each kind: in the short form, too, more than there are sockets, and attempts than the SDK may send again. */
const CALLS = process.env.FAULTS ? 200 : 120;

/**
 * A client of a table, through a proxy, after a storm: calls at once whose every wire call was throttled, then as many
 * at once whose every wire call hung. The faults that are planned at the proxy end with it.
 * @param timeouts in milliseconds; by default production's
 */
export async function connectAfterStorm(
  table: Table,
  proxy: FaultProxy,
  timeouts?: TableOptions['timeouts'],
): Promise<Table> {
  const through = connectTable({ name: table.name, endpoint: proxy.endpoint, ...(timeouts && { timeouts }) });
  const { appKey } = await newAccount(table);
  const handlers = handlersOver(testDeps(through, { timeLimits: TIME_LIMITS }));
  const call = (work_item_id: string) =>
    invokeAlone(handlers.deleteWorkItem, eventFor(deleteWorkItem, { appKey, body: { work_item_id, version: 1 } }));
  proxy.plan();
  await call('opens a connection and looks the key up');
  proxy.plan(({ body }) => (body.includes('storm-hang') ? 'hang' : 'throttle'));
  // One kind after the other: those that hang hold all sockets, and the throttled ones would not be sent again in time.
  const answers: Answer[] = [];
  for (const kind of ['storm-throttle', 'storm-hang'])
    answers.push(...(await Promise.all(Array.from({ length: CALLS }, (_, index) => call(`${kind}-${index}`)))));
  // Attempts that were given up may still be on their way.
  proxy.ignore('storm-');
  proxy.plan();
  const other = answers.find(({ status }) => status !== 503);
  if (other) throw new Error(`a call in a storm answered ${other.status}`);
  return through;
}
