/** Sends messages that the feed gave up to the feed again, with the time at which they were first sent. */
import type { Message } from '@aws-sdk/client-sqs';
import { type Int64, isInt64, parseJson, stringifyJson } from '../../../lib/shared/json.ts';
import type { FeedMessage } from './messages.ts';
import { refusalOf } from './status.ts';

type Fields = Record<string, unknown>;

/**
 * A message to send again. Records without a time have that of their message: without one they would be newer than all that was
 * written since.
 */
function again(body: string, sentAtMs: number, group: string | undefined): FeedMessage {
  const lines = body.split('\n').map((line) => {
    const record = recordOf(line);
    if (!record || 'at_ms' in record) return line;
    const hasSnapshot = ['node_count', 'edge_count', 'observed_at_ms'].some((name) => name in record);
    const received = record.kind === 'host_status' && hasSnapshot && !('received_at_ms' in record);
    return stringifyJson({ ...record, at_ms: sentAtMs, ...(received && { received_at_ms: sentAtMs }) });
  });
  return { body: lines.join('\n'), group };
}

/** The accounts that a message's records name. */
export const accountsIn = (body: string): Int64[] =>
  body
    .split('\n')
    .map((line) => recordOf(line)?.account_id)
    .filter((id) => isInt64(id) && id > 0) as Int64[];

function recordOf(line: string): Fields | undefined {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** The form in which a queue's message is sent again. */
export function replayOf(queue: 'refused' | 'deadLetters', message: Message): FeedMessage & { sentAtMs: number } {
  const { Body = '', Attributes } = message;
  const group = Attributes?.MessageGroupId;
  if (queue === 'deadLetters') {
    const sentAtMs = Number(Attributes?.SentTimestamp);
    return { ...again(Body, sentAtMs, group), sentAtMs };
  }
  const { record, sent_at_ms: sentAtMs } = refusalOf(message);
  return { ...again(record, sentAtMs, group), sentAtMs };
}
