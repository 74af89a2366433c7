/** Moves what waits in the feed's queue of a region that does not serve to the queue of another one. */
import type { Message, SQS } from '@aws-sdk/client-sqs';
import { MAX_BATCH } from '../../../lib/aws/sqs.ts';
import { MAX_LINE_BYTES } from '../../../lib/ingest/limits.ts';
import { messagesOf } from '../../../lib/ingest/queues.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import { type Int64, toInt64 } from '../../../lib/shared/json.ts';

export interface FeedQueue {
  readonly sqs: SQS;
  readonly url: string;
}

/** Seconds that SQS waits for messages: so it asks all of its servers, and an empty answer means that none is visible. */
const WAIT_SECONDS = 2;

/**
 * A message is deleted once the other queue has it, so that none is lost; after a failure it may be there twice, which the order of its
 * records makes harmless. Those in flight are left.
 * @param around moves some messages of these accounts, within `change`
 * @returns how many were moved
 */
export async function moveFeed(
  from: FeedQueue,
  to: FeedQueue,
  around: (accounts: readonly Int64[], change: () => Promise<void>) => Promise<void>,
  signal: AbortSignal,
): Promise<number> {
  async function move({ Body = '', Attributes = {}, ReceiptHandle }: Message): Promise<void> {
    const { SentTimestamp, MessageGroupId } = Attributes;
    for (const MessageBody of datedMessages(Body, Number(SentTimestamp)))
      await to.sqs.sendMessage({ QueueUrl: to.url, MessageBody, ...(MessageGroupId && { MessageGroupId }) });
    await from.sqs.deleteMessage({ QueueUrl: from.url, ReceiptHandle });
  }
  for (let moved = 0; ; ) {
    signal.throwIfAborted();
    const { Messages = [] } = await from.sqs.receiveMessage({
      QueueUrl: from.url,
      MaxNumberOfMessages: MAX_BATCH,
      WaitTimeSeconds: WAIT_SECONDS,
      MessageSystemAttributeNames: ['SentTimestamp', 'MessageGroupId'],
    });
    if (Messages.length === 0) return moved;
    const groups = Messages.map(({ Attributes }) => Attributes?.MessageGroupId ?? '');
    const accounts = new Set(groups.filter((group) => /^\d{1,18}$/.test(group)).map(toInt64));
    await around([...accounts], () => forEach(Messages, move));
    moved += Messages.length;
  }
}

/** The records of a message, each with the time sent where it has no `at_ms`: the other queue would date it by the move. */
function datedMessages(message: string, sentMs: number): string[] {
  const body = message.replace(/^\ufeff/, '');
  if (membersOf(body)) return [dated(body, sentMs)];
  return messagesOf(body.split('\n').map((line) => dated(line, sentMs)));
}

/** What is no record, or would be too long for one, stays as it came. */
function dated(text: string, sentMs: number): string {
  const members = membersOf(text);
  if (!members?.length || members.includes('at_ms')) return text;
  const withTime = text.replace('{', `{"at_ms":${sentMs},`);
  return Buffer.byteLength(withTime) > MAX_LINE_BYTES ? text : withTime;
}

/** The names of an object's members; undefined: the text is no object. */
function membersOf(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : undefined;
  } catch {
    return undefined;
  }
}
