import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { connectQueues, type Refusal } from '../../lib/ingest/queues.ts';
import { listen } from '../support/listen.ts';

/** SQS's maximum for the messages of a call. */
const MAX_CALL_BYTES = 1024 * 1024;

it.each([
  ['record', { reason: 'is not valid JSON', record: '\u0001'.repeat(1_000_000) }],
  ['reason', { reason: 'x is not a field of this kind; '.repeat(100_000), record: '{}' }],
])('a refusal with a very long %s is cut to what SQS takes', async (_what, long) => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const { Entries } = JSON.parse(await text(request)) as { Entries: { Id: string; MessageBody: string }[] };
    bodies.push(...Entries.map(({ MessageBody }) => MessageBody));
    const Successful = Entries.map(({ Id, MessageBody }) => ({
      Id,
      MessageId: 'm',
      MD5OfMessageBody: hash('md5', MessageBody),
    }));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify({ Successful }));
  });
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${await listen(server)}/1/queue`;
  const refusal = { ...long, message_id: 'm1', sent_at_ms: 5, line: 1 };
  await connectQueues(url, url).refuse([refusal]);

  const [body = ''] = bodies;
  expect(Buffer.byteLength(body)).toBeLessThan(MAX_CALL_BYTES);
  const { reason, record, cut, ...rest } = JSON.parse(body) as Refusal;
  expect({ ...rest, cut }).toEqual({ message_id: 'm1', sent_at_ms: 5, line: 1, cut: true });
  expect(long.reason.startsWith(reason) && reason.length > 0).toBe(true);
  expect(long.record.startsWith(record) && record.length > 0).toBe(true);
});
