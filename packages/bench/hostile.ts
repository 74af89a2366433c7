/** Accounts whose rows are as large as the feed takes them, and the calls on them that may cost the most. */
import assert from 'node:assert/strict';
import { MAX_RECORD_BYTES } from '../../lib/ingest/limits.ts';
import { recordOf } from '../../lib/ingest/records.ts';
import { type ListedOperation, operationIdOf } from '../../lib/operations/index.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import { RUM_RECORD } from '../../test/support/accounts.ts';
import { accountLines } from './service.ts';

/** The second account has hosts that are small, and reports as large as the first. */
export const ACCOUNTS = { large: 1, smallHosts: 2 } as const;
export type HostileAccount = keyof typeof ACCOUNTS;
export const keyOf = (account: HostileAccount) => `bench-key-of-a-hostile-tenant-${account}`.padEnd(43, '-');

const COUNTS = { hosts: 1_000, alerts: 500, others: 100, items: 200 } as const;
/** Takes the most bytes for its code points. */
const WIDE = '😀';
const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const idsOf = (prefix: string, count: number) => namesOf(prefix, count).map((name) => name.padStart(24, 'a'));

const ALERTS = idsOf('1', COUNTS.alerts);
const KEYS = namesOf('k'.repeat(250), COUNTS.others);
const INCIDENTS = idsOf('2', COUNTS.others);
const MISSING = 'f'.repeat(24);

/** A record that grows by repetitions to the bound of records. */
function largest(fields: object, grown: (count: number) => object): string {
  const lineOf = (count: number) => stringifyJson({ ...fields, ...grown(count) });
  let [fits, tooMany] = [0, MAX_RECORD_BYTES];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (Buffer.byteLength(lineOf(middle)) <= MAX_RECORD_BYTES) fits = middle;
    else tooMany = middle;
  }
  return lineOf(fits);
}

export const largestAlert = (fields: object): string =>
  largest({ kind: 'alert', title: 't', ...fields }, (count) => ({ description: WIDE.repeat(Math.min(count, 4_096)) }));

/** In a row, a digit in a list takes three bytes; in JSON, two. */
export const largestItem = (work_item_id: string): string =>
  largest({ kind: 'work_item', work_item_id, version: 1, title: '' }, (count) => ({ x: Array(count).fill(1) }));

const hostOf = (host_id: string, isLarge: boolean) => {
  const fields = { kind: 'host', host_id, edge_cluster: '', enabled: true, snapshot_ready: true };
  const codes = isLarge && { reason_codes: namesOf('i', 128) };
  return largest({ ...fields, ...codes }, (count) => ({ agent_version: 'v'.repeat(isLarge ? count : 0) }));
};
/** With 128 reasons, the most that there may be. */
export const largestReport = (host_id: string): string =>
  largest({ kind: 'host_status', host_id, node_count: 1 }, (count) => ({
    reason_codes: namesOf('r'.repeat(Math.floor(count / 128)), 128),
  }));

/** The line of a record that the feed takes. @throws if it refuses it */
export function taken(account: HostileAccount, record: string, sentMs = Date.now()): string {
  const line = `{"account_id":${ACCOUNTS[account]},${record.slice(1)}`;
  const read = recordOf(line, { sentMs, messageId: 'm', line: 1 });
  assert('record' in read, stringifyJson(read));
  return line;
}

function recordsOf(account: HostileAccount): string[] {
  const hosts = namesOf('h', COUNTS.hosts).flatMap((host) => [hostOf(host, account === 'large'), largestReport(host)]);
  if (account === 'smallHosts') return hosts;
  return [
    ...hosts,
    ...INCIDENTS.map((incident_id) => JSON.stringify({ kind: 'incident', incident_id, title: WIDE.repeat(512) })),
    ...namesOf('', COUNTS.others).map((id) =>
      JSON.stringify({ kind: 'member', member_id: Number(id) + 1, name: WIDE.repeat(512) }),
    ),
    ...ALERTS.map((alert_id, index) => largestAlert({ alert_id, incident_id: INCIDENTS[index % COUNTS.others] })),
    ...KEYS.map((alert_key, index) => largestAlert({ alert_key, incident_id: INCIDENTS[index] })),
    ...namesOf('w', COUNTS.items).map(largestItem),
    largest({ kind: 'rum_resource', ...RUM_RECORD }, (count) => ({ resource_name: 'r'.repeat(count) })),
  ];
}

