/** The queues of a stack's feed, as `npm start` has them. Nobody reads them. */
import { SQS } from '@aws-sdk/client-sqs';
import { LOCAL_CREDENTIALS } from '../../../../lib/aws/patient-client.ts';
import { serve } from '../../../../test/support/serve.ts';
import { createQueues } from '../../../local/queues.ts';

/** Serves the queues until the test ends. @returns their URLs, by the names of the stack's outputs */
export async function serveFeed() {
  let queues: ReturnType<typeof createQueues> | undefined;
  const url = await serve((request, response) => void queues?.answer(request, response));
  queues = createQueues(
    ['Feed', 'FeedRefused'].map((queue) => ({ name: queue, attributes: {} })),
    Number(new URL(url).port),
  );
  return { FeedUrl: queues.url('Feed'), FeedRefusedUrl: queues.url('FeedRefused') };
}

export const clientOf = (QueueUrl: string) =>
  new SQS({ endpoint: new URL(QueueUrl).origin, region: 'local', credentials: LOCAL_CREDENTIALS });
