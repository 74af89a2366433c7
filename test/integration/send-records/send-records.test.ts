import { expect, it } from 'vitest';
import type { IngestQueue } from '../../../lib/ingest/queues.ts';
import { sendRecords } from '../../../lib/operations/send-records/schema.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller } from '../../support/accounts.ts';
import { ingestOver, keepingQueue, recordFrom } from '../../support/ingest.ts';
import { callAlone, createHandlers, NOW, newDouble, put, testDeps } from '../../support/service.ts';

const BIG = 9_007_199_254_740_993n;
const table = newDouble();
const { account, appKey } = await newCaller(table, { account_id: BIG });
const workItem = { kind: 'work_item', work_item_id: 'w', version: 1, title: 't' };
const alert = { kind: 'alert', alert_key: 's', title: 'Disk full' };
const NDJSON = { 'Content-Type': 'application/x-ndjson; charset=utf-8' };

/** Sends a body to queues that keep what they get, or to one that fails. */
async function sendBody(rawBody: string, headers: Record<string, string> = {}, failing?: keyof IngestQueue) {
  const { sent, refused, ingestQueue } = keepingQueue(failing);
  const deps = testDeps(table, { now: () => NOW, settings: { maxBodyBytes: 384 * 1_024 } });
  const handlers = createHandlers(deps, { ingestQueue });
  const answer = await callAlone(handlers, sendRecords, { appKey, rawBody, headers });
  const { data, error } = answer.body;
  const { status } = answer;
  return { status, headers: answer.headers, data, code: error?.code, message: error?.message, sent, refused, deps };
}

/** Sends records. A text that begins with `raw ` is sent as a number. */
const send = (records: readonly unknown[], failing?: keyof IngestQueue) =>
  sendBody(stringifyJson({ records }).replaceAll(/"raw ([^"]+)"/g, '$1'), {}, failing);

