import { type MessageAttributeValue, SendMessageCommand } from '@aws-sdk/client-sqs';
import { ApiError } from '../http/errors.ts';
import type { Int64 } from '../shared/json.ts';
import type { Log } from '../shared/log.ts';
import { createSqsClient } from '../shared/sqs.ts';
import { MAX_LINES } from './records.ts';

/** The call that sends. Messages have its account as their group. */
export interface Sender {
  readonly accountId: Int64;
  readonly requestId: string;
  readonly sentMs: number;
  readonly signal: AbortSignal;
}

/**
 * The ingest queue, and the queue of refused records, for operations. A line holds no character that SQS refuses. Both methods throw
 * `ServiceUnavailable` if SQS does not take all lines.
 */
export interface Feed {
  send(lines: readonly string[], sender: Sender): Promise<void>;
  refuse(lines: readonly string[], reason: string, sender: Sender): Promise<void>;
}

/** Maximum bytes of a message: it still fits into the queue of refused records, with a reason. */
const MAX_MESSAGE_BYTES = 2 ** 20 - 16 * 1024;
const RETRY_SECONDS = '1';

/** The bodies of as few messages as hold these lines. A line that is too large for one is cut. */
export function messagesOf(lines: readonly string[]): string[] {
  const messages: string[][] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    const message = messages.at(-1);
    if (message && message.length < MAX_LINES && bytes + size <= MAX_MESSAGE_BYTES) message.push(line);
    else {
      messages.push([size > MAX_MESSAGE_BYTES ? cut(line) : line]);
      bytes = 0;
    }
    bytes += size;
  }
  return messages.map((message) => message.join('\n'));
}

const cut = (line: string) => line.slice(0, new TextEncoder().encodeInto(line, new Uint8Array(MAX_MESSAGE_BYTES)).read);

/** @param refusedUrl absent: for an operation that refuses the whole call */
export function connectFeed({ log }: { log: Log }, feedUrl: string, refusedUrl?: string): Feed {
  const isLocal = feedUrl.startsWith('http:');
  const client = createSqsClient(isLocal ? { endpoint: new URL(feedUrl).origin, region: 'local' } : {});

  async function sendAll(
    QueueUrl: string | undefined,
    lines: readonly string[],
    { accountId, requestId, signal }: Sender,
    attributes: Record<string, MessageAttributeValue> = {},
  ): Promise<void> {
    try {
      for (const MessageBody of messagesOf(lines))
        await client.send(
          new SendMessageCommand({
            QueueUrl,
            MessageBody,
            MessageGroupId: String(accountId),
            MessageAttributes: attributes,
          }),
          { abortSignal: signal },
        );
    } catch (error) {
      log.warn('the feed did not take records', { request_id: requestId, error_name: (error as Error).name });
      throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': RETRY_SECONDS });
    }
  }

  return {
    send: (lines, sender) => sendAll(feedUrl, lines, sender),
    refuse: (lines, reason, sender) =>
      sendAll(refusedUrl, lines, sender, {
        reason: { DataType: 'String', StringValue: reason },
        message_id: { DataType: 'String', StringValue: sender.requestId },
        sent_at_ms: { DataType: 'Number', StringValue: String(sender.sentMs) },
      }),
  };
}
