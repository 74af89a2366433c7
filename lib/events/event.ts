/** Makes the events that the service publishes, each from the stream record of the write that it reports. */
import { createHash } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { textsWithin } from '../model/labels.ts';
import { timeOf } from '../model/order.ts';
import { entryOf, isMoved, readEntry } from '../operations/merge-alerts/entry.ts';
import { type Int64, stringifyJson } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { type Key, parseKey, type RowKind, type Stored } from '../table/keys.ts';

const VERSION = 1;
/** Maximum number of alert ids in an event. */
const MAX_IDS = 100;

export interface ServiceEvent {
  /** EventBridge's `detail-type`. */
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>> & { readonly id: string };
}

interface EventCommon {
  account: Int64;
  atMs: number;
  by: string;
  /** Identifies the commit that the event tells, among all that the account's events of the type tell. */
  dedupKey: string;
  /** The API call, the operator's command, or `record`: a record of the feed or of an import. */
  cause: { request_id: string } | { command: string };
}

/**
 * Creates an event. Its id is a hash of type, account and `dedupKey`, so that an event that is delivered again has the same id.
 * @param fields those that are undefined are left out when the event is sent
 */
function createEvent(type: string, { account, atMs, by, dedupKey, cause }: EventCommon, fields: object): ServiceEvent {
  const id = createHash('sha256').update(`${type}\n${account}\n${dedupKey}`).digest('hex').slice(0, 32);
  return { type, detail: { id, version: VERSION, account_id: account, at_ms: atMs, ...cause, by, ...fields } };
}

type Image = NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['NewImage']>;

/** Lambda passes binary values in base64. */
const decoded = (image: Image) =>
  Object.fromEntries(
    Object.entries(image).map(([name, { B, ...value }]) => [
      name,
      B === undefined ? value : { B: Buffer.from(B, 'base64') },
    ]),
  ) as Record<string, AttributeValue>;

/** The row in an image of a stream record; undefined if there is none. */
export const rowOf = ({ unmarshall }: Pick<Table, 'unmarshall'>, image: Image | undefined): Key | undefined =>
  image && unmarshall<Key>(decoded(image));

/** The write of a row of an account, as a stream record tells it. */
export interface Change {
  readonly record: DynamoDBRecord;
  readonly kind: RowKind;
  readonly account: Int64;
  readonly row: Key;
  /** The row before the write; undefined if there was none. */
  readonly before: Key | undefined;
}

/** The change that a stream record tells; undefined if the row was removed, or is of no account. */
export function changeOf(table: Pick<Table, 'unmarshall'>, record: DynamoDBRecord): Change | undefined {
  const row = rowOf(table, record.dynamodb?.NewImage);
  const { kind, account } = (row && parseKey(row)) ?? {};
  if (!row || !kind || account === undefined) return undefined;
  return { record, kind, account, row, before: rowOf(table, record.dynamodb?.OldImage) };
}

/** The event that reports a change; undefined if there is none, as when the row before the write said the same already. */
export async function eventOf(table: Table, change: Change): Promise<ServiceEvent | undefined> {
  const { record, kind, account, row, before } = change;
  switch (kind) {
    // An entry is updated when it is finished.
    case 'historyEntry':
      return record.eventName === 'INSERT' ? entryEvent(account, row as Stored<'historyEntry'>) : undefined;
    case 'logHead': {
      // The row stores no time. The stream record has one, in whole seconds.
      const atMs = Math.round((record.dynamodb?.ApproximateCreationDateTime ?? 0) * 1000);
      return completedEvent(table, account, row as Stored<'logHead'>, before as Stored<'logHead'> | undefined, atMs);
    }
    case 'workItem':
      return deletedEvent(account, row as Stored<'workItem'>, before as Stored<'workItem'> | undefined);
    case 'alert':
      return alertEvent(account, row as Stored<'alert'>);
    case 'audit':
      return operatorEvent(account, row as Stored<'audit'>, before as Stored<'audit'> | undefined);
    default:
      return undefined;
  }
}

function entryEvent(account: Int64, row: Stored<'historyEntry'>): ServiceEvent {
  const { entry, moves } = entryOf(row);
  const { kind, incident_id, sequence, merge_id, at_ms, by, request_id, large = false } = entry;
  const common = { account, atMs: at_ms, by, dedupKey: merge_id, cause: { request_id } };
  // A large merge has read these alerts. Entries that were committed since may have moved some: MergeCompleted knows.
  const moved = moves.filter(isMoved);
  const fields = { incident_id, sequence, alerts: moved.length };
  if (kind === 'merge_undone')
    return createEvent('MergeUndone', common, { ...fields, undone_sequence: entry.undone_sequence });
  return createEvent('AlertsMerged', common, {
    ...fields,
    alert_ids: moved.slice(0, MAX_IDS).map(({ alertId }) => alertId),
    comment: entry.comment,
    title: entry.new_title,
    owner_id: entry.new_owner_id,
    complete: !large,
  });
}

