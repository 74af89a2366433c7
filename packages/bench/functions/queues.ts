import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MAX_BATCH_BYTES } from '../../../lib/aws/sqs.ts';
import { createQueues } from '../../local/queues.ts';

/** Queues as SQS serves them. @returns the URL of each */
export async function startQueues(names: readonly string[]) {
  let queues: ReturnType<typeof createQueues> | undefined;
  const server = createServer((request, response) => void queues?.answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const attributes = { MaximumMessageSize: MAX_BATCH_BYTES };
  const started = createQueues(
    names.map((name) => ({ name, attributes })),
    (server.address() as AddressInfo).port,
  );
  queues = started;
  return {
    urls: names.map(started.url),
    async [Symbol.asyncDispose]() {
      await started.stop();
      server.close();
      server.closeAllConnections();
    },
  };
}
