/**
 * One account with a million hosts that report every 30 s, simulated: what each partition key has to take, and into how
 * many partitions DynamoDB has to split it. A partition takes 1,000 write units a second, and one that is near that is
 * split in two by sort key (AWS: "Best practices for designing and using partition keys", "Scaling DynamoDB: split for heat").
 */
import { reportOf } from '../../lib/fleet/simulate.ts';
import { collections } from '../../lib/table/keys.ts';
import type { NewFigure } from '../report.ts';

const HOSTS = 1_000_000;
const INTERVAL_SECONDS = 30;
const PARTITION_WRITES = 1_000;
const PAGE_ROWS = 51;
const SIMULATION = { seed: 1, hosts: HOSTS, intervalMs: INTERVAL_SECONDS * 1000 };
/** A round in which no inventory changes: it is reported when it does. */
const ROUND = 5;

/** Ranges of sort keys that each stay below what a partition takes, and how often the first one had to be halved. */
function split(rows: number): { partitions: number; halvings: number; hottest: number } {
  let halvings = 0;
  while (rows / 2 ** halvings / INTERVAL_SECONDS > PARTITION_WRITES) halvings += 1;
  const partitions = 2 ** halvings;
  return { partitions, halvings, hottest: rows / partitions / INTERVAL_SECONDS };
}

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const writes = new Map<string, number>();
  const count = (key: string) => writes.set(key, (writes.get(key) ?? 0) + 1);
  for (let index = 0; index < HOSTS; index += 1) {
    if (reportOf(SIMULATION, index, ROUND, 0).host) count(collections.hosts(1));
    // None is silent: the most that there can be.
    count(collections.hostStatuses(1));
  }
  const rows = writes.get(collections.hostStatuses(1)) ?? 0;
  const { partitions, halvings, hottest } = split(rows);
  const key = 'key of 1,000,000 live statuses';
  add({ name: `${key}: writes`, value: rows / INTERVAL_SECONDS, unit: 'units/s' });
  add({
    name: 'key of the inventory: writes',
    value: (writes.get(collections.hosts(1)) ?? 0) / INTERVAL_SECONDS,
    unit: 'units/s',
  });
  add({ name: `${key}: partitions`, value: partitions, unit: 'partitions' });
  add({ name: `${key}: halvings of the first`, value: halvings, unit: 'halvings' });
  add({ name: `${key}: hottest partition`, value: hottest, unit: 'units/s', target: { most: PARTITION_WRITES } });
  add({
    name: 'pages that lie in two partitions',
    value: (100 * (partitions - 1) * (PAGE_ROWS - 1)) / HOSTS,
    unit: '%',
  });
}