/** What the feed gets of one record: its line, without the account and time of the call. */
async function lineOf(text: string): Promise<string | undefined> {
  const { sent } = await sendBody(`[${text}]`);
  return sent[0]?.replace(/^{"account_id":\d+,"at_ms":\d+,/, '{');
}

it('the feed gets each record as it came, with account and time at its beginning where it has none', async () => {
  const member = `{ "kind":"member","member_id":9007199254740993, "name":"n\\u00e9\ufffe\\n", "account_id" : ${BIG}.0e0 }`;
  const item =
    '{"kind":"work_item",\n\t"at_ms":1e12,"work_item_id":"w","version":10e-1,"title":"t","x":[1e18,-0,1.50]}';
  expect(await sendBody(`{"records":[${member} ,\n${item}],"more":1}`)).toMatchObject({
    data: { accepted: 2 },
    refused: [],
    sent: [
      `{"at_ms":${NOW}, "kind":"member","member_id":9007199254740993, "name":"n\\u00e9\\ufffe\\n", "account_id" : ${BIG}.0e0 }`,
      `{"account_id":${BIG},${item.slice(1).replace('\n', ' ')}`,
    ],
  });
  for (const line of [member, item]) expect(await lineOf(line)).toBeDefined();
});

it.each([NDJSON['Content-Type'], 'Application/X-NDJSON', 'application/ndjson', 'application/JSONL; charset=utf-8'])(
  'the body may have a record a line, and blank lines, if it is of %s',
  async (type) => {
    const [a, b] = [alert, { ...alert, title: '[{"records":[' }].map((record) => JSON.stringify(record));
    const { data, sent } = await sendBody(`\ufeff${a}\r\n\n \n${b}\n`, { 'Content-Type': type });
    expect(data).toEqual({ accepted: 2 });
    expect(sent.map((line) => JSON.parse(line).title)).toEqual(['Disk full', '[{"records":[']);
  },
);

it('a record that cannot be taken takes no other with it, and all that are refused are kept in one message', async () => {
  const bad = [
    ['5', 'must be a JSON object'],
    ['"\\ud800"', 'must be a JSON object'],
    [
      `{"kind":"alert","alert_key":"s","title":"\\ud800"}`,
      'title must be a string of 1 to 512 characters, in well-formed Unicode',
    ],
    [`{"kind":"alert","alert_key":"s"}`, 'title is required and must be a string of 1 to 512 characters'],
    [
      `{"kind":"alert","__proto__":1,"alert_key":"s","title":"t"}`,
      /^must not contain field names that are .*__proto__/,
    ],
    [stringifyJson({ ...alert, account_id: 7 }), `account_id must be ${BIG}, or left out`],
    [
      stringifyJson({ ...alert, at_ms: 1_795_000_000 }),
      /at_ms must be an integer .*: it is in milliseconds, and 1795000000 is in seconds$/,
    ],
  ] as const;
  const good = JSON.stringify(alert);
  const body = bad.map(([text]) => `${good},${text}`).join();
  const { data, sent, refused, deps } = await sendBody(`{"records":[${body}]}`);
  expect(data).toEqual({
    accepted: bad.length,
    refused: bad.map(([, reason], index) => ({
      index: 2 * index + 1,
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    })),
    refused_count: bad.length,
  });
  expect(sent).toHaveLength(bad.length);
  const [{ body: kept = '', reason = '', group } = {}, ...others] = refused;
  expect([group, others, deps.metrics.recordCounts]).toEqual([`${BIG}`, [], [expect.objectContaining({ refused: 7 })]]);
  expect(reason).toMatch(/^records\[1\]: must be a JSON object; records\[3\]: .*records\[13\]: /);
  expect(kept).toBe(
    `{"account_id":${BIG},"from":"/feed/records","text":${JSON.stringify(bad.map(([text]) => text).join('\n'))}}`,
  );
  expect(() => recordFrom({ ...JSON.parse(kept), account_id: 1 }, NOW)).toThrow(/^is no record/);
});

it('lines that are no JSON are refused by themselves', async () => {
  const good = JSON.stringify(alert);
  const { data, sent } = await sendBody(
    [good, '{"kind":"alert', good, '[', '{'.repeat(900), `"${good}`].join('\n'),
    NDJSON,
  );
  expect(data).toMatchObject({ accepted: 2, refused_count: 4 });
  expect(data.refused[0]).toEqual({ index: 1, reason: 'must be valid JSON: it has a syntax error at column 15' });
  expect(sent).toHaveLength(2);
});

it.each<[what: string, records: unknown[], problem: RegExp]>([
  ['the account as a text', [{ ...alert, account_id: String(BIG) }], /account_id/],
  [
    'a kind that gives access',
    [{ kind: 'account', name: 'n', permissions: ['feed'] }],
    /^records\[0\]: kind must be one of/,
  ],
  ['a fraction that a double rounds', [{ ...workItem, x: 'raw 4503599627370497.5' }], /x must not/],
  ['a clock that is ahead', [{ ...alert, at_ms: NOW * 2 }], /at_ms/],
  [
    'the envelope of SNS',
    [{ Type: 'Notification', MessageId: 'm', TopicArn: 'arn:aws:sns:eu-west-1:1:t', Message: '{}' }],
    /SNS.*raw message delivery/,
  ],
  [
    '13 records: the first ten are named',
    Array(13).fill({ kind: 'alert' }),
    /^(?!.*\[10\]).*\[9\].*and 3 more\. Nothing/,
  ],
])('a call of which nothing can be taken is InvalidParameter, and kept: %s', async (_what, records, problem) =>
  expect(await send(records)).toMatchObject({
    ...{ status: 400, code: 'InvalidParameter', sent: [], refused: [{ group: `${BIG}` }] },
    deps: { metrics: { recordCounts: [{ refused: records.length }] } },
    message: expect.stringMatching(problem),
  }),
);

const ITEMS = /^records must be an array of 1 to 1000 items, each a JSON object\.$/;
it.each<[what: string, body: string, message: RegExp, headers?: typeof NDJSON]>([
  ['too many lines', '{}\n'.repeat(1_001), ITEMS, NDJSON],
  ['no record', '[ ]', ITEMS],
  ['no line', '\n \n', ITEMS, NDJSON],
  ['an object in place of records', '{"records":{"0":1}}', ITEMS],
  ['a text', '"records"', /must be a JSON object/],
  ['a syntax error', `{"records":[${JSON.stringify(alert)},]}`, /syntax error at line 1, column 66/],
  ['a byte order mark', '\ufeff[]', /byte order mark/],
  ['more than 1,000 levels', `[${'['.repeat(1_000)}${']'.repeat(1_000)}]`, /1000 levels/],
  ['more values than a body may have', `[${Array(10_000).fill('0')}]\n`.repeat(10), /100000 values/, NDJSON],
])('a body that is refused as a whole leaves nothing: %s', async (_what, body, message, headers) => {
  const refusal = { code: 'InvalidParameter', message: expect.stringMatching(message) };
  expect(await sendBody(body, headers)).toMatchObject({ ...refusal, sent: [], refused: [] });
});

it('reasons are in the language of the caller, and what is kept has them in English', async () => {
  const body = JSON.stringify({ records: [alert, { kind: 'alert', alert_key: 's' }] });
  for (const [language, reason] of [
    ['de', 'title fehlt: erwartet wird eine Zeichenkette mit 1 bis 512 Zeichen'],
    ['zh-CN', 'title 为必填项，必须是 1 到 512 个字符的字符串'],
  ] as const) {
    const { data, refused } = await sendBody(body, { 'Accept-Language': language });
    expect(data.refused).toEqual([{ index: 1, reason }]);
    expect(refused[0]?.reason).toBe('records[1]: title is required and must be a string of 1 to 512 characters');
  }
  const { message } = await sendBody('[7]', { 'Accept-Language': 'de' });
  expect(message).toBe('records[0]: muss ein JSON-Objekt sein. Von dieser Anfrage wurde nichts übernommen.');
});

it('a record has at most 8,192 bytes as it is queued, account and time not counted, and the queue agrees', async () => {
  const textOf = (bytes: number, unit: string, more = '') => {
    const [start, end] = ['{"kind":"work_item","work_item_id":"w","version":1,"title":"t","x":"', '"}'];
    const left = bytes - Buffer.byteLength(start + end);
    const size = Buffer.byteLength(unit === '\uffff' ? '\\uffff' : unit); // SQS refuses that character: it is queued as an escape
    return start.replace('{', `{${more}`) + unit.repeat(left / size) + ' '.repeat(left % size) + end;
  };
  await put(table, keys.account(account), { account_id: account });
  for (const unit of ['x', 'é', '😀', '\\u0041', '\uffff'])
    for (const more of ['', `"account_id":${BIG},`, `"account_id":${BIG},"at_ms":${NOW},`]) {
      const { data, sent } = await sendBody(`[${textOf(8_192, unit, more)}, ${textOf(8_193, unit, more)}]`);
      const reason = 'must be at most 8192 bytes: it has 8193';
      expect(data).toEqual({ accepted: 1, refused: [{ index: 1, reason }], refused_count: 1 });
      const ingest = ingestOver(table, () => NOW);
      await ingest.deliver([sent.join('\n')]);
      expect([ingest.refused, ingest.counts()]).toMatchObject([[], { records: 1 }]);
    }
  // What is kept of a large call is read as such, although no record may be so large.
  const { message, refused } = await sendBody(`[${textOf(70_000, 'é')}]`);
  expect(message).toMatch(/^records\[0\]: must be at most 8192 bytes: it has 70000\./);
  expect(refused[0]?.body.length).toBeGreaterThan(8_192);
  expect(() => recordFrom(JSON.parse(`${refused[0]?.body}`), NOW)).toThrow(/^is no record/);
});

it('what is taken is not refused by the queue, whose clock may be up to a minute behind', async () => {
  const status = { kind: 'host_status', host_id: 'h', health_at_ms: NOW };
  for (const record of [
    { ...alert, at_ms: NOW + 240_001 },
    { ...status, health_at_ms: NOW + 240_001 },
  ]) {
    expect((await send([record])).message).toMatch(/ is 240001 ms after the record was sent: set the clock /);
  }
  const { sent } = await send([
    { ...alert, at_ms: NOW + 240_000 },
    { ...status, health_at_ms: NOW + 240_000 },
  ]);
  const ingest = ingestOver(table, () => NOW - 60_000);
  await put(table, keys.account(account), { account_id: account });
  await ingest.deliver([sent.join('\n')]);
  expect([ingest.refused, ingest.counts()]).toMatchObject([[], { records: 2 }]);
});

it.each<keyof IngestQueue>(['send', 'refuse'])(
  'a queue whose %s fails makes the call 503 with Retry-After',
  async (failing) =>
    expect(await send([alert, 5], failing)).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } }),
);
