/** Messages for the queue of refused records. */
import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import { messageText, type QueueMessage, sqsText } from '../aws/sqs.ts';
import type { Origin } from '../model/order.ts';
import type { Int64 } from '../shared/json.ts';

/** The message that a refused text is from. */
export type MessageOrigin = Omit<Origin, 'line'> & { readonly group: string | undefined };

/** Maximum bytes of a reason. With it, the largest message of the ingest queue stays below SQS's limit. */
const MAX_REASON_BYTES = 4_096;

/**
 * The message for the queue of refused records. Its body is the text as it came, so that SQS's redrive sends that again.
 * @param text a line of a message, or a whole message
 * @param origin without a line if the whole message is refused
 */
export function refusalOf(
  text: string,
  reason: string,
  { messageId, sentMs, group, line }: MessageOrigin & { line?: number },
): QueueMessage {
  const attribute = (DataType: string, value: string | number): MessageAttributeValue => ({
    DataType,
    StringValue: String(value),
  });
  return {
    MessageBody: text,
    MessageGroupId: group,
    MessageAttributes: {
      reason: attribute('String', cut(sqsText(reason), MAX_REASON_BYTES)),
      message_id: attribute('String', messageId),
      sent_at_ms: attribute('Number', sentMs),
      ...(line !== undefined && { line: attribute('Number', line) }),
    },
  };
}

/** The call that sends. Messages have its account as their group. */
export interface Sender {
  readonly accountId: Int64;
  readonly requestId: string;
  readonly sentMs: number;
  readonly signal: AbortSignal;
}

export interface RefusedCall {
  /** The path of the operation. */
  readonly from: string;
  /** The items that were refused. */
  readonly texts: Iterable<string>;
  readonly bodyBytes: number;
  readonly reason: string;
}

/** The beginning of a text that takes at most these bytes in UTF-8. */
const cut = (text: string, maxBytes: number) =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read);

/** Maximum bytes of {@link RefusedCall} that are kept. In JSON they may double: then the message is still no longer than a line of the feed. */
const MAX_KEPT_BYTES = 32_000;
/** Ends a text that was cut. */
const CUT = '…(cut)';

/** Texts, one a line, as far as they fit into these bytes. */
function excerptOf(texts: Iterable<string>, maxBytes: number): string {
  let text = '';
  for (const next of texts) {
    if (text.length > maxBytes) break;
    text += `${text && '\n'}${next}`;
  }
  return Buffer.byteLength(text) <= maxBytes ? text : cut(text, maxBytes - Buffer.byteLength(CUT)) + CUT;
}

/** The message that keeps what is refused of a call. It is no record, since it has no kind, and its account is the key's. */
export function messageOfRefusedCall(
  { from, texts, bodyBytes, reason }: RefusedCall,
  { accountId, requestId, sentMs }: Omit<Sender, 'signal'>,
): QueueMessage {
  const text = excerptOf(texts, Math.min(bodyBytes, MAX_KEPT_BYTES));
  const body = messageText({ account_id: accountId, from, text });
  return refusalOf(body, reason, { messageId: requestId, sentMs, group: String(accountId) });
}
