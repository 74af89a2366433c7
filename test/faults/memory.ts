/** Calls of every operation, and checks of the memory that calls leave in use: as objects, which weak references watch, and as bytes. */
import { setImmediate as turn } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, vi } from 'vitest';
import type { ApiEvent, Handler } from '../../lib/http/operation.ts';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../lib/operations/get-rum-resource/schema.ts';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import type { Deps } from '../../lib/shared/deps.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { RUM_RECORD } from '../support/accounts.ts';
import { inventory } from '../support/fleet.ts';
import { newAccount } from '../support/incidents.ts';
import { type EventOptions, put } from '../support/service.ts';

/** A new account with a row of each kind that calls read, and calls of every operation on it. */
export async function newLoad(table: Table, alertCount: number) {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  await put(table, keys.rumResource(account), RUM_RECORD);
  await put(table, keys.host(account, 'h'), inventory());
  await put(table, keys.workItem(account, 'w'), { work_item_id: 'w', version: 1, title: 't' });
  const incidents = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(alertCount);
  return {
    tenant,
    incidents,
    alerts,
    /** A call of each operation. Every tenth merge has all alerts, the others five. */
    calls(random: () => number): [ListedOperation, EventOptions][] {
      const alert_ids = alerts.slice(0, random() < 0.1 ? alertCount : 5);
      const incident_id = incidents[random() < 0.5 ? 0 : 1];
      return [
        [browseFleet, { appKey, body: {} }],
        [getRumResource, { appKey, body: {} }],
        [deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } }],
        [mergeAlerts, { appKey, body: { alert_ids, incident_id } }],
      ];
    },
  };
}

/** Runs a full garbage collection, in a new turn of the event loop: until a turn ends, V8 keeps each object that a WeakRef returned in it. */
async function collect(): Promise<void> {
  await turn();
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Bytes that objects, strings and arrays take. Code is left out, since V8 compiles and drops it at any time. */
export async function bytesInUse(): Promise<number> {
  for (let times = 0; times < 3; times += 1) await collect();
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => /^(new|old|large_object|new_large_object)_space$/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

const silent = () => undefined;
/** A log and metrics that keep nothing, in place of those of `testDeps`. */
export const SILENT: Pick<Deps, 'log' | 'metrics'> = {
  log: { info: silent, warn: silent, error: silent },
  metrics: { call: silent, event: silent, records: silent },
};

/** Maximum objects of each kind that may stay reachable: those of the latest calls may, but not those of every call. */
const MAX_HELD = 5;

/** Watches the calls of a test, whose handlers use a client of their own. */
export function watchCalls({ client }: Table) {
  const watched = new Map<string, WeakRef<object>[]>();
  function watch<Watched>(kind: string, object: Watched): Watched {
    const refs = watched.get(kind) ?? [];
    if (typeof object === 'object' && object !== null) refs.push(new WeakRef(object));
    watched.set(kind, refs);
    return object;
  }
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next({ ...args, request: watch('request', args.request) });
      watch('response', result.response);
      return result;
    },
    { step: 'finalizeRequest', priority: 'low', name: 'watch requests and responses' },
  );
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => watch('signal', timeout.call(AbortSignal, ms)));

  return {
    /** Watches the calls of this handler. */
    around:
      (handler: Handler): Handler =>
      async (event, context) => {
        const answer = watch('answer', await handler(watch('event', event), context));
        // The middleware writes what it knows of the call into the event.
        watch('call', (event as unknown as ApiEvent).call);
        return answer;
      },
    /** Fails unless the objects of all calls can be collected. */
    async expectReleased(): Promise<void> {
      vi.mocked(AbortSignal.timeout).mockReset(); // it keeps what it returned
      for (const [kind, refs] of watched) expect(refs.length, kind).toBeGreaterThan(10 * MAX_HELD);
      const held = async () => {
        await collect();
        const counts = [...watched].map(([kind, refs]) => [kind, refs.filter((ref) => ref.deref()).length] as const);
        return counts.filter(([, count]) => count > MAX_HELD);
      };
      // A signal is held until it aborts.
      await expect.poll(held, { timeout: 60_000, interval: 500 }).toEqual([]);
    },
  };
}
