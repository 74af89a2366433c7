/** The messages of the queue of refused records. */
import type { Message, ReceiveMessageRequest } from '@aws-sdk/client-sqs';
import { accountOfGroup, accountsOf } from '../../../lib/ingest/accounts.ts';
import { isRefusedCall } from '../../../lib/ingest/check-line.ts';
import { parsedLines } from '../../../lib/ingest/messages.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

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

/** What a refused message is of, too, as its text and its group say. */
export interface RefusedText extends Refusal {
  /** `undefined` among them: some of the text names no account, and the group is not one. */
  accounts: ReadonlySet<Int64 | undefined>;
  /** That of the whole message. */
  account?: Int64;
  /** It remains of a refused call over HTTPS, and is no record, so the feed would refuse it again. */
  isRefusedCall: boolean;
}

export function readRefused(message: Message): RefusedText {
  const { Body = '', Attributes = {} } = message;
  const lines = [...parsedLines(Body)];
  const group = accountOfGroup(Attributes.MessageGroupId);
  const accounts = accountsOf(lines, group);
  if (group !== undefined) accounts.add(group);
  const [account] = accounts;
  return {
    ...refusalOf(message),
    accounts,
    ...(accounts.size === 1 && account !== undefined && { account }),
    isRefusedCall: lines.some(isRefusedCall),
  };
}
