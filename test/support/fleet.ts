/** Fleets of hosts, and calls of fleet browse that are not held up by the rate limit. */
import type { HostRow } from '../../lib/model/host.ts';
import type { HostStatusRow } from '../../lib/model/host-status.ts';
import type { BrowseOptions } from '../../lib/operations/browse-fleet/handler.ts';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import type { TimeLimits } from '../../lib/shared/settings.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { newCaller } from './accounts.ts';
import { type Answer, createHandlers, eventFor, invokeAlone, NOW, putAll, remove, testDeps } from './service.ts';

export type Inventory = Omit<HostRow, 'host_id'>;
export type Live = Omit<HostStatusRow, 'host_id'>;

export const inventory = (fields: Partial<Inventory> = {}): Inventory => ({
  agent_version: '1.0.0',
  edge_cluster: 'eu',
  enabled: true,
  snapshot_ready: true,
  ...fields,
});

/** The live row of an active host. */
export const live = (fields: Partial<Live> = {}): Live => ({
  received_at_ms: NOW - 1_000,
  observed_at_ms: NOW - 1_500,
  node_count: 3,
  edge_count: 2,
  authoritative: true,
  graph_available: true,
  snapshot_truncated: false,
  snapshot_degraded: false,
  ...fields,
});

/** Host ids that sort as their numbers do. */
export const hostId = (number: number) => `host-${String(number).padStart(5, '0')}`;

interface FleetOptions extends BrowseOptions {
  timeLimits?: TimeLimits;
  /** The client of the handlers; by default the one that fills the fleet. */
  through?: Table;
  /** Who browses; by default a new account. */
  caller?: { account: number | bigint; appKey: string };
}

/** An account, with functions that fill its fleet and browse it. */
export async function newFleet(table: Table, { timeLimits, through = table, caller, ...options }: FleetOptions = {}) {
  const { account, appKey } = caller ?? (await newCaller(table));
  let calls = 0;
  const deps = testDeps(through, { now: () => NOW, ...(timeLimits && { timeLimits }) });
  const { browseFleet: handler } = createHandlers(deps, options);

  return {
    account,
    appKey,
    deps,
    putHosts: (hosts: Record<string, Inventory>) =>
      putAll(
        table,
        Object.entries(hosts).map(([id, row]) => ({ ...keys.host(account, id), ...row })),
      ),
    putLive: (rows: Record<string, Live>) =>
      putAll(
        table,
        Object.entries(rows).map(([id, row]) => ({ ...keys.hostStatus(account, id), ...row })),
      ),
    removeHost: (id: string) => remove(table, keys.host(account, id)),
    async removeLive(ids: string[]): Promise<void> {
      for (const id of ids) await remove(table, keys.hostStatus(account, id));
    },
    async browse(body: object = {}): Promise<Answer> {
      // The clock stands still, so the limit of two calls a second would never end.
      if (calls % 2 === 0) await remove(table, keys.rateCount(account, browseFleet.name, NOW / 60_000));
      calls += 1;
      return invokeAlone(handler, eventFor(browseFleet, { appKey, body }));
    },
  };
}

/** The ids of a page's hosts. */
export const hostIdsOf = ({ items }: { items: { host_id: string }[] }): string[] => items.map(({ host_id }) => host_id);

export type Fleet = Awaited<ReturnType<typeof newFleet>>;
