import { escapedForSqs } from '../aws/sqs.ts';
import type { ItemText } from '../http/item-texts.ts';
import { AT_MS } from '../model/fields.ts';
import type { IngestKind, Orders, SentRecord } from '../model/kinds.ts';
import { type Order, type Origin, orderOf, timeOf } from '../model/order.ts';
import { type Int64, isJsonObject } from '../shared/json.ts';
import { parseLine, problemsOf, schemaOf, sentRecordOf, TAKEN_BY_FEED } from './check-line.ts';
import type { Problem } from './problems.ts';

/** How far a sender's clock may be ahead. A record with a time far in the future would make all records until that time count as late. */
const MAX_CLOCK_AHEAD_MS = 5 * 60_000;
/** How far the clock of the queue may be behind API Gateway's: so much less a sender over HTTPS may be ahead, since the queue checks again. */
const CLOCK_MARGIN_MS = 60_000;

/** A record with its place among those of its row. */
export interface IngestRecord {
  readonly sent: SentRecord<IngestKind>;
  /** When the change happened, in Unix milliseconds. */
  readonly atMs: number;
  readonly order: Order;
  /** Of a line that an export has written: the orders of its row, which the groups get in place of `order`. */
  readonly orders?: Orders;
  /** Whether it removes a host from the fleet. */
  readonly retired: boolean;
}

/** Checks a line of a message. */
export function recordOf(line: string, origin: Origin): { problems: Problem[] } | { record: IngestRecord } {
  const { sent, problems } = sentRecordOf(line);
  if (!sent) return { problems };
  // Exports of restored work items contain this field, which only the service and an import may set.
  delete sent.undone_deletion;
  const ahead = timeAhead(sent, origin.sentMs, MAX_CLOCK_AHEAD_MS);
  return ahead ? { problems: [ahead] } : { record: ingestRecord(sent, origin) };
}

/**
 * The line for the feed of a record that an account has sent over HTTPS: its text, with account and time at its beginning if it lacks them.
 * The check of the queue accepts this line, also if its clock is up to a minute behind.
 */
export function lineOf(
  { text: sent, value }: ItemText,
  { accountId, sentMs }: { accountId: Int64; sentMs: number },
): { problems: Problem[] } | { line: string } {
  const { problems, line: given } = parseLine(sent, { value });
  if (problems.length > 0) return { problems };
  if (!isJsonObject(given)) return { problems: problemsOf(given, TAKEN_BY_FEED) };
  const account = 'account_id' in given ? '' : `"account_id":${accountId},`;
  const time = 'at_ms' in given ? '' : `"at_ms":${sentMs},`;
  const record: object = { account_id: accountId, at_ms: sentMs, ...given };
  // A line feed would end the line. Valid JSON has none within a text.
  const text = escapedForSqs(sent).replaceAll('\n', ' ');
  const line = `{${account}${time}${text.slice(text.indexOf('{') + 1)}`;
  problems.push(...problemsOf(record, TAKEN_BY_FEED, line));
  if (problems.length > 0) return { problems };
  const checked = record as SentRecord<IngestKind>;
  if (BigInt(checked.account_id) !== BigInt(accountId))
    problems.push({ name: 'accountDiffers', values: { accountId: String(accountId) } });
  const ahead = timeAhead(checked, sentMs, MAX_CLOCK_AHEAD_MS - CLOCK_MARGIN_MS);
  if (ahead) problems.push(ahead);
  return problems.length > 0 ? { problems } : { line };
}

/** The first time of a record that is later than its sender's clock may be. */
function timeAhead(sent: SentRecord<IngestKind>, sentMs: number, maxAheadMs: number): Problem | undefined {
  const { properties } = schemaOf(sent);
  for (const field of Object.keys(sent)) {
    const aheadMs = properties[field] === AT_MS ? Number(sent[field]) - sentMs : 0;
    if (aheadMs > maxAheadMs) return { name: 'clockAhead', values: { field, aheadMs } };
  }
  return undefined;
}

/**
 * A record with its order. The time of its change is by default when it was sent.
 * @param orders of a line that an export has written
 */
export function ingestRecord(
  { at_ms, ...sent }: SentRecord<IngestKind>,
  origin: Origin,
  orders?: Orders,
): IngestRecord {
  const atMs = orders?.row_order ? timeOf(orders.row_order) : Number(at_ms ?? origin.sentMs);
  const order = orders?.row_order ?? orderOf(atMs, origin);
  const retired = sent.kind === 'host' && sent.retired === true;
  return { sent: sent as SentRecord<IngestKind>, atMs, order, retired, ...(orders && { orders }) };
}
