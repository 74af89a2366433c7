/** Whatever else a call has, each of its items is taken or refused as if it came alone; what is taken goes on as it came. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { IngestQueue } from '../../../lib/ingest/queues.ts';
import { recordOf } from '../../../lib/ingest/records.ts';
import type { ListedOperation } from '../../../lib/operations/index.ts';
import { sendNotification } from '../../../lib/operations/send-notification/schema.ts';
import { sendRecords } from '../../../lib/operations/send-records/schema.ts';
import { newCaller } from '../../support/accounts.ts';
import { callAlone, createHandlers, type EventOptions, NOW, newDouble, testDeps } from '../../support/service.ts';

const table = newDouble();
const { account, appKey } = await newCaller(table);
const clock = { now: NOW };
const sent: string[] = [];
const kept: string[][] = [];
const ingestQueue: IngestQueue = {
  send: async (lines) => void sent.push(...lines),
  refuse: async ({ texts }) => void kept.push([...texts]),
};
const handlers = createHandlers(testDeps(table, { now: () => clock.now }), { ingestQueue });

const ID = '23a5a8cc741f9d42df78f93f';
const RECORDS = [
  { kind: 'alert', alert_id: ID, title: 't', at_ms: NOW, incident_id: ID },
  { kind: 'alert', account_id: account, alert_key: 's', title: 'a\n"\\ ', labels: { a: ']},{' } },
  { kind: 'host', host_id: 'h', retired: true },
  { kind: 'work_item', work_item_id: 'w', version: 1, title: 't', x: { y: [1, { z: [] }] } },
  { kind: 'member', member_id: 1, name: '\ufffe😀' },
].flatMap((record) => [JSON.stringify(record), JSON.stringify(record, undefined, '\t')]);
const NUMBERS =
  '{"kind":"work_item","version":1.0e0,"work_item_id":"w","title":"\\u0041","x":[1e18,-0,1.50,9007199254740993]}';
const BAD = [
  ...['null', '7', '"\\ud800"', '"x"', '[]', '[{"kind":"host"}]', '{}', '{"kind":"alert","__proto__":{},"title":"t"}'],
  ...['{"kind":"alert","alert_key":"s","title":"\\ud800"}', '{"kind":"member","member_id":1,"name":"n","x":1}'],
  ...[
    `{"kind":"member","account_id":${BigInt(account) + 1n},"member_id":1,"name":"n"}`,
    '{"kind":"account","name":"n"}',
  ],
  // `JSON.parse` alone would read these otherwise.
  ...['0.99999999999999999999', '1e400'].map(
    (version) => `{"kind":"work_item","work_item_id":"w","version":${version},"title":"t"}`,
  ),
  '{"kind":"work_item","work_item_id":"w","version":1,"title":"t","\\u005f_proto__":1}',
  `{"kind":"work_item","work_item_id":"w","version":1,"title":"${'x'.repeat(8_192)}"}`,
  `{"kind":"work_item","work_item_id":"w","version":1,"title":"t","x":${'['.repeat(40)}${']'.repeat(40)}}`,
];
const ALERT = { startsAt: '2026-11-20T08:30:00Z', labels: { alertname: 'A', x: 'y' }, fingerprint: 'f' };
const ALERTS = [
  ...[ALERT, { ...ALERT, status: 'resolved', endsAt: '2026-11-20T08:31:00Z' }, { ...ALERT, labels: { a: '\ud800' } }],
  ...[null, 7, '\ud800', [], {}, { ...ALERT, labels: { a: [] } }, { ...ALERT, startsAt: '2026-02-30T00:00:00Z' }],
].map((alert) => JSON.stringify(alert));

/** What becomes of a call: its lines, and what is told. Both without the time of the call. */
async function outcomeOf(operation: ListedOperation, options: EventOptions) {
  clock.now += 60_000; // another window of the account's budget
  const { status, body } = await callAlone(handlers, operation, { appKey, ...options });
  const lines = sent.splice(0);
  for (const line of lines)
    expect(recordOf(line, { sentMs: clock.now, messageId: 'm', line: 1 })).toHaveProperty('record');
  const { data, error: { code: _code, message, ...details } = {} } = body;
  return {
    status,
    lines: lines.map((line) => line.replace(`"at_ms":${clock.now},`, '')),
    told: { data, message, details },
    kept: kept.splice(0),
  };
}

interface Alone {
  text: string;
  /** What goes on, if it is taken. */
  line?: string;
  /** Why it is not. */
  reason?: string;
}

const END = '. Nothing of this request was taken.';

