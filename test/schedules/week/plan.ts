/** What may happen in a week: who does what, by which clocks, and what goes wrong. */
import fc from 'fast-check';
import { anyFate } from '../schedule.ts';

/** The start of a minute. */
export const START_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const ID = '64f00000000000000000000';
export const incidents = [`${ID}1`, `${ID}2`, `${ID}3`];
export const alerts = [`${ID}a`, `${ID}b`, `${ID}c`, `${ID}d`];

// Ids, titles and times are few, so that many records are of one row or moment.
const few = fc.constantFrom(1, 2, 3);
const host_id = fc.constantFrom('a', 'b');
const time = fc.constantFrom(...[-4, -3, -3, -2, -1, 0].map((seconds) => START_MS + 1_000 * seconds));
const title = fc.constantFrom('one', 'two', 'three');
const incident_id = fc.constantFrom(...incidents);

/** @param optional fields that may be absent */
const of = (kind: string, fields: Record<string, fc.Arbitrary<unknown>>, optional: object = {}) =>
  fc
    .tuple(fc.record(fields), fc.record(optional, { requiredKeys: [] }))
    .map(([some, more]): object => ({ kind, ...some, ...more }));

const flags = ['authoritative', 'graph_available', 'snapshot_truncated', 'snapshot_degraded'] as const;
const counts = {
  ...{ received_at_ms: time, observed_at_ms: time, node_count: few, edge_count: few },
  ...Object.fromEntries(flags.map((name) => [name, fc.boolean()])),
};
const health = { health_at_ms: time, reason_codes: fc.constantFrom(['a'], ['b', 'c']) };
const inventory = { agent_version: title, edge_cluster: title, enabled: fc.boolean(), snapshot_ready: fc.boolean() };
/** Of four bytes. */
const LONG = '\u{1f525}';
const longLabels = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`label${index}`, LONG.repeat(255)]));
const keyed = {
  alert_key: fc.constantFrom('disk', 'disk', 'cpu'),
  alert_status: fc.constantFrom('Ok', 'Ok', 'Critical', 'Warning'),
  title: fc.constantFrom('one', 'two', LONG.repeat(512)),
};
const keyedMore = {
  labels: fc.constantFrom({ host: 'a' }, { constructor: 'b' }, longLabels),
  description: fc.constantFrom('short', 'x'.repeat(500)),
  started_at_ms: time,
  ended_at_ms: time,
};
const item = { work_item_id: fc.constant('w'), version: few, title };
const rum = {
  ...{ product: title, version: title, status: title, offering_id: few, order_id: title, resource_id: title },
  ...{ resource_name: title, created_at: few, updated_at: few, window_start_time: few, window_end_time: few },
  ...{ 'action.days': few, 'error.days': few, 'long_task.days': few, 'resource.days': few, 'session.days': few },
  ...{ 'view.days': few, 'session_investigate.free_cnt': few, 'session_measure.free_cnt': few },
  'session_replay.free_cnt': few,
};

/** Records by what they are about. A week has only some of these, so that more happens to each. */
const ENTITIES = {
  hosts: fc.oneof(
    of('host', { host_id, ...inventory }),
    of('host', { host_id, retired: fc.constant(true) }),
    of('host_status', { host_id }, { ...counts, ...health }),
    of('host_status', { host_id }, health),
  ),
  access: fc.oneof(
    of('member', { member_id: fc.constant(1), name: title }),
    of('rum_resource', rum),
    of('rum_resource', rum),
  ),
  items: fc.oneof(of('work_item', item, { more: few }), of('work_item', { ...item, deleted_at_ms: time })),
  incidents: fc.oneof(
    of('incident', { incident_id, title }, { owner_id: few }),
    of('alert', { alert_id: fc.constantFrom(...alerts), title }, { incident_id, incident_at_ms: time }),
  ),
  keys: of('alert', keyed, keyedMore),
};
type Topic = keyof typeof ENTITIES;
const TOPICS = Object.keys(ENTITIES) as Topic[];

/** A record that a source sends; `at_ms` is coarse, and may be ahead of the feed's clock. */
const lineOf = (topics: readonly Topic[]) =>
  fc
    .record({
      entity: fc.oneof(...topics.map((topic) => ENTITIES[topic])),
      at_ms: fc.option(fc.oneof({ weight: 6, arbitrary: time }, fc.constant(START_MS + 60_000)), { nil: undefined }),
    })
    .map(({ entity, at_ms }) => ({ ...entity, at_ms }));

const ofKind = <const Kind extends string, Fields extends object>(
  kind: Kind,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) => fc.record<Fields>(fields as never).map((its) => ({ kind, ...its }));
const count = fc.integer({ min: 1, max: 5 });
/** The first app key, or the second, which an operator may revoke. */
const appKey = fc.constantFrom(0, 1);

