/** Sends refused records to the feed again, or deletes them. */
import type { Message, SendMessageBatchRequestEntry, SQS } from '@aws-sdk/client-sqs';
import { MAX_BATCH, MAX_BATCH_BYTES, sizeOf } from '../../../lib/aws/sqs.ts';
import { batchesOf, chunksOf } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { RecordWrites } from '../accounts/audit-rows.ts';
import { countText } from '../text/printable.ts';
import { REFUSAL_ATTRIBUTES, type RefusedText, readRefused } from './refusal.ts';

export type ClearAction = 'redrive' | 'drop';

export interface ClearOptions {
  readonly action: ClearAction;
  isMeant(refusal: RefusedText): boolean;
  /** Unix milliseconds: what is refused later stays. */
  readonly untilMs: number;
  /** Changes the queues for some of the refusals; absent: nothing is changed. */
  readonly around?: RecordWrites;
  readonly signal: AbortSignal;
}

/** Seconds for which messages are hidden from others: longer than a round takes. */
const HIDDEN_SECONDS = 300;
/** What a round holds in memory. */
const ROUND = { messages: 500, characters: 4_000_000 };
/** So many calls in a row without a message that is new to this command end it. SQS asks some of its servers, and repeats messages. */
const MAX_CALLS_WITHOUT_NEW = 3;

interface Taken {
  readonly message: Message;
  readonly about: RefusedText;
}

/**
 * Takes the messages of the queue of refused records one round after another. Those that are not meant become visible again at the end,
 * also after a failure.
 * @returns `meant`: how many were sent again or deleted, or would be, by account and reason; `onlyDroppable`: those of calls over HTTPS, which
 *   can only be deleted; `failed`: those that SQS did not take or delete
 */
export async function clearRefused(
  sqs: SQS,
  urls: { readonly ingest: string; readonly refused: string },
  { action, isMeant, untilMs, around, signal }: ClearOptions,
) {
  const QueueUrl = urls.refused;
  /** Receipt handles of the messages that stay, by message id. */
  const staying = new Map<string | undefined, string | undefined>();
  /** Ids of messages that this command has sent to the feed: their records may be refused again meanwhile. */
  const sent = new Set<string | undefined>();
  const counts = new Map<string, { account_id?: Int64; reason: string; count: number }>();
  let onlyDroppable = 0;
  let failed = 0;

  /** @returns new messages that are meant; undefined: there are no more */
  async function receive(): Promise<Taken[] | undefined> {
    for (let calls = 0; calls < MAX_CALLS_WITHOUT_NEW; calls += 1) {
      signal.throwIfAborted();
      const request = { QueueUrl, MaxNumberOfMessages: MAX_BATCH, VisibilityTimeout: HIDDEN_SECONDS };
      const { Messages = [] } = await sqs.receiveMessage({ ...request, ...REFUSAL_ATTRIBUTES });
      if (Messages.length === 0) return undefined;
      const taken: Taken[] = [];
      let isNew = false;
      for (const message of Messages) {
        const { MessageId, ReceiptHandle, Attributes } = message;
        const about = readRefused(message);
        const isSeen = staying.has(MessageId);
        const isLater = Number(Attributes?.SentTimestamp) > untilMs;
        isNew ||= !isSeen && !isLater;
        if (!isSeen && !isLater && !sent.has(about.message_id) && isMeant(about)) {
          if (action === 'drop' || !about.isRefusedCall) taken.push({ message, about });
          else onlyDroppable += 1;
        }
        if (taken.at(-1)?.message !== message) staying.set(MessageId, ReceiptHandle);
      }
      if (isNew) return taken;
    }
    return undefined;
  }

  /** @returns those that the feed took */
  async function sendAgain(round: readonly Taken[]): Promise<Taken[]> {
    const entries = round.map(({ message: { Body = '', Attributes }, about }, index) => {
      const MessageGroupId = Attributes?.MessageGroupId ?? about.account?.toString();
      return { Id: String(index), MessageBody: Body, ...(MessageGroupId !== undefined && { MessageGroupId }) };
    }) satisfies SendMessageBatchRequestEntry[];
    const taken: Taken[] = [];
    for (const Entries of batchesOf(entries, sizeOf, { maxItems: MAX_BATCH, maxSize: MAX_BATCH_BYTES })) {
      const { Successful = [] } = await sqs.sendMessageBatch({ QueueUrl: urls.ingest, Entries });
      for (const { Id, MessageId } of Successful) {
        sent.add(MessageId);
        taken.push(round[Number(Id)] as Taken);
      }
    }
    return taken;
  }

  async function clear(round: readonly Taken[]): Promise<void> {
    const done = action === 'redrive' ? await sendAgain(round) : round;
    failed += round.length - done.length;
    for (const taken of round)
      if (!done.includes(taken)) staying.set(taken.message.MessageId, taken.message.ReceiptHandle);
    for (const batch of chunksOf(done, MAX_BATCH)) {
      const Entries = batch.map(({ message: { ReceiptHandle } }, index) => ({ Id: String(index), ReceiptHandle }));
      const { Failed = [] } = await sqs.deleteMessageBatch({ QueueUrl, Entries });
      failed += Failed.length;
      const isDeleted = batch.filter((_taken, index) => !Failed.some(({ Id }) => Id === String(index)));
      count(isDeleted);
    }
  }

  function count(round: readonly Taken[]): void {
    for (const { about } of round) {
      const { account: account_id, reason } = about;
      const name = `${account_id} ${reason}`;
      const group = counts.get(name) ?? { ...(account_id !== undefined && { account_id }), reason, count: 0 };
      counts.set(name, { ...group, count: group.count + 1 });
    }
  }

  async function finish(round: readonly Taken[]): Promise<void> {
    if (round.length === 0) return;
    if (!around) {
      for (const { message } of round) staying.set(message.MessageId, message.ReceiptHandle);
      return count(round);
    }
    const accounts = new Set(round.flatMap(({ about }) => about.account ?? []));
    await around([...accounts], countText(round.length, 'refused record'), () => clear(round));
  }

  try {
    let round: Taken[] = [];
    let characters = 0;
    for (let taken = await receive(); taken; taken = await receive()) {
      round.push(...taken);
      characters += taken.reduce((sum, { message }) => sum + (message.Body?.length ?? 0), 0);
      if (round.length < ROUND.messages && characters < ROUND.characters) continue;
      await finish(round);
      round = [];
      characters = 0;
    }
    await finish(round);
  } finally {
    await showAgain(sqs, QueueUrl, [...staying.values()]);
  }
  return { meant: [...counts.values()], onlyDroppable, failed };
}

export async function showAgain(sqs: SQS, QueueUrl: string, handles: readonly (string | undefined)[]): Promise<void> {
  for (const batch of chunksOf(handles, MAX_BATCH)) {
    const Entries = batch.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle, VisibilityTimeout: 0 }));
    await sqs.changeMessageVisibilityBatch({ QueueUrl, Entries });
  }
}
