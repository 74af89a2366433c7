/** Whatever messages hold, a batch of them needs less than 256 MB, the peak of the function's process, and less than a minute. */

import { fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed } from '../infra/stack.ts';
import type { Outcome } from '../support/ingest-process.ts';
import { serve } from '../support/serve.ts';

/** Messages to send in all. */
const MESSAGES = Number(process.env.MESSAGES ?? 200);
const SEED = Number(process.env.SEED ?? Date.now());
const MAX_MESSAGE_BYTES = 1_008 * 1_024;
/** Lambda passes at most 6 MB to a function, and the stack at most 100 messages. */
const BATCH = { bytes: 6_000_000, messages: 100 };

const logUniform = (max: number) =>
  fc.double({ min: 0, max: Math.log(max), noNaN: true }).map((x) => Math.floor(Math.exp(x)));
const fill = (element: string, size: number, by = ',') =>
  Array.from({ length: Math.max(1, Math.floor(size / (element.length + by.length))) }, () => element).join(by);
const named = (size: number) =>
  Array.from({ length: Math.max(1, Math.floor(size / 10)) }, (_, n) => `"n${n}":0`).join();

const report = '{"kind":"host_status","account_id":1,"host_id":"h",';
const item = '{"kind":"work_item","account_id":1,"work_item_id":"w","version":1,"title":"t",';
const elements = [
  '[]',
  '{}',
  '0',
  '1.5',
  'null',
  '"x"',
  '"é😀"',
  '{"a":{"b":[]}}',
  '[[[[]]]]',
  '1e400',
  '"\\ud800"',
  '"\\""',
];
/** A line of about this size. */
const FORMS: ((element: string, size: number) => string)[] = [
  (element, size) => `${report}"reason_codes":[${fill(element, size)}]}`,
  (element, size) => `${report}"${'x'.repeat(size / 2)}":[${fill(element, size / 2)}]}`,
  (element, size) => `${item}"a":[${fill(element, size)}]}`,
  (element, size) => `{"a":[${fill(element, size)}],${item.slice(1)}"b":0}`,
  (_, size) => `${item}${named(size)}}`,
  (_, size) => `${report}${named(size)}}`,
  (element, size) => `${item}"a":"${fill(element.replaceAll('"', '\\"'), size)}"}`,
  (element, size) => fill(element, size, ' '),
  (_, size) => `{"kind":"rum_resource"${' '.repeat(size)}}`,
  (_, size) => '['.repeat(size),
  (_, size) => '{"a":'.repeat(size / 5),
  (_, size) => `{"a":1${'0'.repeat(size)}}`,
  (_, size) => `{"a":"${'\\u0041'.repeat(size / 6)}`,
  (_, size) => ' '.repeat(size),
];
const message = fc
  .record({
    form: fc.constantFrom(...FORMS),
    element: fc.constantFrom(...elements),
    size: logUniform(MAX_MESSAGE_BYTES),
    lineSize: fc.oneof(logUniform(MAX_MESSAGE_BYTES), fc.constant(60_000), fc.constant(1)),
    by: fc.constantFrom('\n', '\n', '\n', '\r\n', '\n\n', ' '),
  })
  .map(({ form, element, size, lineSize, by }) => {
    const line = form(element, Math.min(size, lineSize));
    // Each line is of a row of its own.
    const lines = Array.from({ length: Math.max(1, Math.floor(size / (line.length + 1))) }, (_, index) =>
      line.replace('"w"', `"w${index}"`).replace('"h"', `"h${index}"`),
    );
    return Buffer.from(lines.join(by))
      .subarray(0, MAX_MESSAGE_BYTES)
      .toString()
      .replace(/\ufffd+$/, '');
  });

/** Answers as DynamoDB and SQS do, and counts the messages that the queue of refused records gets. */
async function serveAws() {
  const counts = { refused: 0 };
  const url = await serve(async (request, response) => {
    const body = await text(request);
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    const target = String(request.headers['x-amz-target']);
    if (target.endsWith('SendMessageBatch')) {
      const { Entries } = JSON.parse(body) as { Entries: { Id: string; MessageBody: string }[] };
      counts.refused += Entries.length;
      const taken = Entries.map(({ Id, MessageBody }) => ({
        Id,
        MessageId: 'm',
        MD5OfMessageBody: hash('md5', MessageBody),
      }));
      response.end(JSON.stringify({ Successful: taken }));
    } else response.end(target.endsWith('GetItem') ? '{"Item":{"account_id":{"N":"1"}}}' : '{}');
  });
  return { url, counts };
}

/** Batches as Lambda makes them of the messages. */
function* batchesOf(bodies: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const body of bodies) {
    bytes += Buffer.byteLength(body);
    if (bytes > BATCH.bytes || batch.length === BATCH.messages) {
      yield batch;
      batch = [];
      bytes = Buffer.byteLength(body);
    }
    batch.push(body);
  }
  yield batch;
}

it('a batch of hostile messages costs less than 256 MB and a minute', {
  timeout: MESSAGES * 600 + 60_000,
}, async () => {
  const { url, counts } = await serveAws();
  const { NODE_OPTIONS } = functionsOf(deployed()).get('ingest-records')?.Properties.Environment.Variables ?? {};
  const env = { TABLE_NAME: 't', DYNAMODB_ENDPOINT: url, QUEUES_URL: `${url}/1/queue`, QUIET: 'true', NODE_OPTIONS };
  const child = fork('test/support/ingest-process.ts', { env: { ...process.env, ...env } });
  const ended = new AbortController();
  child.on('exit', () => ended.abort());
  onTestFinished(() => void child.kill());
  await once(child, 'message', { signal: ended.signal });
  for (let sent = 0; sent < MESSAGES; sent += BATCH.messages)
    for (const bodies of batchesOf(fc.sample(message, { numRuns: BATCH.messages, seed: SEED + sent }))) {
      const attributes = { SentTimestamp: String(Date.now()), ApproximateReceiveCount: '1', MessageGroupId: '1' };
      child.send({ Records: bodies.map((body, index) => ({ messageId: `m${index}`, body, attributes })) });
      const [outcome] = (await once(child, 'message', { signal: ended.signal })) as [Outcome];
      const seed = SEED + sent;
      expect({ seed, ...outcome }).toMatchObject({ seed, failed: 0, counts: { refused: counts.refused, failed: 0 } });
      expect(outcome.peakMb, `seed ${seed}`).toBeLessThan(256);
      counts.refused = 0;
    }
});
