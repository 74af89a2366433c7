import { ApiError } from '../http/errors.ts';
import type { Int64 } from '../shared/json.ts';
import type { Log } from '../shared/log.ts';
import { createSqsClient, type QueueMessage, sendMessages } from '../shared/sqs.ts';
import { MAX_RECORDS, refusalOf } from './queues.ts';

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

/** Maximum bytes of a message: 16 KiB below SQS's limit, so that it fits into the queue of refused records, with a reason. */
export const MAX_MESSAGE_BYTES = (1024 - 16) * 1024;
const RETRY_SECONDS = '1';

/** The bodies of as few messages as hold these lines. A line that is too large for one is cut. */
export function messagesOf(lines: readonly string[]): string[] {
  const messages: string[][] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    const message = messages.at(-1);
    if (message && message.length < MAX_RECORDS && bytes + size <= MAX_MESSAGE_BYTES) message.push(line);
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
export function connectFeed({ log }: { log: Log }, feedUrl: string, refusedUrl = ''): Feed {
  const isLocal = feedUrl.startsWith('http:');
  const client = createSqsClient(isLocal ? { endpoint: new URL(feedUrl).origin, region: 'local' } : {});

  async function sendAll(url: string, messages: QueueMessage[], { requestId, signal }: Sender): Promise<void> {
    const taken = await sendMessages(client, url, messages, signal);
    if (taken.every(Boolean)) return;
    log.warn('the feed did not take records', { request_id: requestId });
    throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': RETRY_SECONDS });
  }

  return {
    send(lines, sender) {
      const MessageGroupId = String(sender.accountId);
      const messages = messagesOf(lines).map((MessageBody) => ({ MessageBody, MessageGroupId }));
      return sendAll(feedUrl, messages, sender);
    },
    refuse(lines, reason, sender) {
      const origin = { messageId: sender.requestId, sentMs: sender.sentMs, group: String(sender.accountId) };
      const messages = messagesOf(lines).map((text) => refusalOf(text, reason, origin));
      return sendAll(refusedUrl, messages, sender);
    },
  };
}
