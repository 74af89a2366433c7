/** What may stand anywhere in a body, and shapes of bodies that would cost much. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BODY_BOUNDS } from '../../../lib/http/body.ts';
import { MAX_LINE_BYTES } from '../../../lib/ingest/limits.ts';
import { recordOf } from '../../../lib/ingest/records.ts';
import { type ListedOperation, type OperationName, operations } from '../../../lib/operations/index.ts';
import { newCaller } from '../../support/accounts.ts';
import { anyText } from '../../support/chance.ts';
import { keepingQueue } from '../../support/ingest.ts';
import { callAlone, createHandlers, NOW, newDouble, testDeps } from '../../support/service.ts';

/** Characters of the largest answer: ten problems of each of ten records, each of 200. */
const MAX_ANSWER = 25_000;

const table = newDouble();
const { account, appKey } = await newCaller(table);
const clock = { now: NOW };
const { sent, refused, ingestQueue } = keepingQueue();
const handlers = createHandlers(testDeps(table, { now: () => clock.now }), { ingestQueue });

/** Sends a body, and checks what must hold whatever it is. @returns the code of the answer */
async function expectAnswered(
  operation: ListedOperation,
  rawBody: string,
  headers: Record<string, string> = {},
): Promise<string> {
  clock.now += 60_000; // another window of the account's limits
  const answer = await callAlone(handlers, operation, { appKey, rawBody, headers });
  const code = answer.body.error?.code ?? 'OK';
  expect([200, 400, 413], answer.text).toContain(answer.status);
  expect(['OK', 'InvalidParameter', 'ResourceNotFound', 'EntityTooLarge']).toContain(code);
  expect(answer.text.length).toBeLessThan(MAX_ANSWER);
  const lines = sent.splice(0);
  // The feed takes each line as a record of the key's account.
  for (const line of lines) {
    const taken = recordOf(line, { sentMs: clock.now, messageId: 'm', line: 1 });
    expect(taken).toMatchObject({ record: { sent: { account_id: account } } });
  }
  const messages = refused.splice(0);
  expect(messages.length).toBeLessThanOrEqual(1);
  for (const { body, group } of messages) {
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_LINE_BYTES);
    const { text, ...wrapping } = JSON.parse(body);
    expect([wrapping, group]).toEqual([{ account_id: account, from: operation.path }, String(account)]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(Buffer.byteLength(rawBody));
  }
  return code;
}

/** Each type of JSON, and what code may take for a text, a list, a number or an own property. */
const ODD_JSON = [
  ...['null', 'true', '0', '-0', '1.5', '1e18', '1e400', '-1e-400', '4503599627370497.5', '9007199254740993', '1e99'],
  ...['""', '" "', '"\\ud800"', '"\ufffe"', '"\\u0000"', '[]', '[[]]', '{}', '{"":0}', '"2026-11-20T08:30:00Z"'],
  ...['{"toString":1}', '{"valueOf":{},"toString":null}', '{"toJSON":1}', '{"length":2}', '{"constructor":1}'],
  ...['{"__proto__":{"a":1}}', '{"\\u005f_proto__":null}', '{"then":1}', '{"kind":"host","account_id":2}'],
];
const anyJson = fc.oneof(
  fc.json(),
  anyText.map((text) => JSON.stringify(text)),
  fc.constantFrom(...ODD_JSON),
);

const ALERT = {
  status: 'firing',
  labels: { alertname: 'DiskFull', instance: 'db-7' },
  annotations: { summary: 'Disk 7 is full', description: 'No space left' },
  startsAt: '2026-11-20T08:30:00.125Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://a',
  fingerprint: '9a1c0f3f6ed1c1a4',
};
const NOTIFICATION = { version: '4', truncatedAlerts: 0, status: 'firing', alerts: [ALERT, ALERT] };
const ID = '23a5a8cc741f9d42df78f93f';
const RECORDS = {
  records: [
    { kind: 'alert', account_id: account, alert_id: ID, title: 't', at_ms: NOW, incident_id: ID, incident_at_ms: NOW },
    { kind: 'alert', alert_key: 's', title: 't' },
    { kind: 'incident', incident_id: ID, title: 't', owner_id: 1 },
    { kind: 'member', member_id: 1, name: 'n' },
    { kind: 'host', host_id: 'h', agent_version: 'v', edge_cluster: 'c', enabled: true, snapshot_ready: true },
    { kind: 'host', host_id: 'h', retired: true },
    { kind: 'host_status', host_id: 'h', observed_at_ms: NOW, node_count: 1, reason_codes: ['a'] },
    {
      kind: 'work_item',
      work_item_id: 'w',
      version: 1,
      title: 't',
      deleted_at_ms: NOW,
      deleted_by: 'b',
      x: { y: [1] },
    },
    { kind: 'work_item', work_item_id: 'v', version: 1, title: 't', undone_deletion: { version: 1, at_ms: NOW } },
    // No record, which the feed looks at to say what it is.
    { from: 'f', TopicArn: 't' },
  ],
};

/** Valid bodies with all fields; of other operations it is that of their example. */
const BODIES: Partial<Record<OperationName, object>> = {
  'send-notification': NOTIFICATION,
  'send-records': RECORDS,
  'browse-fleet': {
    ...{ cursor: '', limit: 5, scan_limit: 9, statuses: ['stale'], agent_versions: ['a', 'b'] },
    ...{ edge_clusters: ['c'], capture_modes: ['ebpf', 'unknown'] },
  },
  'get-rum-resource': { no_cache: true },
  'merge-alerts': { alert_ids: [ID, ID], incident_id: ID, comment: 'c', title: 't', owner_id: 1 },
  'list-alerts': {
    ...{ limit: 1, search_after_ctx: '', asc: true, is_active: true, alert_severity: 'Critical' },
    alert_keys: ['k', 'l'],
  },
};

