import { escapedForSqs } from '../aws/sqs.ts';
import type { Int64 } from '../shared/json.ts';
import { AT_MS, MAX_RECORD_BYTES } from './alert-fields.ts';
import { entityOf, MAX_LINE_BYTES, parseLine, problemsOf, schemaOf } from './check-line.ts';
import { type Entity, INGEST_KINDS, type IngestKind, type IngestRecord } from './kinds.ts';
import { type Orders, type Origin, orderOf, timeOf } from './order.ts';
import type { Problem } from './problems.ts';

/** How far a sender's clock may be ahead. A record with a time far in the future would make all records until that time count as late. */
const MAX_CLOCK_AHEAD_MS = 5 * 60_000;
/** How far the clock of the queue may be behind API Gateway's: so much less a sender over HTTPS may be ahead, since the queue checks again. */
const CLOCK_MARGIN_MS = 60_000;

/** Checks a line of a message. */
export function recordOf(line: string, origin: Origin): { problems: Problem[] } | { record: IngestRecord } {
  const { entity, problems } = entityOf(line, INGEST_KINDS);
  if (!entity) return { problems };
  // Exports of restored work items contain this field, which only the service and an import may set.
  delete entity.undone_deletion;
  const ahead = timeAhead(entity, origin.sentMs, MAX_CLOCK_AHEAD_MS);
  return ahead ? { problems: [ahead] } : { record: recordOfEntity(entity, origin) };
}

/**
 * The line for the feed of a record that an account has sent over HTTPS: its text, with account and time at its beginning if it lacks them.
 * The feed takes the line, whatever its clock.
 */
export function lineOf(
  sent: string,
  { accountId, sentMs }: { accountId: Int64; sentMs: number },
): { problems: Problem[] } | { line: string } {
  const { problems, line: given } = parseLine(sent, MAX_RECORD_BYTES);
  if (problems.length > 0) return { problems };
  const added = { account_id: accountId, at_ms: sentMs };
  const record = isObject(given) ? { ...added, ...given } : given;
  problems.push(...problemsOf(record, INGEST_KINDS));
  if (problems.length > 0) return { problems };
  const entity = record as Entity<IngestKind>;
  if (BigInt(entity.account_id) !== BigInt(accountId))
    problems.push({ name: 'accountDiffers', values: { accountId: String(accountId) } });
  const ahead = timeAhead(entity, sentMs, MAX_CLOCK_AHEAD_MS - CLOCK_MARGIN_MS);
  if (ahead) problems.push(ahead);
  const members = Object.entries(added).map(([name, value]) =>
    name in (given as object) ? '' : `"${name}":${value},`,
  );
  // A line feed would end the line. Valid JSON has none within a text.
  const text = escapedForSqs(sent).replaceAll('\n', ' ');
  const line = `{${members.join('')}${text.slice(text.indexOf('{') + 1)}`;
  if (Buffer.byteLength(line) > MAX_LINE_BYTES)
    problems.push({ name: 'itemTooLong', values: { maxBytes: MAX_LINE_BYTES } });
  return problems.length > 0 ? { problems } : { line };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first time of an entity that is later than its sender's clock may be. */
function timeAhead(entity: Entity<IngestKind>, sentMs: number, maxAheadMs: number): Problem | undefined {
  const { properties } = schemaOf(entity);
  for (const [field, value] of Object.entries(entity)) {
    const aheadMs = properties[field] === AT_MS ? Number(value) - sentMs : 0;
    if (aheadMs > maxAheadMs) return { name: 'clockAhead', values: { field, aheadMs } };
  }
  return undefined;
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