export const hostileLines = (): string[] =>
  (['large', 'smallHosts'] as const).flatMap((account) => [
    ...accountLines(ACCOUNTS[account], keyOf(account)),
    ...recordsOf(account).map((record) => taken(account, record)),
  ]);

export interface HostileCall {
  readonly account?: HostileAccount;
  readonly operation: ListedOperation;
  readonly what: string;
  /** The body of each of several calls. */
  readonly body: (call: number) => object;
}
type Bodies = Readonly<Record<string, HostileCall['body']>>;

const PAGE = { limit: 100 };
const NONE_FITS = { ...PAGE, scan_limit: 2_000, edge_clusters: ['none'] };
const incident = (call: number) => INCIDENTS[call % COUNTS.others];
const merge =
  (count: number, more: readonly string[] = []): Bodies[string] =>
  (call) => ({
    alert_ids: [
      ...Array.from({ length: count }, (_, index) => ALERTS[(call * count + index) % COUNTS.alerts]),
      ...more,
    ],
    incident_id: incident(call),
  });

/** By operation, those that may be the worst; of others, the example is called. */
const CALLS: Readonly<Record<string, Bodies>> = {
  browseFleet: { 'a page of 100': () => PAGE, 'a filter that no host fits': () => NONE_FITS },
  getRumResource: { 'past the cache': () => ({ no_cache: true }) },
  deleteWorkItem: {
    'a deletion': (call) => ({ work_item_id: `w${100 + call}`, version: 1 }),
    'a wrong version': () => ({ work_item_id: 'w0', version: 7 }),
    'a deletion, repeated': () => ({ work_item_id: 'w1', version: 1 }),
  },
  listAlerts: {
    'a page of 100': () => PAGE,
    '100 keys': () => ({ ...PAGE, alert_keys: KEYS }),
    '100 ids': () => ({ ...PAGE, alert_ids: ALERTS.slice(0, 100) }),
    'a month, ended': () => {
      const end_time = Math.floor(Date.now() / 1_000) + 60;
      return { ...PAGE, is_active: false, start_time: end_time - 30 * 86_400, end_time };
    },
  },
  listIncidents: { 'a page of 100': () => PAGE, 'a query that none fits': () => ({ ...PAGE, query: 'none' }) },
  listMembers: { 'a page of 100': () => PAGE, 'a query that none fits': () => ({ ...PAGE, query: 'none' }) },
  getAlert: { 'an alert': () => ({ alert_id: ALERTS[0] }) },
  mergeAlerts: {
    '1 alert': merge(1),
    // So few that the budget allows nearly all calls: what a merge writes besides its alerts is not counted.
    '6 alerts': merge(6),
    '40 alerts': merge(40),
    '94 alerts': merge(94),
    '500 alerts': merge(500),
    '39 alerts, one missing': merge(39, [MISSING]),
    '499 alerts, one missing': merge(499, [MISSING]),
  },
};

export function hostileCallsOf(operation: ListedOperation): HostileCall[] {
  const bodies = CALLS[operationIdOf(operation.name)] ?? { 'its example': () => operation.example.request };
  const calls = Object.entries(bodies).map(([what, body]) => ({ operation, what, body }));
  if (operation.name !== 'browse-fleet') return calls;
  return [
    ...calls,
    ...calls.map((call) => ({ ...call, what: `${call.what}, small hosts`, account: 'smallHosts' as const })),
  ];
}
