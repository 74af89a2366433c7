/** The feed's queues, of a deployed stack or of `npm start`. */

import { type Message, SQS } from '@aws-sdk/client-sqs';
import { LOCAL_CREDENTIALS } from '../../../lib/aws/patient-client.ts';
import { MAX_BATCH } from '../../../lib/aws/sqs.ts';
import { clientConfig } from '../aws/client-config.ts';
import { isLoopback } from '../local-service/loopback.ts';
import { type ClearOptions, clearRefused, showAgain } from './clear-refused.ts';
import { REFUSAL_ATTRIBUTES, type Refusal, refusalOf } from './refusal.ts';

/** Names of the stack outputs that contain the URLs of the feed's queues. */
export const QUEUE_OUTPUTS = {
  ingest: 'FeedUrl',
  refused: 'FeedRefusedUrl',
} as const;

/** Seconds for which {@link IngestQueues.peekRefused} hides messages: longer than reading a queue takes. */
const PEEK_SECONDS = 30;
const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;

export type IngestQueues = ReturnType<typeof createIngest>;
export type QueueCounts = Awaited<ReturnType<IngestQueues['counts']>>;

/**
 * The feed, if the outputs have the URLs of all its queues.
 * @param region of the queues on AWS
 */
export function connectIngestQueues(
  outputs: ReadonlyMap<string, string>,
  region: string | undefined,
): { ingestQueues?: IngestQueues } {
  const [ingest, refused] = Object.values(QUEUE_OUTPUTS).map((name) => outputs.get(name));
  return ingest && refused ? { ingestQueues: createIngest({ ingest, refused }, region) } : {};
}

function createIngest(urls: Readonly<Record<keyof typeof QUEUE_OUTPUTS, string>>, region: string | undefined) {
  const { hostname, origin } = new URL(urls.ingest);
  const isLocal = isLoopback(hostname);
  // `npm start` checks no credentials, but the client needs some.
  const local = { endpoint: origin, region: 'local', credentials: LOCAL_CREDENTIALS };
  const sqs = new SQS(isLocal ? local : clientConfig(region));

  return {
    feed: { sqs, url: urls.ingest },
    /** How many messages wait, and how many were refused. */
    async counts() {
      const [ingest, refused] = await Promise.all([countMessages(sqs, urls.ingest), countMessages(sqs, urls.refused)]);
      return { ingest, refused };
    },
    /** Reads up to `limit` refusals, and returns them to their queue. */
    async peekRefused(limit: number): Promise<Refusal[]> {
      const QueueUrl = urls.refused;
      const found: Message[] = [];
      while (found.length < limit) {
        const { Messages = [] } = await sqs.receiveMessage({
          QueueUrl,
          MaxNumberOfMessages: MAX_BATCH,
          VisibilityTimeout: PEEK_SECONDS,
          ...REFUSAL_ATTRIBUTES,
        });
        if (Messages.length === 0) break;
        found.push(...Messages);
      }
      await showAgain(
        sqs,
        QueueUrl,
        found.map(({ ReceiptHandle }) => ReceiptHandle),
      );
      return found.slice(0, limit).map(refusalOf);
    },
    clearRefused: (options: ClearOptions) => clearRefused(sqs, urls, options),
  };
}

/** Approximate number of visible and in-flight messages of a queue. */
export async function countMessages(sqs: SQS, QueueUrl: string) {
  const { Attributes = {} } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: [...COUNTS] });
  const [waiting, underWay] = COUNTS.map((name) => Number(Attributes[name] ?? 0)) as [number, number];
  return { waiting, underWay };
}
