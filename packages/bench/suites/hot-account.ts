/**
 * One account with a million hosts, each with a write of live status every 30 s: what its partition key has to take, and into
 * how many partitions DynamoDB has to split it. A partition takes 1,000 write units a second, and one that is near that is
 * split in two by sort key (AWS: "Best practices for designing and using partition keys", "Scaling DynamoDB: split for heat").
 */
import type { NewFigure } from '../report.ts';

const HOSTS = 1_000_000;
const INTERVAL_SECONDS = 30;
const PARTITION_WRITES = 1_000;
const PAGE_ROWS = 51;

export function run(add: (figure: NewFigure) => void): void {
  const writes = HOSTS / INTERVAL_SECONDS;
  const halvings = Math.ceil(Math.log2(writes / PARTITION_WRITES));
  const partitions = 2 ** halvings;
  const key = 'key of 1,000,000 live statuses';
  add({ name: `${key}: writes`, value: writes, unit: 'units/s' });
  add({ name: `${key}: partitions`, value: partitions, unit: 'partitions' });
  add({ name: `${key}: halvings of the first`, value: halvings, unit: 'halvings' });
  add({
    name: `${key}: hottest partition`,
    value: writes / partitions,
    unit: 'units/s',
    target: { most: PARTITION_WRITES },
  });
  add({
    name: 'pages that lie in two partitions',
    value: (100 * (partitions - 1) * (PAGE_ROWS - 1)) / HOSTS,
    unit: '%',
  });
}
