/** The data set of the certificate, as lines of the data format. The ids of rows that the checks change differ from run to run. */
import { createHash } from 'node:crypto';
import { type Int64, stringifyJson } from '../../../lib/shared/json.ts';
import { BIG, FILLERS, HOSTS } from './hosts.ts';

/** {@link BIG} rounded to a double. */
export const ROUNDED = 9_007_199_254_740_992n;

export const OWNER = 7;

export type Line = { kind: string; account_id: Int64 } & Record<string, unknown>;

/** The ids of a run's rows. They depend on its name alone. */
export function dataSetOf(run: string) {
  const objectId = (name: string) => createHash('sha256').update(`${run} ${name}`).digest('hex').slice(0, 24);
  const workItem = (name: string) => `certify-${objectId(name).slice(0, 12)}-${name}`;
  return {
    workItems: {
      deleted: { work_item_id: workItem('deleted'), version: 1 },
      versioned: { work_item_id: workItem('versioned'), version: 7 },
      big: { work_item_id: workItem('big'), version: BIG },
    },
    incidents: {
      target: objectId('target'),
      titled: objectId('titled'),
      owned: objectId('owned'),
      bounds: objectId('bounds'),
      source: objectId('source'),
    },
    /** A check that asserts the incident of an alert uses alerts that no other check merges. */
    alerts: Array.from({ length: 12 }, (_, index) => objectId(`alert ${index}`)),
    /** Keys of alerts that are open, the latest start first, and of one that has ended. */
    openKeys: ['b', 'c', 'a'].map((name) => `certify ${objectId(name)} ${name}`),
    endedKey: `certify ${objectId('ended')}`,
    otherAccount: {
      work_item_id: workItem('stranger'),
      incident: objectId('stranger'),
      alert: objectId('stranger alert'),
    },
    unknown: objectId('unknown'),
  };
}

export type DataSet = ReturnType<typeof dataSetOf>;

/** The RUM record without its account. All numbers differ, so that swapped fields are noticed. Times are in seconds, relative to the import. */
export const RUM_RECORD = {
  product: 'rum',
  version: 'professional',
  status: 'enabled',
  order_id: 'ord-certify',
  resource_id: 'rum-certify',
  resource_name: 'Certificate',
  offering_id: BIG,
  created_at: -9_000_000,
  updated_at: -800_000,
  window_start_time: -700_000,
  window_end_time: 600_000,
  'action.days': 11,
  'error.days': 12,
  'long_task.days': 13,
  'resource.days': 14,
  'session.days': 15,
  'view.days': 16,
  'session_investigate.free_cnt': 1_001,
  'session_investigate.used_cnt': 501,
  'session_measure.free_cnt': 1_002,
  'session_measure.used_cnt': 502,
  'session_replay.free_cnt': 1_003,
  'session_replay.used_cnt': 503,
  session_limit_reached: true,
};

export const isTime = (name: string) => /_(at|time)$/.test(name);
const isUsage = (name: string) => name.endsWith('.used_cnt') || name === 'session_limit_reached';

export function rumLines(account_id: Int64, nowMs: number, changes: Partial<typeof RUM_RECORD> = {}): Line[] {
  const fields = Object.entries({ ...RUM_RECORD, ...changes }).map(([name, value]): [string, unknown] => [
    name,
    isTime(name) ? Math.floor(nowMs / 1_000) + Number(value) : value,
  ]);
  return [
    { kind: 'rum_resource', account_id, ...Object.fromEntries(fields.filter(([name]) => !isUsage(name))) },
    { kind: 'rum_usage', account_id, ...Object.fromEntries(fields.filter(([name]) => isUsage(name))) },
  ];
}

function fleetLines(account_id: Int64, nowMs: number): Line[] {
  const lines = HOSTS.flatMap(({ host, live }) => [
    { kind: 'host', account_id, ...host },
    ...(live ? [{ kind: 'host_status', account_id, host_id: host.host_id, ...live(nowMs) }] : []),
  ]);
  return [...lines, ...FILLERS.map((host) => ({ kind: 'host', account_id, ...host }))];
}

/** The first is critical. Each starts a minute before the one before it. */
export const alertContent = (index: number, nowMs: number) => ({
  alert_status: index === 0 ? 'Critical' : 'Warning',
  description: `Alert ${index}`,
  labels: { host: `db-${index}` },
  annotations: { runbook_url: 'https://example.com/' },
  source_url: 'https://example.com/',
  started_at_ms: nowMs - 60_000 * (index + 1),
});

/** The data of the certified account. */
export function accountLines(account_id: Int64, nowMs: number, dataSet: DataSet): Line[] {
  const { workItems, incidents, alerts, openKeys, endedKey } = dataSet;
  const common = { account_id, title: 'Certificate' };
  return [
    ...fleetLines(account_id, nowMs),
    ...rumLines(account_id, nowMs),
    ...[OWNER, BIG].map((member_id) => ({ kind: 'member', account_id, member_id, name: `Member ${member_id}` })),
    ...Object.values(workItems).map((item) => ({ kind: 'work_item', ...common, ...item })),
    ...Object.entries(incidents).map(([title, incident_id]) => ({ kind: 'incident', account_id, incident_id, title })),
    ...alerts.map((alert_id) => ({ kind: 'alert', ...common, alert_id, incident_id: incidents.source })),
    ...openKeys.map((alert_key, index) => ({ kind: 'alert', ...common, ...alertContent(index, nowMs), alert_key })),
    { kind: 'alert', ...common, alert_key: endedKey, alert_status: 'Ok', ended_at_ms: nowMs - 60_000 },
  ];
}

/** The data of the other account, which the certified one must not reach. */
export function otherAccountLines(account_id: Int64, { otherAccount }: DataSet): Line[] {
  const common = { account_id, title: 'Of another account' };
  return [
    { kind: 'work_item', ...common, work_item_id: otherAccount.work_item_id, version: 1 },
    { kind: 'incident', ...common, incident_id: otherAccount.incident },
    { kind: 'alert', ...common, alert_id: otherAccount.alert },
  ];
}

export const textsOf = (lines: readonly Line[]) => lines.map((line) => stringifyJson(line));
