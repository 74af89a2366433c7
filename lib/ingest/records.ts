import { hash } from 'node:crypto';
import { parseJson } from '../shared/json.ts';
import { recordProblems } from './check-line.ts';
import { sizeProblem } from './entity-rows.ts';
import type { Entity, FeedKind } from './kinds.ts';
import { orderOf } from './order.ts';

/** A record of the ingest queue that passed its checks. *Feed* means that queue here (docs/feed.md), not the feed of an incident. */
export interface FeedRecord {
  entity: Entity<FeedKind>;
  atMs: number;
  order: bigint;
  retired: boolean;
}

/** Maximum number of lines of a message. */
export const MAX_LINES = 1_000;
/** How far a sender's clock may be ahead. A record with a time far in the future would make all records until that time count as late. */
const MAX_CLOCK_AHEAD_MS = 5 * 60_000;

/** A report that has a value for one of these fields contains a snapshot; `received_at_ms` says when that was received. */
const SNAPSHOT_MARKERS = ['node_count', 'edge_count', 'observed_at_ms'];

/**
 * Checks a line of a message.
 * @param sentMs when the message was sent
 * @returns why it is refused, or the record
 */
export function recordOf(line: string, sentMs: number): { problem: string } | { record: FeedRecord } {
  let parsed: unknown;
  try {
    parsed = parseJson(line);
  } catch {
    return { problem: 'is not valid JSON' };
  }
  const problems = recordProblems(parsed);
  if (problems.length > 0) return { problem: problems.join('; ') };
  const { at_ms = sentMs, ...entity } = parsed as Entity<FeedKind> & { at_ms?: number };
  const retired = entity.kind === 'host' && entity.retired === true;
  if (retired) delete entity.retired;
  // Exports of restored work items contain this field, which only the service may set.
  if (entity.kind === 'work_item') delete entity.undone_deletion;
  const tooLarge = sizeProblem(entity, line);
  if (tooLarge !== undefined) return { problem: tooLarge };
  if (at_ms > sentMs + MAX_CLOCK_AHEAD_MS)
    return { problem: `at_ms is ${at_ms - sentMs} ms after the message was sent: set the clock, or leave at_ms out` };
  const { kind, received_at_ms } = entity;
  if (kind === 'alert' && entity.source_id !== undefined) {
    entity.alert_id = hash('sha256', `${entity.account_id} ${entity.source_id}`, 'hex').slice(0, 24);
    delete entity.source_id;
  }
  const hasSnapshot = SNAPSHOT_MARKERS.some((name) => (entity[name] ?? null) !== null);
  if (kind === 'host_status' && hasSnapshot && received_at_ms === undefined) entity.received_at_ms = sentMs;
  return { record: recordOfEntity({ ...entity, at_ms }, retired) };
}

/** The record of an entity; its time is the entity's `at_ms`. */
export function recordOfEntity({ at_ms, ...rest }: Entity, retired = false): FeedRecord {
  const entity = rest as Entity<FeedKind>;
  const atMs = Number(at_ms);
  const order = orderOf(atMs, retired ? { ...entity, retired } : entity);
  return { entity, atMs, order, retired };
}
