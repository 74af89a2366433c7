import { createServer } from 'node:http';
import { MAX_BATCH_BYTES } from '../../../lib/aws/sqs.ts';
import { listen } from '../../../test/support/listen.ts';
import { createQueues } from '../../local/queues.ts';

/** Queues as SQS serves them. @returns the URL of each */
export async function startQueues(names: readonly string[]) {
  const server = createServer((request, response) => void queues.answer(request, response));
  const port = await listen(server);
  const attributes = { MaximumMessageSize: MAX_BATCH_BYTES };
  const queues = createQueues(
    names.map((name) => ({ name, attributes })),
    port,
  );
  return {
    urls: names.map(queues.url),
    async [Symbol.asyncDispose]() {
      await queues.stop();
      server.close();
      server.closeAllConnections();
    },
  };
}
