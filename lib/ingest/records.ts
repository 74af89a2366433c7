import { AT_MS } from './alert-fields.ts';
import { entityOf, MAX_LINE_BYTES, problemsOf, schemaOf } from './check-line.ts';
import { type Entity, INGEST_KINDS, type IngestKind, type IngestRecord } from './kinds.ts';
import { type Orders, type Origin, orderOf, timeOf } from './order.ts';

/** How far a sender's clock may be ahead. A record with a time far in the future would make all records until that time count as late. */
const MAX_CLOCK_AHEAD_MS = 5 * 60_000;
/** How far the clock of the queue may be behind API Gateway's: so much less a sender over HTTPS may be ahead, since the queue checks again. */
const CLOCK_MARGIN_MS = 60_000;

/** A record, or why it is refused. */
type Checked = { problem: string } | { record: IngestRecord };

/** Checks a line of a message. */
export function recordOf(line: string, origin: Origin): Checked {
  const { entity, problems } = entityOf(line, INGEST_KINDS);
  if (!entity) return { problem: problems.join('; ') };
  // Exports of restored work items contain this field, which only the service and an import may set.
  delete entity.undone_deletion;
  return recordOfChecked(entity, origin);
}

/**
 * Why the feed would refuse a record that is parsed, by any clock; undefined if it would not.
 * @param line its text, which may lack what was wrong: a number that is not finite becomes null
 */
export function problemOf(record: object, line: string, origin: Origin): string | undefined {
  if (Buffer.byteLength(line) > MAX_LINE_BYTES) return `is longer than ${MAX_LINE_BYTES} bytes`;
  const problems = problemsOf(record, INGEST_KINDS);
  if (problems.length > 0) return problems.join('; ');
  const checked = recordOfChecked(record as Entity<IngestKind>, origin, MAX_CLOCK_AHEAD_MS - CLOCK_MARGIN_MS);
  return 'problem' in checked ? checked.problem : undefined;
}

/** The record of an entity that has no problems of its own. */
function recordOfChecked(entity: Entity<IngestKind>, origin: Origin, maxAheadMs = MAX_CLOCK_AHEAD_MS): Checked {
  const { properties } = schemaOf(entity);
  for (const [name, value] of Object.entries(entity)) {
    const aheadMs = properties[name] === AT_MS ? Number(value) - origin.sentMs : 0;
    if (aheadMs > maxAheadMs)
      return { problem: `${name} is ${aheadMs} ms after the record was sent: set the clock that it is from` };
  }
  return { record: recordOfEntity(entity, origin) };
}

/**
 * The record of an entity. The time of its change is by default when it was sent.
 * @param orders of a line that an export has written
 */
export function recordOfEntity(
  { at_ms, ...entity }: Entity<IngestKind>,
  origin: Origin,
  orders?: Orders,
): IngestRecord {
  const atMs = orders?.row_order ? timeOf(orders.row_order) : Number(at_ms ?? origin.sentMs);
  const record = entity as Entity<IngestKind>;
  const retired = record.kind === 'host' && record.retired === true;
  if (record.kind === 'host') delete record.retired;
  return {
    entity: record,
    atMs,
    order: orders?.row_order ?? orderOf(atMs, origin),
    retired,
    ...(orders && { orders }),
  };
}
