/** Whatever messages hold, a batch of them needs less than 256 MB, the peak of the function's process. */
import { fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { functionsOf } from '../../../packages/local/template.ts';
import { deployed } from '../../infra/stack.ts';
import { serve } from '../../support/serve.ts';
import type { Outcome } from './ingest-process.ts';

/** Of the feed's largest message. Lambda passes at most 6 MB to a function, which are six of them. */
const MESSAGE_BYTES = 1_008 * 1_024;

const report = '{"kind":"host_status","account_id":1,"host_id":"h",';
const item = '{"kind":"work_item","account_id":1,"work_item_id":"w","version":1,"title":"t",';
const list = (element: string, size: number) => `[${`${element},`.repeat(size / (element.length + 1))}${element}]`;
const names = (size: number) => Array.from({ length: size / 10 }, (_, index) => `"n${index}":0`).join();
/** The lines of a message, each of a row of its own, as many as fit. @param lineOf makes a line of about a size */
function messageOf(lineOf: (size: number) => string, size: number): string {
  const line = lineOf(size);
  const count = Math.max(1, Math.floor(MESSAGE_BYTES / (Buffer.byteLength(line) + 10)));
  const ofRow = (index: number) => line.replace('"w"', `"w${index}"`).replace('"h"', `"h${index}"`);
  return Array.from({ length: count }, (_, index) => ofRow(index)).join('\n');
}
const messages = [
  messageOf((size) => `${report}"reason_codes":${list('"\\ud800"', size)}}`, 1_100),
  messageOf((size) => `${report}"reason_codes":${list('"x"', size)}}`, 500),
  messageOf((size) => `${item}${names(size)}}`, 8_000),
  messageOf((size) => `${item}"a":${list('{"a":{"b":[]}}', size)}}`, 8_000),
  messageOf((size) => '['.repeat(size), MESSAGE_BYTES - 1_000),
  messageOf((size) => `{"a":1${'0'.repeat(size)}}`, 60_000),
];

let refused = 0;
/** Answers as DynamoDB and SQS do, and counts the messages for the queue of refused records. */
const serveAws = () =>
  serve(async (request, response) => {
    const body = await text(request);
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    const target = String(request.headers['x-amz-target']);
    if (!target.endsWith('SendMessageBatch')) {
      response.end(target.endsWith('GetItem') ? '{"Item":{"account_id":{"N":"1"}}}' : '{}');
      return;
    }
    const { Entries } = JSON.parse(body) as { Entries: { Id: string; MessageBody: string }[] };
    refused += Entries.length;
    const Successful = Entries.map(({ Id, MessageBody }) => ({
      ...{ Id, MessageId: 'm', MD5OfMessageBody: hash('md5', MessageBody) },
    }));
    response.end(JSON.stringify({ Successful }));
  });

it.each([
  ['hostile messages', messages],
  // Parsed, each value takes twenty times the memory of its text.
  ['empty objects', Array(6).fill(messageOf((size) => `${item}"a":${list('{}', size)}}`, 8_000))],
])('a batch of %s costs less than 256 MB', async (_what, messages) => {
  refused = 0;
  const url = await serveAws();
  const { NODE_OPTIONS } = functionsOf(deployed()).get('ingest-records')?.Properties.Environment.Variables ?? {};
  const env = { TABLE_NAME: 't', DYNAMODB_ENDPOINT: url, QUEUES_URL: `${url}/1/queue`, QUIET: 'true', NODE_OPTIONS };
  const child = fork(new URL('ingest-process.ts', import.meta.url), { env: { ...process.env, ...env } });
  const ended = new AbortController();
  child.on('exit', () => ended.abort());
  onTestFinished(() => void child.kill());
  await once(child, 'message', { signal: ended.signal });
  const attributes = { SentTimestamp: String(Date.now()), ApproximateReceiveCount: '1', MessageGroupId: '1' };
  child.send({ Records: messages.map((body, index) => ({ messageId: `m${index}`, body, attributes })) });
  const [outcome] = (await once(child, 'message', { signal: ended.signal })) as [Outcome];
  expect(outcome).toMatchObject({ failed: 0, counts: { refused, failed: 0 } });
  expect(outcome.peakMb).toBeLessThan(256);
});
