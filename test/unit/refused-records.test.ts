import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { connectQueues, type Refusal } from '../../lib/ingest/queues.ts';
import { listen } from '../support/listen.ts';

/** SQS's maximum for the messages of a call. */
const MAX_CALL_BYTES = 1024 * 1024;

/** A queue in place of SQS. @param beforeAnswer is awaited before each answer */
async function startQueue(beforeAnswer: () => unknown = () => {}) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const { Entries } = JSON.parse(await text(request)) as { Entries: { Id: string; MessageBody: string }[] };
    bodies.push(...Entries.map(({ MessageBody }) => MessageBody));
    await beforeAnswer();
    const Successful = Entries.map(({ Id, MessageBody }) => ({
      Id,
      MessageId: 'm',
      MD5OfMessageBody: hash('md5', MessageBody),
    }));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify({ Successful }));
  });
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${await listen(server)}/1/queue`;
  return { bodies, refuse: connectQueues(url, url).refuse };
}

const REFUSAL = { message_id: 'm1', sent_at_ms: 5, line: 1 };

it.each([
  ['record', { reason: 'is not valid JSON', record: '\u0001'.repeat(1_000_000) }],
  ['reason', { reason: 'x is not a field of this kind; '.repeat(100_000), record: '{}' }],
])('a refusal with a very long %s is cut to what SQS takes', async (_what, long) => {
  const { bodies, refuse } = await startQueue();
  await refuse([{ ...long, ...REFUSAL }]);

  const [body = ''] = bodies;
  expect(Buffer.byteLength(body)).toBeLessThan(MAX_CALL_BYTES);
  const { reason, record, cut, ...rest } = JSON.parse(body) as Refusal;
  expect({ ...rest, cut }).toEqual({ ...REFUSAL, cut: true });
  expect(long.reason.startsWith(reason) && reason.length > 0).toBe(true);
  expect(long.record.startsWith(record) && record.length > 0).toBe(true);
});

it('a reason with characters that SQS refuses has them escaped', async () => {
  const { bodies, refuse } = await startQueue();
  const refusal = { ...REFUSAL, reason: '\ufffe\uffff is not a field of this kind', record: '{"\\uffff":1}' };
  await refuse([refusal]);
  expect(bodies[0]).not.toMatch(/[\ufffe\uffff]/);
  expect(JSON.parse(bodies[0] ?? '')).toEqual(refusal);
});

it('refusals are sent by several calls at a time, since a batch can have a hundred thousand of them', async () => {
  const isTwoAtOnce = Promise.withResolvers<void>();
  let calls = 0;
  const { bodies, refuse } = await startQueue(() => {
    calls += 1;
    if (calls === 2) isTwoAtOnce.resolve();
    return isTwoAtOnce.promise;
  });
  await refuse(Array.from({ length: 25 }, (_, index) => ({ ...REFUSAL, line: index + 1, reason: 'no', record: '{' })));
  const lines = bodies.map((body) => (JSON.parse(body) as Refusal).line ?? 0);
  expect(lines.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
});
