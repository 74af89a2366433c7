/** A redrive ends although the queue of refused records, which is larger than a round, never becomes empty. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReceiveMessageRequest, SendMessageBatchRequest, SQS } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { chunksOf } from '../../../../lib/shared/concurrency.ts';
import { clearRefused } from '../../ingest/clear-refused.ts';
import { clientOf, serveFeed } from '../support/feed-queues.ts';

const REFUSALS = 600;
const text = (StringValue: string) => ({ DataType: 'String', StringValue });

it.each([
  ['what it sends is refused again at once', { refusesAgain: true, arriving: 0 }],
  ['others are refused meanwhile', { refusesAgain: false, arriving: 7 }],
])('although %s', { timeout: 30_000 }, async (_what, { refusesAgain, arriving }) => {
  const { FeedUrl, FeedRefusedUrl: QueueUrl } = await serveFeed();
  const sqs = clientOf(FeedUrl);
  async function refuse(messageIds: readonly string[]): Promise<void> {
    const entryOf = (id: string, index: number) => ({
      ...{ Id: String(index), MessageBody: '{"account_id":1}' },
      MessageAttributes: { reason: text('r'), message_id: text(id), sent_at_ms: text('5') },
    });
    for (const batch of chunksOf(messageIds, 10)) await sqs.sendMessageBatch({ QueueUrl, Entries: batch.map(entryOf) });
  }
  const refuseNew = (count: number) => refuse(Array.from({ length: count }, () => randomUUID()));
  const disturbed = Object.assign(Object.create(sqs) as SQS, {
    async sendMessageBatch(request: SendMessageBatchRequest) {
      const answer = await sqs.sendMessageBatch(request);
      if (refusesAgain) await refuse((answer.Successful ?? []).map(({ MessageId = '' }) => MessageId));
      return answer;
    },
    async receiveMessage(request: ReceiveMessageRequest) {
      await refuseNew(arriving);
      return sqs.receiveMessage(request);
    },
  });
  await refuseNew(REFUSALS);
  // The clock of the queue may be behind that of the command.
  const untilMs = refusesAgain ? Date.now() + 60_000 : Date.now();
  await sleep(10);
  const { meant, failed, onlyDroppable } = await clearRefused(
    disturbed,
    { ingest: FeedUrl, refused: QueueUrl },
    {
      action: 'redrive',
      isMeant: () => true,
      untilMs,
      around: (_accounts, _target, change) => change(),
      signal: AbortSignal.timeout(25_000),
    },
  );
  expect([meant, failed, onlyDroppable]).toEqual([[{ account_id: 1, reason: 'r', count: REFUSALS }], 0, 0]);
  const name = 'ApproximateNumberOfMessages';
  const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: [name] });
  const visible = Number(Attributes?.[name]);
  if (refusesAgain) expect(visible).toBe(REFUSALS);
  else expect(visible).toBeGreaterThan(0);
});
