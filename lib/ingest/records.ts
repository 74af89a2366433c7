import { hash } from 'node:crypto';
import { entityOf, schemaOf } from './check-line.ts';
import { AT_MS, type Entity, FEED_KINDS, type FeedKind } from './kinds.ts';
import { orderOf } from './order.ts';

/** A record of the ingest queue that passed its checks. *Feed* means that queue here (docs/feed.md), not the feed of an incident. */
export interface FeedRecord {
  entity: Entity<FeedKind>;
  atMs: number;
  order: bigint;
  retired: boolean;
}

/** How far a sender's clock may be ahead. A record with a time far in the future would make all records until that time count as late. */
const MAX_CLOCK_AHEAD_MS = 5 * 60_000;

/** A report that has a value for one of these fields contains a snapshot; `received_at_ms` says when that was received. */
const SNAPSHOT_MARKERS = ['node_count', 'edge_count', 'observed_at_ms'];

/** A record, or why it is refused. */
type Checked = { problem: string } | { record: FeedRecord };

/**
 * Checks a line of a message.
 * @param sentMs when the message was sent
 */
export function recordOf(line: string, sentMs: number): Checked {
  const { entity, problems } = entityOf(line, FEED_KINDS);
  if (!entity) return { problem: problems.join('; ') };
  // Exports of restored work items contain this field, which only the service and an import may set.
  delete entity.undone_deletion;
  return recordOfChecked(entity, sentMs);
}

/**
 * The record of an entity that has no problems of its own.
 * @param sentMs when it was sent, by default also the time of its change
 */
export function recordOfChecked(line: Entity<FeedKind>, sentMs: number): Checked {
  const { properties } = schemaOf(line);
  for (const [name, value] of Object.entries(line)) {
    const aheadMs = properties[name] === AT_MS ? Number(value) - sentMs : 0;
    if (aheadMs > MAX_CLOCK_AHEAD_MS)
      return { problem: `${name} is ${aheadMs} ms after the record was sent: set the clock that it is from` };
  }
  const { at_ms, ...entity } = line;
  const atMs = Number(at_ms ?? sentMs);
  const record = entity as Entity<FeedKind>;
  const retired = record.kind === 'host' && record.retired === true;
  if (record.kind === 'host') delete record.retired;
  if (record.kind === 'alert' && record.source_id !== undefined) {
    record.alert_id = hash('sha256', `${record.account_id} ${record.source_id}`, 'hex').slice(0, 24);
    delete record.source_id;
  }
  const hasSnapshot = SNAPSHOT_MARKERS.some((name) => (record[name] ?? null) !== null);
  if (record.kind === 'host_status' && hasSnapshot && record.received_at_ms === undefined)
    record.received_at_ms = sentMs;
  return { record: recordOfEntity({ ...record, at_ms: atMs }, retired) };
}

/** The record of an entity; its time is the entity's `at_ms`. */
export function recordOfEntity({ at_ms, ...rest }: Entity, retired = false): FeedRecord {
  const entity = rest as Entity<FeedKind>;
  const atMs = Number(at_ms);
  const order = orderOf(atMs, retired ? { ...entity, retired } : entity);
  return { entity, atMs, order, retired };
}
