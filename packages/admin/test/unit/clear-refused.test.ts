/** A redrive ends although the queue of refused records never becomes empty, on a queue in memory that is larger than a round. */
import { randomUUID } from 'node:crypto';
import type {
  ChangeMessageVisibilityBatchRequest,
  DeleteMessageBatchRequest,
  SendMessageBatchRequest,
  SQS,
} from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { clearRefused } from '../../ingest/clear-refused.ts';

const NOW = 1_800_000_000_000;

/** @param refusesAgain whether the feed refuses at once what it gets @param arriving refusals that come with each call */
function newQueue(count: number, { refusesAgain = false, arriving = 0 }) {
  const messages = new Map<string, { sentMs: number; messageId: string; isHidden: boolean }>();
  const add = (sentMs: number, messageId = randomUUID()) =>
    void messages.set(randomUUID(), { sentMs, messageId, isHidden: false });
  for (let index = 0; index < count; index += 1) add(NOW - 1);
  const answerAll = (Entries: { Id: string | undefined }[] = []) => ({ Successful: Entries.map(({ Id }) => ({ Id })) });
  const sqs = {
    async receiveMessage() {
      for (let index = 0; index < arriving; index += 1) add(NOW + 1);
      const found = [...messages]
        .filter(([, { isHidden }]) => !isHidden)
        .toReversed()
        .slice(0, 10);
      const Messages = found.map(([ReceiptHandle, message]) => {
        message.isHidden = true;
        const text = (StringValue: string) => ({ DataType: 'String', StringValue });
        return {
          ...{ MessageId: ReceiptHandle, ReceiptHandle, Body: '{"account_id":1}' },
          Attributes: { SentTimestamp: String(message.sentMs) },
          MessageAttributes: { reason: text('r'), message_id: text(message.messageId), sent_at_ms: text('5') },
        };
      });
      return { Messages };
    },
    async sendMessageBatch({ Entries = [] }: SendMessageBatchRequest) {
      const Successful = Entries.map(({ Id }) => ({ Id, MessageId: randomUUID() }));
      // The clock of the queue may be behind that of the command.
      if (refusesAgain) for (const { MessageId } of Successful) add(NOW - 1, MessageId);
      return { Successful };
    },
    async deleteMessageBatch({ Entries = [] }: DeleteMessageBatchRequest) {
      for (const { ReceiptHandle = '' } of Entries) messages.delete(ReceiptHandle);
      return answerAll(Entries as { Id: string }[]);
    },
    async changeMessageVisibilityBatch({ Entries = [] }: ChangeMessageVisibilityBatchRequest) {
      for (const { ReceiptHandle = '' } of Entries) {
        const message = messages.get(ReceiptHandle);
        if (message) message.isHidden = false;
      }
      return answerAll(Entries as { Id: string }[]);
    },
  };
  return {
    sqs: sqs as unknown as SQS,
    visible: () => [...messages.values()].filter(({ isHidden }) => !isHidden).length,
  };
}

it.each([
  ['what it sends is refused again at once', { refusesAgain: true }, 1_200],
  ['others are refused meanwhile', { arriving: 7 }, undefined],
])('although %s', { timeout: 20_000 }, async (_what, behaviour, left) => {
  const { sqs, visible } = newQueue(1_200, behaviour);
  const { meant, failed, onlyDroppable } = await clearRefused(
    sqs,
    { ingest: 'feed', refused: 'refused' },
    {
      action: 'redrive',
      isMeant: () => true,
      untilMs: NOW,
      around: (_accounts, _count, change) => change(),
      signal: AbortSignal.timeout(15_000),
    },
  );
  expect([meant, failed, onlyDroppable]).toEqual([[{ account_id: 1, reason: 'r', count: expect.any(Number) }], 0, 0]);
  if (left === undefined) expect(visible()).toBeGreaterThan(0);
  else expect([meant[0]?.count, visible()]).toEqual([1_200, left]);
});
