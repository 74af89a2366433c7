/** Sends messages that the feed gave up to it again, as of when they were first sent. */
import type { Message } from '@aws-sdk/client-sqs';
import { type Int64, isInt64, parseJson, stringifyJson } from '../../../lib/shared/json.ts';
import type { FeedMessage } from './messages.ts';
import type { Feed } from './queues.ts';
import { refusedOf } from './status.ts';

type Fields = Record<string, unknown>;

/**
 * A message to send again. Records without a time have that of their message: without one they would be newer than all that was
 * written since.
 */
export function again(body: string, sentAtMs: number, group = ''): FeedMessage {
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

export interface Replayed {
  readonly message: Message;
  /** As it was sent to the feed. */
  readonly body: string;
  readonly sentAtMs: number;
}

/** Takes messages of a queue to send them again; they are held until then. */
export async function readReplay(
  feed: Feed,
  queue: 'refused' | 'deadLetters',
  holdSeconds: number,
  most: number,
): Promise<Replayed[]> {
  const held: Replayed[] = [];
  for await (const messages of feed.receive(queue, holdSeconds)) {
    for (const message of messages) {
      const { Body = '', Attributes } = message;
      if (queue === 'deadLetters') held.push({ message, body: Body, sentAtMs: Number(Attributes?.SentTimestamp ?? 0) });
      else {
        const { line, sent_at_ms } = refusedOf(message);
        held.push({ message, body: line, sentAtMs: sent_at_ms });
      }
    }
    if (held.length >= most) break;
  }
  return held;
}