type Path = readonly string[];
const placesIn = (value: unknown, path: Path = []): Path[] => [
  path,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))
    : []),
];

/** JSON in which the text of each place that is given replaces what is there. */
function jsonOf(value: unknown, texts: ReadonlyMap<string, string>, path: Path = []): string {
  const text = texts.get(path.join());
  if (text !== undefined) return text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => [name, jsonOf(member, texts, [...path, name])]);
  return Array.isArray(value)
    ? `[${members.map(([, member]) => member)}]`
    : `{${members.map(([name, member]) => `${JSON.stringify(name)}:${member}`)}}`;
}

it.each(operations.map((operation) => [operation.path, operation] as const))(
  'whatever JSON stands anywhere in a body for %s, the answer is 200 or says what is wrong',
  async (_path, operation) => {
    const valid = BODIES[operation.name] ?? operation.example.request;
    const codes = new Set([await expectAnswered(operation, JSON.stringify(valid))]);
    expect([...codes][0]).toMatch(/^(OK|ResourceNotFound)$/);
    for (const place of placesIn(valid))
      for (const text of ODD_JSON)
        codes.add(await expectAnswered(operation, jsonOf(valid, new Map([[place.join(), text]]))));
    const replaced = fc.array(fc.tuple(fc.constantFrom(...placesIn(valid)), anyJson), { minLength: 2, maxLength: 3 });
    const property = fc.asyncProperty(replaced, async (replacements) => {
      const texts = new Map(replacements.map(([place, text]) => [place.join(), text]));
      codes.add(await expectAnswered(operation, jsonOf(valid, texts)));
    });
    await fc.assert(property, { numRuns: 150 });
    expect(codes).toContain('InvalidParameter');
  },
);

/** Where a bomb stands. */
const PLACES: readonly ((bomb: string) => string)[] = [
  (bomb) => bomb,
  (bomb) => `{"x":${bomb}}`,
  (bomb) => `{"alerts":${bomb},"records":${bomb}}`,
  (bomb) => `{"alerts":[${bomb}],"records":[${bomb}]}`,
  (bomb) => `{"alerts":[{"startsAt":"2026-11-20T08:30:00Z","labels":{"a":${bomb}},"annotations":{"summary":${bomb}}}]}`,
  (bomb) => `{"alerts":[{"startsAt":"2026-11-20T08:30:00Z","labels":${bomb},"annotations":${bomb},"fingerprint":"f"}]}`,
  (bomb) => `{"records":[{"kind":"work_item","work_item_id":"w","version":1,"title":"t","x":${bomb}}]}`,
  (bomb) =>
    `{"records":[{"kind":"alert","alert_key":"s","title":"t",${bomb.startsWith('{') ? bomb.slice(1, -1) : `"x":${bomb}`}}]}`,
];
const unit = fc.constantFrom(
  ...['0', '""', '{}', '[]', '1e18', '4503599627370497.5', '"\\ud800"', '"\\u0001"', '{"":0}', '{"__proto__":0}'],
  ...[JSON.stringify(ALERT), '{"kind":"alert"}', '{"kind":"host","account_id":2,"host_id":"h","retired":true}'],
);
const length = fc.constantFrom(1, 10, 1_000, 1_001, 25_000, 25_001, BODY_BOUNDS.values, 300_000);
const nested = fc.record({
  open: fc.constantFrom('[', '{"a":'),
  levels: fc.constantFrom(31, 32, 500, 980, 1_000, 1_200),
  inner: unit,
});
const bomb = fc.oneof(
  fc
    .record({ unit, length })
    .map(({ unit, length }) => `[${Array(Math.min(length, Math.floor(2 ** 20 / unit.length))).fill(unit)}]`),
  fc.record({ unit, length }).map(({ unit, length }) => {
    const count = Math.min(length, 2 ** 19 / (unit.length + 10));
    return `{${Array.from({ length: count }, (_, index) => `"${index.toString(36)}":${unit}`)}}`;
  }),
  nested.map(({ open, levels, inner }) => open.repeat(levels) + inner + (open === '[' ? ']' : '}').repeat(levels)),
  fc
    .constantFrom('x', '\\u0001', '\\ud800', '\ufffe', '😀', '"\\"')
    .chain((text) => length.map((count) => JSON.stringify(text.repeat(count)))),
  length.map((count) => `1${'0'.repeat(count)}e-${count}`),
  length.map((count) => '['.repeat(count)),
);

it('bodies of any shape are answered in a few words, and what is kept of them is no more than came', async () => {
  const codes = new Set<string>();
  const operation = fc.constantFrom(...operations);
  const cases = fc.record({ operation, place: fc.constantFrom(...PLACES), bomb, isLines: fc.boolean() });
  const property = fc.asyncProperty(cases, async ({ operation, place, bomb, isLines }) => {
    const type = isLines && operation.name === 'send-records' ? 'application/x-ndjson' : 'application/json';
    codes.add(await expectAnswered(operation, place(bomb), { 'Content-Type': type }));
  });
  await fc.assert(property, { numRuns: 150 });
  expect([...codes].sort()).toEqual(['EntityTooLarge', 'InvalidParameter', 'OK', 'ResourceNotFound']);
});
