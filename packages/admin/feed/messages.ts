/** Messages of the feed: packed from records, and rebuilt from what the feed refused or could not take in. */
import type { Message } from '@aws-sdk/client-sqs';
import type { Refusal } from '../../../lib/ingest/queues.ts';
import { type Int64, isInt64, parseJson } from '../../../lib/shared/json.ts';
import { messageText } from '../../../lib/shared/sqs.ts';

/** SQS bills each 64 KB of a message as a request. */
const MAX_MESSAGE_BYTES = 60_000;
/** Maximum lines of a message. */
const MAX_LINES = 1_000;

/**
 * Records of one account, one a line. The group is the account: SQS's fair queues keep the backlog of one group from
 * delaying the messages of others.
 */
export interface FeedMessage {
  readonly body: string;
  readonly group?: string | undefined;
}

/** Packs the records of an account into messages, with as few billed requests as possible. */
export function* messagesOf(group: string, records: Iterable<object>): Generator<FeedMessage> {
  let lines: string[] = [];
  let bytes = 0;
  for (const record of records) {
    const line = messageText(record);
    const lineBytes = Buffer.byteLength(line) + 1;
    if (lines.length === MAX_LINES || (lines.length > 0 && bytes + lineBytes > MAX_MESSAGE_BYTES)) {
      yield { body: lines.join('\n'), group };
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += lineBytes;
  }
  if (lines.length > 0) yield { body: lines.join('\n'), group };
}

/** The content of a message in the queue of refused records. */
export const refusalOf = ({ Body = '' }: Message): Refusal => parseJson(Body) as Refusal;

/**
 * Builds the message that sends a refused record, or a dead letter, again. A record without a time gets the time at
 * which it was first sent: without one it would count as newer than everything written since.
 */
export function replayOf(queue: 'refused' | 'deadLetters', message: Message): FeedMessage & { sentAtMs: number } {
  const { Body = '', Attributes } = message;
  const sent =
    queue === 'refused' ? refusalOf(message) : { record: Body, sent_at_ms: Number(Attributes?.SentTimestamp) };
  const lines = sent.record.split('\n').map((line) => withTime(line, sent.sent_at_ms));
  return { body: lines.join('\n'), group: Attributes?.MessageGroupId, sentAtMs: sent.sent_at_ms };
}

function withTime(line: string, sentAtMs: number): string {
  const record = recordOf(line);
  if (!record || 'at_ms' in record) return line;
  const hasSnapshot = ['node_count', 'edge_count', 'observed_at_ms'].some((name) => name in record);
  const lacksReceivedAt = record.kind === 'host_status' && hasSnapshot && !('received_at_ms' in record);
  return messageText({ ...record, at_ms: sentAtMs, ...(lacksReceivedAt && { received_at_ms: sentAtMs }) });
}

/** The accounts that the records of a message name. */
export const accountsIn = (body: string): Int64[] =>
  body
    .split('\n')
    .map((line) => recordOf(line)?.account_id)
    .filter((id) => isInt64(id) && id > 0) as Int64[];

/** The record in a line; undefined: it is not a JSON object. */
function recordOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
