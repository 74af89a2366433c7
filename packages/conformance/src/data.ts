/** The data set of the certificate, as lines of the data format. Ids of what is changed differ from run to run. */
import { createHash } from 'node:crypto';
import { type Int64, stringifyJson } from '../../../lib/shared/json.ts';
import { BIG, FILLERS, HOSTS, LARGE_FLEET } from './hosts.ts';

/** {@link BIG} rounded to a double. */
export const ROUNDED = 9_007_199_254_740_992n;

export const OWNER = 7;

type Line = { kind: string; account_id: Int64 } & Record<string, unknown>;

/** Ids of the entities of a run, always the same for its name. */
export function entitiesOf(run: string) {
  const objectId = (name: string) => createHash('sha256').update(`${run} ${name}`).digest('hex').slice(0, 24);
  const workItem = (name: string) => `certify-${objectId(name).slice(0, 12)}-${name}`;
  return {
    workItems: {
      deleted: { work_item_id: workItem('deleted'), version: 1 },
      kept: { work_item_id: workItem('kept'), version: 3 },
      versioned: { work_item_id: workItem('versioned'), version: 7 },
      big: { work_item_id: workItem('big'), version: BIG },
      overview: { work_item_id: workItem('overview'), version: 1 },
    },
    incidents: {
      target: objectId('target'),
      titled: objectId('titled'),
      owned: objectId('owned'),
      bounds: objectId('bounds'),
      source: objectId('source'),
    },
    /** Sentences that check where alerts are do not share alerts. */
    alerts: Array.from({ length: 12 }, (_, index) => objectId(`alert ${index}`)),
    otherAccount: {
      work_item_id: workItem('stranger'),
      incident: objectId('stranger'),
      alert: objectId('stranger alert'),
    },
    unknown: objectId('unknown'),
  };
}

export type Entities = ReturnType<typeof entitiesOf>;

/** The RUM record: all numbers differ, so that swapped fields are noticed. */
export function rumRecord(nowMs: number) {
  const nowSeconds = Math.floor(nowMs / 1000);
  return {
    product: 'rum',
    version: 'professional',
    status: 'enabled',
    offering_id: BIG,
    order_id: 'ord-certify',
    resource_id: 'rum-certify',
    resource_name: 'Certificate',
    created_at: nowSeconds - 9_000_000,
    updated_at: nowSeconds - 800_000,
    window_start_time: nowSeconds - 700_000,
    window_end_time: nowSeconds + 600_000,
    'action.days': 11,
    'error.days': 12,
    'long_task.days': 13,
    'resource.days': 14,
    'session.days': 15,
    'view.days': 16,
    'session_investigate.free_cnt': 1_001,
    'session_measure.free_cnt': 1_002,
    'session_replay.free_cnt': 1_003,
  };
}

export const RUM_USAGE = {
  'session_investigate.used_cnt': 501,
  'session_measure.used_cnt': 502,
  'session_replay.used_cnt': 503,
  session_limit_reached: true,
};

/** A fleet; `large`: with hosts enough to reach the default of `scan_limit`. */
export function fleetLines(account_id: Int64, nowMs: number, { large = false } = {}): Line[] {
  const lines = HOSTS.flatMap(({ host, live }) => [
    { kind: 'host', account_id, ...host },
    ...(live ? [{ kind: 'host_status', account_id, host_id: host.host_id, ...live(nowMs) }] : []),
  ]);
  const fillers = FILLERS.slice(0, large ? LARGE_FLEET - HOSTS.length : 0);
  return [...lines, ...fillers.map((host) => ({ kind: 'host', account_id, ...host }))];
}

export const rumLines = (account_id: Int64, nowMs: number): Line[] => [
  { kind: 'rum_resource', account_id, ...rumRecord(nowMs) },
  { kind: 'rum_usage', account_id, ...RUM_USAGE },
];

/** The data, besides its fleet, that the certified account needs. */
export function entityLines(account_id: Int64, { workItems, incidents, alerts }: Entities): Line[] {
  const of = { account_id };
  return [
    ...[OWNER, BIG].map((member_id) => ({ kind: 'member', ...of, member_id, name: `Member ${member_id}` })),
    ...Object.values(workItems).map((item) => ({ kind: 'work_item', ...of, ...item, title: 'Certificate' })),
    ...Object.entries(incidents).map(([title, incident_id]) => ({ kind: 'incident', ...of, incident_id, title })),
    ...alerts.map((alert_id) => ({
      kind: 'alert',
      ...of,
      alert_id,
      title: 'Certificate',
      incident_id: incidents.source,
    })),
  ];
}

/** The data of the other account, which the certified one must not reach. */
export function otherAccountLines(account_id: Int64, { otherAccount }: Entities): Line[] {
  return [
    { kind: 'work_item', account_id, work_item_id: otherAccount.work_item_id, version: 1, title: 'Of another account' },
    { kind: 'incident', account_id, incident_id: otherAccount.incident, title: 'Of another account' },
    { kind: 'alert', account_id, alert_id: otherAccount.alert, title: 'Of another account' },
  ];
}

export const linesText = (lines: readonly Line[]) => lines.map((line) => `${stringifyJson(line)}\n`).join('');
