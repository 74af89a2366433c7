/** The feed's queues, of a deployed stack or of `npm start`. */
import { type Message, SQS } from '@aws-sdk/client-sqs';
import type { Refusal } from '../../../lib/ingest/queues.ts';
import { chunksOf } from '../../../lib/shared/concurrency.ts';
import { parseJson } from '../../../lib/shared/json.ts';
import { LOCAL_CREDENTIALS, MAX_BATCH } from '../../../lib/shared/sqs.ts';
import { clientConfig } from '../aws/client-config.ts';
import { isLoopback } from '../local-service/loopback.ts';

/** Names of the stack outputs that contain the URLs of the feed's queues. */
export const FEED_OUTPUTS = {
  feed: 'FeedUrl',
  refused: 'FeedRefusedUrl',
  deadLetters: 'FeedDeadLettersUrl',
} as const;
export type FeedQueue = keyof typeof FEED_OUTPUTS;

/** Seconds for which {@link Feed.peekRefused} hides messages: longer than reading a queue takes. */
const PEEK_SECONDS = 30;
const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;

export type Feed = ReturnType<typeof createFeed>;

/**
 * The feed, if the outputs have the URLs of all its queues.
 * @param region of the queues on AWS
 */
export function connectFeed(outputs: ReadonlyMap<string, string>, region: string | undefined): { feed?: Feed } {
  const [feed, refused, deadLetters] = Object.values(FEED_OUTPUTS).map((name) => outputs.get(name));
  return feed && refused && deadLetters ? { feed: createFeed({ feed, refused, deadLetters }, region) } : {};
}

function createFeed(urls: Readonly<Record<FeedQueue, string>>, region: string | undefined) {
  const { hostname, origin } = new URL(urls.feed);
  const isLocal = isLoopback(hostname);
  // `npm start` checks no credentials, but the client needs some.
  const local = { endpoint: origin, region: 'local', credentials: LOCAL_CREDENTIALS };
  const sqs = new SQS(isLocal ? local : clientConfig(region));

  return {
    count: (queue: FeedQueue) => countMessages(sqs, urls[queue]),
    /** Reads up to `limit` refusals, and returns them to their queue. */
    async peekRefused(limit: number): Promise<Refusal[]> {
      const QueueUrl = urls.refused;
      const found: Message[] = [];
      while (found.length < limit) {
        const { Messages = [] } = await sqs.receiveMessage({
          QueueUrl,
          MaxNumberOfMessages: MAX_BATCH,
          VisibilityTimeout: PEEK_SECONDS,
          AttributeNames: ['All'],
          WaitTimeSeconds: 1, // otherwise SQS asks only some of its servers
        });
        if (Messages.length === 0) break;
        found.push(...Messages);
      }
      for (const batch of chunksOf(found, MAX_BATCH)) {
        const Entries = batch.map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout: 0,
        }));
        await sqs.changeMessageVisibilityBatch({ QueueUrl, Entries });
      }
      return found.slice(0, limit).map(refusalOf);
    },
  };
}

/** What a message of the queue of refused records says. Of a message that the feed did not send, nothing is shown. */
function refusalOf({ Body = '', MessageId = '', Attributes }: Message): Refusal {
  try {
    const refusal = parseJson(Body) as Refusal;
    const { reason, record, message_id } = refusal;
    if ([reason, record, message_id].every((text) => typeof text === 'string') && Number.isFinite(refusal.sent_at_ms))
      return refusal;
  } catch {
    // no JSON, or null
  }
  const sent_at_ms = Number(Attributes?.SentTimestamp);
  return { reason: 'not a message of the feed', message_id: MessageId, sent_at_ms, record: '' };
}

/** Approximate number of visible and in-flight messages of a queue. */
export async function countMessages(sqs: SQS, QueueUrl: string) {
  const { Attributes = {} } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: [...COUNTS] });
  const [waiting, underWay] = COUNTS.map((name) => Number(Attributes[name] ?? 0)) as [number, number];
  return { waiting, underWay };
}
