/** An alert: what records say of it, its row, and what answers show. */
import { objectId, textField } from '../shared/json.ts';
import { AT_MS, type Field, type OrdersOf, type RowOf, secondsField } from './fields.ts';

/** Severities of an alert that is open. */
export const SEVERITIES = ['Critical', 'Warning', 'Info'] as const;
export type Severity = (typeof SEVERITIES)[number];
const severity = { type: 'string', enum: SEVERITIES } as const;
const status = { type: 'string', enum: [...SEVERITIES, 'Ok'] } as const;

/** Names and texts. */
const textMap = (maxProperties: number, maxLength: number) =>
  ({
    type: 'object',
    maxProperties,
    propertyNames: { type: 'string', minLength: 1, maxLength: 128 },
    additionalProperties: { type: 'string', maxLength },
  }) as const;
const textMapAnswer = (description: string) =>
  ({ type: 'object', additionalProperties: { type: 'string' }, description }) as const;
// A scheme may have capitals. Without blanks and control characters; the last range is that of half a surrogate pair.
const httpUrl = {
  type: 'string',
  maxLength: 2_048,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]+$',
} as const;

const incident = {
  title: 'AlertIncident',
  type: 'object',
  description: 'The incident that the alert is in; absent if none',
  required: ['incident_id'],
  properties: {
    incident_id: textField('Identifier of the incident'),
    title: textField('Its title; absent if there is no such incident'),
  },
  additionalProperties: false,
} as const;

const groups = {
  content: { order: 'row_order' },
  incident: { order: 'incident_order', byMerges: true, lockedBy: 'moved_sequence' },
  /** What only records with an alert key write. A record of the feed that is not later than the last one of the alert changes nothing. */
  state: { order: 'key_order' },
} as const;

const fields = {
  alert_id: { stored: 'id', schema: objectId, answer: textField('Identifier of the alert, for merges') },
  alert_key: {
    stored: 'state',
    by: 'records with a key',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    answer: textField('What the sender watches; absent if only records with alert_id have written the alert'),
  },
  title: {
    stored: 'content',
    // Of a record whose status is `Ok`, optional.
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 512 },
    answer: textField('Title'),
  },
  description: { stored: 'content', schema: { type: 'string', maxLength: 4_096 }, answer: textField('Description') },
  labels: {
    stored: 'content',
    schema: textMap(64, 1_024),
    answer: textMapAnswer('Labels, by their names'),
  },
  annotations: {
    stored: 'content',
    schema: textMap(32, 2_048),
    answer: textMapAnswer('What people read, such as `runbook_url`, by its name'),
  },
  source_url: {
    stored: 'content',
    schema: httpUrl,
    answer: textField('Where the sender shows the alert: an http or https URL'),
  },
  alert_status: {
    stored: false,
    by: 'records with a key',
    schema: status,
    answer: {
      ...status,
      description: 'The severity while the alert is open, Ok once it has ended; absent without alert_key',
    },
  },
  started_at_ms: {
    stored: 'state',
    by: 'records with a key',
    schema: AT_MS,
    as: 'start_time',
    answer: secondsField('When it started'),
  },
  /** Whether the record that opened it gave its start: then an `Ok` whose end lies before that tells of an earlier episode. */
  start_given: { stored: 'state', by: 'exports', schema: { type: 'boolean' } },
  /** The last alert of its key before it, of which one may look for earlier ones. */
  previous_alert_id: { stored: 'state', by: 'exports', schema: objectId },
  /** Absent: it is open. */
  ended_at_ms: {
    stored: 'state',
    by: 'records with a key',
    schema: AT_MS,
    as: 'end_time',
    answer: secondsField('When it ended, 0 while it is open'),
  },
  /** The time without a record of the key after which it ends by itself, in seconds. Absent: it never does. */
  silent_after_s: {
    stored: 'state',
    by: 'records with a key',
    schema: { type: 'integer', minimum: 60, maximum: 2_592_000 },
  },
  /** Absent: in no incident. */
  incident_id: { stored: 'incident', schema: objectId, as: 'incident', answer: incident },
  incident_at_ms: { stored: false, schema: AT_MS },
  /** The latest status that was not `Ok`; absent: only its end was told. */
  alert_severity: {
    stored: 'state',
    by: 'exports',
    schema: severity,
    answer: { ...severity, description: 'The latest status that was not Ok' },
  },
  created_at_ms: {
    stored: 'state',
    by: 'service',
    schema: AT_MS,
    as: 'created_at',
    answer: secondsField('When the service got its first record'),
  },
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const alert = { groups, fields } as const;

/** Openings, ends, and ends by silence, which are published as `AlertResolved` with a reason. */
export const ALERT_EVENTS = ['AlertTriggered', 'AlertResolved', 'AlertSilent'] as const;

export interface AlertRow extends RowOf<typeof fields>, OrdersOf<typeof groups> {
  /** Partition and sort key in the index of alerts, of one that has a key. */
  index_partition?: string;
  index_place?: string;
  /** Sequence of the latest merge or undo that took it, even if it stayed in its incident. */
  moved_sequence?: number;
  /** The row's `incident_id` before that merge or undo wrote it; absent: none. */
  moved_from?: string;
  /** Once a merge has taken it: the incident that the feed named last; absent: none. Until then `incident_id` is. */
  feed_incident?: string;
  /** What the latest write of the row publishes; other writes remove it. */
  event?: (typeof ALERT_EVENTS)[number];
  /** Unix seconds after which DynamoDB may remove it, with the row of its key if it is the last one of that; absent while it is open. */
  ttl?: number;
}

/** Whether an alert is open. One that only records with alert_id have written is neither open nor ended. */
export const isOpenAlert = ({ key_order, ended_at_ms }: Pick<AlertRow, 'key_order' | 'ended_at_ms'>): boolean =>
  key_order !== undefined && ended_at_ms === undefined;

/** What decides whether an alert key has an open alert. */
export interface AlertKeyRow {
  /** The last alert of the key. */
  alert_id: string;
  is_open: boolean;
  /** The order of the record that opened it, or of the latest that said that it has ended. */
  row_order: Uint8Array;
  /** That of the alert. */
  ttl?: number;
}
