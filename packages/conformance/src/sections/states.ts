import { equal } from '../expect.ts';
import { HOSTS } from '../hosts.ts';
import { NOT_SHOWN, open, type Sentence, section, shown, shownAs } from '../sentence.ts';
import { certifiedPage, type Item } from './fleet-host.ts';
import { workItem } from './records.ts';

/** Checks that hosts have a status for the contract's reason. */
const state = (status: string, meaning: string, names: readonly string[]): Sentence =>
  shown(`${status}: ${meaning}`, async (t) => {
    const { items } = await certifiedPage(t);
    for (const name of names) {
      const host = items.find(({ host_id }: Item) => host_id.endsWith(name));
      equal(host?.servicemap.status, status, `status of ${name}`);
    }
  });

export const states = section('3', 'States and transitions', [
  state('active', 'a fresh snapshot and no degradation', ['active', 'active-polling', 'active-aging']),
  state('degraded', 'health is newer than the snapshot', ['degraded-health']),
  state('degraded', 'the snapshot is truncated or degraded', ['degraded-truncated', 'degraded-snapshot']),
  state('degraded', 'collection fails', ['failing']),
  state('stale', 'no new snapshot for twice the report interval', ['stale']),
  state('initializing', 'the capability is reported, the first snapshot is not ready', ['initializing']),
  state('disabled', 'collection is disabled on the host', ['switched-off', 'disabled']),
  state('unsupported', 'agent or kernel does not support it', ['unsupported']),
  state('no_data', 'no snapshot or health data at all', ['no-data']),
  shown('capability_status is for example running, disabled, starting, failed or unsupported', async (t) => {
    const { items } = await certifiedPage(t);
    const seen = new Set(items.map(({ servicemap }: Item) => servicemap.capability_status));
    for (const { host } of HOSTS) equal(seen.has(host.capability_status), true, `${host.capability_status} seen`);
  }),
  shown('freshness_status is fresh, stale or unknown: each occurs', async (t) => {
    const { items } = await certifiedPage(t);
    const seen = new Set(items.map(({ servicemap }: Item) => servicemap.freshness_status));
    equal([...seen].sort(), ['fresh', 'stale', 'unknown'], 'freshness_status');
  }),
  shownAs('A deleted work item is soft-deleted: kept, and marked', workItem, 'Deletion is soft'),
  open('States of the RUM resource, work items, alerts and incidents; all transitions', NOT_SHOWN),
]);