/** Each item in a call of its own. */
async function aloneEach(operation: ListedOperation, list: string, texts: readonly string[]): Promise<Alone[]> {
  const found: Alone[] = [];
  for (const text of texts) {
    const { lines, told } = await outcomeOf(operation, { rawBody: `{"${list}":[${text}]}` });
    const [line] = lines;
    found.push(
      line === undefined ? { text, reason: told.message.slice(`${list}[0]: `.length, -END.length) } : { text, line },
    );
  }
  return found;
}

/** What a call of several items must do: the same with each. */
function together(list: string, items: readonly Alone[]) {
  const lines = items.flatMap(({ line }) => line ?? []);
  const bad = items.flatMap(({ reason }, index) => (reason === undefined ? [] : [{ index, reason }]));
  const [named, more] = [bad.slice(0, 10), Math.max(0, bad.length - 10)];
  const reasons = named.map(({ index, reason }) => `${list}[${index}]: ${reason}`).join('; ');
  const refused = bad.length > 0 && { refused: named, refused_count: bad.length };
  return {
    ...{ status: lines.length > 0 ? 200 : 400, lines },
    told:
      lines.length > 0
        ? { data: { accepted: lines.length, ...refused }, message: undefined, details: {} }
        : { data: undefined, message: `${reasons}${more > 0 ? `; and ${more} more` : ''}${END}`, details: refused },
  };
}

const blanks = fc.constantFrom('', ' ', '\n', '\r\n\t');
/** Bodies that have the same records. */
const FORMS: Readonly<Record<string, (texts: readonly string[], blank: string) => EventOptions>> = {
  records: (texts, blank) => ({ rawBody: `{${blank}"records"${blank}:[${texts.join(`${blank},${blank}`)}${blank}]}` }),
  'the last member of the name': (texts, blank) => ({
    rawBody: `{"x":[{"records":[1]}],"records":[7],"rec\\u006frds":[${texts}],"y":{"records":[]}${blank}}`,
  }),
  'an array': (texts, blank) => ({ rawBody: `${blank}[${blank}${texts.join(`${blank},`)}]${blank}` }),
  lines: (texts, blank) => ({
    rawBody: texts.map((text) => `${blank}${text.replaceAll('\n', ' ')}\r`).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  }),
};
const zipped = ({ rawBody, headers }: EventOptions): EventOptions => ({
  rawBody: gzipSync(String(rawBody)),
  headers: { ...headers, 'Content-Encoding': 'gzip' },
});

it('each record is taken or refused as if it were alone, whatever the form of the body, and goes on as it came', async () => {
  const alone = await aloneEach(sendRecords, 'records', [...RECORDS, NUMBERS, ...BAD]);
  const asItCame = (text: string) => text.replaceAll('\n', ' ').replaceAll('\ufffe', '\\ufffe').slice(1);
  for (const [index, { text, line }] of alone.entries())
    if (index <= RECORDS.length) expect(line?.endsWith(asItCame(text))).toBe(true);
    else expect(line).toBeUndefined();
  const cases = fc.record({
    items: fc.array(fc.constantFrom(...alone), { minLength: 1, maxLength: 15 }),
    form: fc.constantFrom(...Object.values(FORMS)),
    blank: blanks,
    isZipped: fc.boolean(),
  });
  const property = fc.asyncProperty(cases, async ({ items, form, blank, isZipped }) => {
    const body = form(
      items.map(({ text }) => text),
      blank,
    );
    const { kept, ...outcome } = await outcomeOf(sendRecords, isZipped ? zipped(body) : body);
    expect(outcome).toEqual(together('records', items));
    const refused = items.flatMap(({ text, reason }) => (reason === undefined ? [] : [text]));
    if (form !== FORMS.lines) expect(kept).toEqual(refused.length > 0 ? [refused] : []);
  });
  await fc.assert(property, { numRuns: 300 });
});

it('each alert is taken or refused as if it were alone', async () => {
  const alone = await aloneEach(sendNotification, 'alerts', ALERTS);
  expect(alone.map(({ reason }) => reason === undefined)).toEqual([true, true, true, ...Array(7).fill(false)]);
  const items = fc.array(fc.constantFrom(...alone), { minLength: 1, maxLength: 15 });
  const property = fc.asyncProperty(items, async (items) => {
    const { kept, ...outcome } = await outcomeOf(sendNotification, {
      rawBody: `{"alerts":[${items.map(({ text }) => text)}]}`,
    });
    expect(outcome).toEqual(together('alerts', items));
    expect(kept.length).toBe(items.some(({ reason }) => reason !== undefined) ? 1 : 0);
  });
  await fc.assert(property, { numRuns: 150 });
});
