/** The messages of the queue of refused records. */
import type { Message, ReceiveMessageRequest } from '@aws-sdk/client-sqs';
import { isRefusedCall } from '../../../lib/ingest/check-line.ts';
import { type Int64, isInt64, parseJson } from '../../../lib/shared/json.ts';

/** What the queue of refused records has: a line of a message, or a message that was refused as a whole or failed for too long. */
export interface Refusal {
  reason: string;
  message_id: string;
  sent_at_ms: number;
  line?: number;
  /** The beginning of the line or message. */
  record: string;
}

/** What a call that receives refusals asks for. */
export const REFUSAL_ATTRIBUTES = {
  MessageSystemAttributeNames: ['SentTimestamp', 'DeadLetterQueueSourceArn', 'MessageGroupId'],
  MessageAttributeNames: ['All'],
  WaitTimeSeconds: 1, // otherwise SQS asks only some of its servers
} satisfies Partial<ReceiveMessageRequest>;

export function refusalOf({ Body = '', MessageId = '', Attributes = {}, MessageAttributes = {} }: Message): Refusal {
  const textOf = (name: string) => MessageAttributes[name]?.StringValue;
  const [reason, line, record] = [textOf('reason'), textOf('line'), Body.slice(0, MAX_SHOWN)];
  // SQS moved the message, whose attributes are of its sender.
  const isGivenUp = reason === undefined || Attributes.DeadLetterQueueSourceArn !== undefined;
  if (isGivenUp)
    return { reason: GIVEN_UP, message_id: MessageId, sent_at_ms: Number(Attributes.SentTimestamp), record };
  return {
    reason,
    message_id: textOf('message_id') ?? MessageId,
    sent_at_ms: Number(textOf('sent_at_ms')) || Number(Attributes.SentTimestamp),
    ...(line !== undefined && { line: Number(line) }),
    record,
  };
}
const GIVEN_UP = 'failed for too long';
/** Maximum characters of a record that are shown. */
const MAX_SHOWN = 1_000;

/** What a refused message is of, as its text says. */
export interface RefusedText {
  /** The account of all its records; undefined: it names none, or several. */
  account?: Int64;
  /** It remains of a refused call over HTTPS, and is no record, so the feed would refuse it again. */
  isRefusedCall: boolean;
}

export function readRefused({ Body = '', Attributes = {} }: Message): RefusedText {
  const lines = [Body, ...Body.split('\n')].flatMap((text) => {
    try {
      return [parseJson(text)];
    } catch {
      return [];
    }
  });
  const named = lines.map((line) => (line as { account_id?: unknown } | null)?.account_id).filter(isInt64);
  const group = Number(Attributes.MessageGroupId);
  const accounts = new Set(named.length > 0 ? named : Number.isSafeInteger(group) && group > 0 ? [group] : []);
  const [account] = accounts;
  return { isRefusedCall: lines.some(isRefusedCall), ...(account !== undefined && accounts.size === 1 && { account }) };
}