async function completedEvent(
  table: Table,
  account: Int64,
  { completed }: Stored<'logHead'>,
  before: Stored<'logHead'> | undefined,
  atMs: number,
): Promise<ServiceEvent | undefined> {
  if (!completed || completed.sequence === before?.completed?.sequence) return undefined;
  const { incident_id, sequence } = completed;
  const { entry, moves = [] } = (await readEntry(table, account, { incidentId: incident_id, sequence })) ?? {};
  // An undo has only the event at its commit.
  if (entry?.kind !== 'merge') return undefined;
  const { at_ms, by, merge_id: dedupKey, request_id } = entry;
  // The clocks differ, and the stream rounds.
  const common = { account, atMs: Math.max(atMs, at_ms), by, dedupKey, cause: { request_id } };
  return createEvent('MergeCompleted', common, { incident_id, sequence, alerts: moves.filter(isMoved).length });
}

/** `command` of a deletion that a record made, not a call; and `by`, unless the record says by whom: then the row has `record: ` and that. */
const RECORD = 'record';

/** A deletion is told when it is committed. A later record that deletes the item once more, as of another time, is not. */
function deletedEvent(
  account: Int64,
  row: Stored<'workItem'>,
  before: Stored<'workItem'> | undefined,
): ServiceEvent | undefined {
  const { work_item_id, version, deleted_at_ms: atMs, deleted_by: by = RECORD, deleted_request_id: request_id } = row;
  if (atMs === undefined || before?.deleted_at_ms !== undefined) return undefined;
  const cause = request_id === undefined ? { command: RECORD } : { request_id };
  // A restored item may be deleted again as of the same time. A record deletes it at most once, and a call raises its version.
  const committedBy = request_id ?? Buffer.from(row.deletion_order ?? []).toString('hex');
  const dedupKey = [work_item_id, atMs, version, committedBy].join('\n');
  const common = { account, atMs, by, dedupKey, cause };
  return createEvent('WorkItemDeleted', common, { work_item_id, work_item_version: version });
}

/** `by` and `command` of an end without a record. */
const SILENCE = ['service', 'end-silent-alerts'] as const;

/** Maximum bytes of the detail of an alert's event. With what EventBridge adds it stays within 64 KB, which EventBridge charges as one event. */
const MAX_DETAIL_BYTES = 64_000;

function alertEvent(account: Int64, row: Stored<'alert'>): ServiceEvent | undefined {
  const { event: told, key_order, alert_id, alert_key, alert_severity, title, incident_id } = row;
  if (told === undefined || key_order === undefined) return undefined;
  const isSilent = told === 'AlertSilent';
  const type = isSilent ? 'AlertResolved' : told;
  const [by, command] = isSilent ? SILENCE : [RECORD, RECORD];
  const common = { account, atMs: timeOf(key_order), by, dedupKey: alert_id, cause: { command } };
  const event = createEvent(type, common, {
    alert_id,
    alert_key,
    alert_severity,
    title,
    incident_id,
    start_time: secondsOf(row.started_at_ms),
    end_time: secondsOf(row.ended_at_ms),
    reason: isSilent ? 'silent' : undefined,
  });
  const empty = { ...event.detail, labels: {}, annotations: {}, labels_cut: true };
  const labels = textsWithin(row.labels, MAX_DETAIL_BYTES - Buffer.byteLength(stringifyJson(empty)));
  const annotations = textsWithin(row.annotations, labels.room);
  const isCut = labels.isCut || annotations.isCut;
  const detail = { ...event.detail, labels: labels.texts, annotations: annotations.texts };
  return { type, detail: { ...detail, ...(isCut && { labels_cut: true }) } };
}

const secondsOf = (atMs = 0) => Math.floor(atMs / 1_000);

function operatorEvent(
  account: Int64,
  row: Stored<'audit'>,
  before: Stored<'audit'> | undefined,
): ServiceEvent | undefined {
  const { id, at_ms, by, command, result, event: type, event_detail: detail } = row;
  if (type === undefined || result !== 'done' || before?.result === 'done') return undefined;
  return createEvent(
    type,
    { account, atMs: at_ms, by: `operator ${by}`, dedupKey: id, cause: { command } },
    { ...detail },
  );
}
