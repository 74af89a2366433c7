/** Bugs that break a sentence of the contract each. */
import type { Bug } from './plant.ts';

export interface Breaking extends Bug {
  /** Section and beginning of the sentence that must fail. */
  sentence: readonly [section: string, begins: string];
}

const RESOURCE = 'lib/rum/resource.ts';

export const BREAKING: readonly Breaking[] = [
  {
    name: 'the path of an operation has a version before it',
    file: 'lib/api/operations.ts',
    find: "path: '/rum/resource/info'",
    replace: "path: '/v1/rum/resource/info'",
    sentence: ['9', 'Paths have no version'],
  },
  {
    name: 'the window of the plan ends when it begins',
    file: RESOURCE,
    find: '[field, fields[field]]',
    replace: "[field, fields[field === 'window_end_time' ? 'window_start_time' : field]]",
    sentence: ['2.4', 'window_end_time'],
  },
  {
    name: 'of a work item that was deleted nothing is known',
    file: 'lib/incidents/delete-work-item.ts',
    find: 'BigInt(other) === BigInt(version) + 1n',
    replace: 'BigInt(other) === BigInt(version) + 2n',
    sentence: ['3', 'A deleted work item'],
  },
  {
    name: 'a cursor leads to the first page',
    file: 'lib/fleet/hosts.ts',
    find: 'startAfter(options.after)',
    replace: 'startAfter()',
    sentence: ['4.1', 'cursor: left out'],
  },
  {
    name: 'the account id of the RUM record is another',
    file: RESOURCE,
    find: '...usage, account_id: accountId',
    replace: '...usage, account_id: BigInt(accountId) + 1n',
    sentence: ['2.4', 'account_id'],
  },
  {
    name: 'every snapshot is fresh',
    file: 'lib/fleet/status.ts',
    find: "? 'fresh' : 'stale'",
    replace: "? 'fresh' : 'fresh'",
    sentence: ['3', 'freshness_status'],
  },
  {
    name: 'the retention of errors is that of actions',
    file: RESOURCE,
    find: '[field, fields[field]]',
    replace: "[field, fields[field === 'error.days' ? 'action.days' : field]]",
    sentence: ['2.4', 'error.days'],
  },
  {
    name: 'a merge of no alerts is taken',
    file: 'lib/api/validators/merge-alerts.ts',
    find: 'data0.length < 1',
    replace: 'data0.length < 0',
    sentence: ['8', 'Merge alert_ids'],
  },
  {
    name: '21 statuses are taken',
    file: 'lib/api/validators/browse-fleet.ts',
    find: 'data3.length > 20',
    replace: 'data3.length > 21',
    sentence: ['4.1', 'statuses: the seven'],
  },
  {
    name: 'the filter by cluster takes clusters that begin alike',
    file: 'lib/fleet/browse.ts',
    find: 'wanted.has(read(host, item))',
    replace: '(wanted.has(read(host, item)) || wanted.has(read(host, item).slice(0, 4)))',
    sentence: ['4.1', 'edge_clusters: exact'],
  },
];