const merge = ofKind('merge', {
  alerts: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 5 }),
  into: fc.nat(incidents.length - 1),
  title: fc.boolean(),
  owner: fc.option(few, { nil: undefined, freq: 2 }),
  key: fc.option(fc.constantFrom('k', 'l'), { nil: undefined }),
});
/** An alert of Alertmanager. */
const notified = fc.record({
  fingerprint: fc.constantFrom('f', 'g'),
  status: fc.constantFrom('firing', 'resolved'),
  labels: fc.constantFrom({ alertname: 'one', severity: 'page' }, { alertname: 'two', ...longLabels }),
  startsAt: time.map((ms) => new Date(ms).toISOString()),
});
/** How far a clock is ahead from then on. */
const jumpMs = fc.constantFrom(0, -20_000, -40_000, HOUR_MS);

/** What processes do, by topics. */
function actionOf(topics: readonly Topic[]) {
  const lines = fc.array(lineOf(topics), { minLength: 1, maxLength: 3 });
  const has = (topic: Topic) => (topics.includes(topic) ? 1 : 0);
  const withAlerts = Math.max(has('incidents'), has('keys'));
  return fc.oneof(
    // A source sends again what got no answer: the same lines in a new message.
    { weight: 3, arbitrary: ofKind('source', { lines, isRepeated: fc.boolean() }) },
    { weight: 1, arbitrary: ofKind('send', { lines, appKey }) },
    { weight: 4, arbitrary: ofKind('ingest', { count, isImport: fc.boolean() }) },
    { weight: 2, arbitrary: ofKind('relay', { count }) },
    { weight: 2, arbitrary: ofKind('publish', { count }) },
    { weight: 1 + has('incidents'), arbitrary: ofKind('export', {}) },
    { weight: 4 * has('incidents') + has('keys'), arbitrary: merge },
    { weight: 2 * withAlerts, arbitrary: ofKind('undo', { of: fc.nat(3) }) },
    { weight: withAlerts, arbitrary: ofKind('finish', { isOverdue: fc.boolean() }) },
    { weight: 2 * has('items'), arbitrary: ofKind('delete', { version: fc.constantFrom(1, 2, 3, 4, 5), appKey }) },
    { weight: 2 * has('items'), arbitrary: ofKind('restore', {}) },
    { weight: 4 * has('hosts'), arbitrary: ofKind('browse', { appKey }) },
    { weight: 2 * has('keys'), arbitrary: ofKind('list', { appKey }) },
    {
      weight: 2 * has('keys'),
      arbitrary: ofKind('notify', { notified: fc.array(notified, { minLength: 1, maxLength: 2 }) }),
    },
    { weight: withAlerts, arbitrary: ofKind('get', { alert: fc.nat(5) }) },
    { weight: 8 * has('access'), arbitrary: ofKind('rum', { appKey: fc.constantFrom(0, 1, 1, 1) }) },
    { weight: 2 * has('access'), arbitrary: ofKind('revoke', {}) },
    // Time passes, and unless it is frozen, the process finds its clock set to another time.
    {
      weight: 1 + 5 * has('access'),
      arbitrary: ofKind('sleep', { ms: fc.constantFrom(has('access') ? 31_000 : 900, 31_000, 61_000), jumpMs }),
    },
  );
}
export type Action = ReturnType<typeof actionOf> extends fc.Arbitrary<infer Each> ? Each : never;

export interface ClockPlan {
  /** At first. */
  aheadMs: number;
  /** While a process is frozen, its monotonic clock stands still, and nobody sets the other one. */
  isFrozen: boolean;
}
const clock: fc.Arbitrary<ClockPlan> = fc.record({
  aheadMs: fc.constantFrom(0, 0, 0, -60_000, HOUR_MS),
  isFrozen: fc.boolean(),
});

const processOf = (topics: readonly Topic[]) =>
  fc.record({
    /** One after the other, by the same warm functions. */
    actions: fc.array(actionOf(topics), { minLength: 1, maxLength: topics.includes('access') ? 8 : 4, size: 'max' }),
    fate: anyFate,
    clock,
  });

export const weeks = fc.subarray(TOPICS, { minLength: 1, maxLength: 2 }).chain((topics) =>
  fc.record({
    /** Lines that are in the queue when the week begins, one in a message. */
    first: fc.array(lineOf(topics), { maxLength: 4, size: 'max' }),
    processes: fc.array(processOf(topics), { minLength: 3, maxLength: topics.includes('access') ? 4 : 7, size: 'max' }),
    /** Which of the sends, in turn, a queue or the bus does not take. */
    refuses: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  }),
);
export type Week = typeof weeks extends fc.Arbitrary<infer Each> ? Each : never;
