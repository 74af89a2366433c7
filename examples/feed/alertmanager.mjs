// A webhook receiver for Prometheus Alertmanager: sends the alerts of each notification to the feed.
// FEED_URL: the stack's output FeedUrl; ACCOUNT_ID: the account; PORT: the port to listen on (default 9099).
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

/** The feed records of a notification (version 4). An alert keeps its source_id, however often it is notified. */
export const recordsOf = ({ alerts }, accountId) =>
  alerts.map(({ labels, annotations, fingerprint, startsAt, endsAt, status }) => ({
    kind: 'alert',
    account_id: accountId,
    source_id: `alertmanager ${fingerprint} ${startsAt}`,
    title: `${annotations.summary ?? labels.alertname}${status === 'resolved' ? ' (resolved)' : ''}`.slice(0, 512),
    at_ms: Date.parse(status === 'resolved' ? endsAt : startsAt),
  }));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { FEED_URL, ACCOUNT_ID } = process.env;
  const PORT = process.env.PORT || '9099';
  if (!FEED_URL || !/^\d+$/.test(ACCOUNT_ID ?? '')) {
    console.error('Set FEED_URL to the output FeedUrl, and ACCOUNT_ID to the number of the account.');
    process.exit(2);
  }
  const sqs = new SQSClient();
  createServer(async (request, response) => {
    try {
      const records = recordsOf(await json(request), Number(ACCOUNT_ID));
      const MessageBody = records.map((record) => JSON.stringify(record)).join('\n');
      if (records.length > 0)
        await sqs.send(new SendMessageCommand({ QueueUrl: FEED_URL, MessageBody, MessageGroupId: ACCOUNT_ID }));
      response.writeHead(200).end();
    } catch (error) {
      console.error(error.message);
      response.writeHead(500).end(); // Alertmanager tries again
    }
  }).listen(Number(PORT), '127.0.0.1');
}
