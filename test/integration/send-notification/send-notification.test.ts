import { expect, it } from 'vitest';
import { messageText } from '../../../lib/aws/sqs.ts';
import { MAX_LINE_BYTES } from '../../../lib/ingest/limits.ts';
import { MAX_RECORDS, messagesOf } from '../../../lib/ingest/queues.ts';
import { sendNotification } from '../../../lib/operations/send-notification/schema.ts';
import type { Settings } from '../../../lib/shared/settings.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller } from '../../support/accounts.ts';
import { ingestOver, keepingQueue, recordFrom } from '../../support/ingest.ts';
import { createHandlers, eventFor, invokeAlone, NOW, newDouble, put, stored, testDeps } from '../../support/service.ts';

const table = newDouble();
const { account, appKey } = await newCaller(table);
/** An alert as Alertmanager sends it since 0.16. */
const ALERT = {
  status: 'firing',
  labels: { alertname: 'DiskFull', instance: 'db-7' },
  annotations: { summary: 'Disk 7 is full', description: 'Disk 7 has no space left' },
  startsAt: '2025-06-15T14:30:00.123456789Z',
  fingerprint: '9a1c0f3f6ed1c1a4',
};

/** Each call is of another window of the account's budget. */
let windows = 0;

/** Sends a notification to queues that keep their lines. The call arrives 1.5 s before its function starts. */
async function notify(
  body: object | string,
  {
    headers = {},
    source,
    settings = {},
  }: {
    headers?: Record<string, string>;
    source?: string | string[];
    settings?: Partial<Settings>;
  } = {},
) {
  const { sent, refused, ingestQueue } = keepingQueue();
  const startedMs = NOW + 1_500 + 60_000 * windows++;
  const deps = testDeps(table, { now: () => startedMs, settings });
  const rawBody = typeof body === 'string' ? body : JSON.stringify(body);
  const event = eventFor(sendNotification, { appKey, rawBody, headers });
  event.requestContext.requestTimeEpoch = NOW;
  const sources = [source ?? []].flat();
  if (sources.length > 0) {
    Object.assign(event.queryStringParameters ?? {}, { source: sources.at(-1) });
    Object.assign(event.multiValueQueryStringParameters ?? {}, { source: sources });
  }
  const answer = await invokeAlone(createHandlers(deps, { ingestQueue }).sendNotification, event);
  const records = sent.map((line) => JSON.parse(line));
  for (const record of records.slice(0, 10)) recordFrom(record, NOW); // throws if the feed would refuse it
  return { answer, refused, log: deps.log, records, counts: deps.metrics.recordCounts };
}

/** The record of an alert with these fields in place of those of {@link ALERT}. */
const recordOf = async (fields: object, options: Parameters<typeof notify>[1] = {}) =>
  (await notify({ alerts: [{ ...ALERT, ...fields }] }, options)).records[0];

it('an alert becomes a record of the account and the time of arrival, with all that it says', async () => {
  const urls = { runbook_url: 'https://wiki/disk', dashboard_url: 'https://grafana/d/7' };
  const alert = {
    ...{ ...ALERT, annotations: { ...ALERT.annotations, ...urls, step: 7, none: null } },
    ...{ endsAt: '0001-01-01T00:00:00Z', generatorURL: 'HTTPS://prometheus/graph?g0.expr=x' },
  };
  const { answer, records, counts } = await notify({ version: '4', alerts: [alert], truncatedAlerts: 0 });
  expect([answer.status, answer.body.data, counts]).toEqual([200, { accepted: 1 }, []]);
  const content = { title: 'Disk 7 is full', description: 'Disk 7 has no space left', labels: ALERT.labels };
  expect(records).toEqual([
    {
      ...{ kind: 'alert', account_id: account, at_ms: NOW, alert_key: 'alertmanager 9a1c0f3f6ed1c1a4' },
      ...{ alert_status: 'Warning', ...content, source_url: alert.generatorURL, silent_after_s: 86_400 },
      ...{ annotations: { ...urls, step: '7' }, started_at_ms: Date.parse('2025-06-15T14:30:00.123Z') },
    },
  ]);
});

it('an alert has the same key over all notifications, whatever its start, with or without fingerprint', async () => {
  const keyOf = async (fields: object) => (await recordOf(fields)).alert_key;
  const key = await keyOf({});
  expect(await keyOf({ status: 'resolved', annotations: { summary: 'Now 99 %' } })).toBe(key);
  expect(await keyOf({ startsAt: '2025-06-15T20:00:00.123+05:30' })).toBe(key);
  const byLabels = await keyOf({ fingerprint: undefined });
  const reversed = Object.fromEntries(Object.entries(ALERT.labels).reverse());
  expect(await keyOf({ fingerprint: '', labels: reversed })).toBe(byLabels);
  const others = [
    { fingerprint: '', labels: { alertname: 'DiskFull' } },
    ...['f'.repeat(2_000), `${'f'.repeat(1_999)}g`].map((fingerprint) => ({ fingerprint })),
  ];
  expect(new Set([key, byLabels, ...(await Promise.all(others.map(keyOf)))]).size).toBe(5);
});

it('the source of a notification begins its keys, so that two senders share none', async () => {
  const keyOf = async (fields: object, source?: string) => (await recordOf(fields, source ? { source } : {})).alert_key;
  expect(await keyOf({}, 'eu-1.prod_A')).toBe('alertmanager eu-1.prod_A 9a1c0f3f6ed1c1a4');
  expect(await keyOf({ fingerprint: '', labels: { a: 'b c' } }, 'eu')).toBe('alertmanager eu [["a","b c"]]');
  const fields = [{}, { fingerprint: 'b 9a1c0f3f6ed1c1a4' }, { fingerprint: '' }, { fingerprint: 'f'.repeat(2_000) }];
  const all = fields.flatMap((each) => ['a', 'b', 'a'.repeat(64), undefined].map((source) => keyOf(each, source)));
  const keys = await Promise.all(all);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(key).toMatch(/^alertmanager ([ab]+ )?(\S+|\[.*\])$/);
});

it('a source that is no name, empty or given twice is InvalidParameter, and nothing is sent', async () => {
  for (const source of ['', 'a b', 'é', 'a/b', 'a'.repeat(65), ['a', 'a']]) {
    const { answer, records, refused } = await notify({ alerts: [ALERT] }, { source });
    const message =
      'The query parameter source must be given once, as 1 to 64 letters, digits, dots, underscores or hyphens.';
    expect([answer.status, answer.body.error]).toEqual([400, { code: 'InvalidParameter', message }]);
    expect([records, refused]).toEqual([[], []]);
  }
});

it.each([
  ['Critical', ['critical', 'Page', 'error', 'fatal', 'EMERGENCY', 'high', 'disaster', 'P1', 'sev1']],
  ['Info', ['info', 'informational', 'none', 'low', 'debug', 'P4', 'p5', 'sev4', 'SEV5']],
  ['Warning', ['warning', 'average', 'p2', 'p3', 'sev2', 'constructor', 'critical ', '', 1, null, undefined]],
])('an alert is %s by any of the severities %j, while it is open', async (alert_status, severities) => {
  for (const severity of severities) {
    const labels = { ...ALERT.labels, severity };
    expect(await recordOf({ labels }), String(severity)).toMatchObject({ alert_status });
    expect(await recordOf({ labels, status: 'resolved' })).toMatchObject({ alert_status: 'Ok' });
  }
});

it('a status may have capitals, and is firing if it is absent or empty; another makes the alert unreadable', async () => {
  for (const status of ['Firing', 'FIRING', '', undefined])
    expect(await recordOf({ status })).toMatchObject({ alert_status: 'Warning', silent_after_s: 86_400 });
  for (const status of ['Resolved', 'RESOLVED']) {
    const record = await recordOf({ status });
    expect(record).toMatchObject({ alert_status: 'Ok' });
    expect(record).not.toHaveProperty('silent_after_s');
  }
  const others = ['ok', 'normal', 'inactive', 'none', '0', ' resolved', 0, false, null, ['resolved']];
  const { answer } = await notify({ alerts: others.map((status) => ({ ...ALERT, status })) });
  const reasons = others.map((_status, index) => `alerts[${index}]: status must be one of firing, resolved`);
  expect(answer.body.error.message).toBe(`${reasons.join('; ')}. Nothing of this request was taken.`);
});

it('the setting alertSilenceSeconds is after how long an alert ends by itself, with 0 never', async () => {
  const silentAfter = (alertSilenceSeconds: number) => recordOf({}, { settings: { alertSilenceSeconds } });
  expect(await silentAfter(60)).toHaveProperty('silent_after_s', 60);
  expect(await silentAfter(0)).not.toHaveProperty('silent_after_s');
});

it('a start or end of a resolved alert is that of the sender, if the feed takes it', async () => {
  const ended = { status: 'resolved', endsAt: '2025-06-15T14:31:00Z' };
  const [started_at_ms, ended_at_ms] = [Date.parse('2025-06-15T14:30:00.123Z'), Date.parse(ended.endsAt)];
  expect(await recordOf(ended)).toMatchObject({ started_at_ms, ended_at_ms });
  for (const endsAt of ['0001-01-01T00:00:00Z', new Date(NOW + 1).toISOString(), '2025-02-30T00:00:00Z', 7, undefined])
    expect(await recordOf({ ...ended, endsAt })).not.toHaveProperty('ended_at_ms');
  for (const startsAt of ['0001-01-01T00:00:00Z', new Date(NOW + 600_000).toISOString()])
    expect(await recordOf({ startsAt })).not.toHaveProperty('started_at_ms');
  const unreadable = ['2025-02-30T00:00:00Z', '2025-13-31T00:00:00Z', '2025-06-15T24:00:00Z', '2025-06-15T14:30:00'];
  for (const startsAt of [...unreadable, 1_750_000_000])
    expect((await notify({ alerts: [{ ...ALERT, startsAt }, ALERT] })).answer.body.data).toMatchObject({ accepted: 1 });
});

it('what is too long or too much is cut or left out, and the feed takes the rest', async () => {
  const long = (length: number) => '\ufffe😀'.repeat(length / 2);
  const labels = {
    ...{ '': 'x', ['__proto__']: 'x', ['n'.repeat(129)]: 'x', hot: 'Hot \ud83d' },
    ...Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`${long(100)}${index + 10}`, long(2_000)])),
  };
  const alert = { ...ALERT, labels, annotations: { summary: long(600), description: 'd'.repeat(5_000) } };
  for (const generatorURL of ['javascript:alert(1)', 'https://a b', `https://${'a'.repeat(2_041)}`, 7]) {
    const record = await recordOf({ ...alert, generatorURL });
    expect(record).not.toHaveProperty('source_url');
    expect([[...record.title].length, [...record.description].length]).toEqual([512, 4_096]);
    expect(Object.keys(record.labels).length).toBeLessThan(10);
    expect(record.labels).toMatchObject({ hot: 'Hot \ufffd' });
    for (const name of ['', 'n'.repeat(129)]) expect(name in record.labels).toBe(false);
  }
  const many = (text: string) => Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`l${index + 10}`, text]));
  const { labels: short, annotations } = await recordOf({ labels: many('x'), annotations: many('y'.repeat(70)) });
  expect([Object.keys(short), Object.keys(annotations)]).toEqual([
    Object.keys(many('x')).slice(0, 64),
    Object.keys(many('x')).slice(0, 32),
  ]);
  const few = (await recordOf({ labels: { ...many('x'.repeat(1_030)), l10: 'x' } })).labels;
  expect(Object.keys(few)).toEqual(Object.keys(many('')).slice(0, Object.keys(few).length));
  expect(few.l11).toHaveLength(1_024);
  expect((await recordOf({ annotations: { a: 'x'.repeat(2_050) } })).annotations.a).toHaveLength(2_048);
});

it('a record has at most 8,192 bytes: annotations are cut first, then labels, the description and the address', async () => {
  const [hostile, url] = ['\u0001\ufffe"\u{1f525}\ud800', `https://a/${'"'.repeat(2_000)}`];
  const noted = { summary: 's', runbook_url: 'https://a', more: 'm'.repeat(2_000) };
  /** The sizes of what can be cut, in the order in which it is. */
  const sizesOf = async (fields: { annotations?: object; labels?: object; [field: string]: unknown }) => {
    const alert = { ...fields, annotations: { ...noted, ...fields.annotations } };
    const { account_id, at_ms, ...record } = await recordOf(alert);
    expect(Buffer.byteLength(messageText(record))).toBeLessThanOrEqual(8_192);
    const { annotations = {}, labels, description = '', source_url = '' } = record;
    return [Object.keys(annotations).length, Object.keys(labels).length, description.length, source_url.length];
  };
  const labels = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`l${index}`, 'x'.repeat(700)]));
  expect(await sizesOf({ labels: {}, generatorURL: url })).toEqual([2, 0, 0, 2_010]);
  expect(await sizesOf({ labels })).toEqual([1, 10, 0, 0]);
  const description = 'd'.repeat(4_000);
  expect(await sizesOf({ labels, annotations: { description } })).toEqual([1, 5, 4_000, 0]);
  expect(await sizesOf({ labels, annotations: { description }, generatorURL: url })).toEqual([0, 0, 3_970, 2_010]);
  const text = hostile.repeat(1_000);
  const most = { summary: text, description: text, [text]: text, a: text };
  const [none, , cut = 0] = await sizesOf({ labels: most, annotations: most, fingerprint: text.slice(0, 128) });
  expect([none, cut > 500]).toEqual([0, true]);
  const long = { generatorURL: `https://${'\ufffe'.repeat(2_000)}`, annotations: { description: 'd'.repeat(5_000) } };
  expect(await sizesOf({ labels, ...long })).toEqual([1, 5, 4_096, 0]);
  const unlike = '\ufffe'.repeat(1_000); // SQS takes it only as an escape, of twice the bytes
  expect(await sizesOf({ labels: {}, annotations: { a: unlike, b: unlike } })).toEqual([2, 0, 0, 0]);
  const filled = (length: number) =>
    recordOf({ labels, annotations: { summary: 's', a: 'x'.repeat(length) }, fingerprint: 'f' });
  const { account_id, at_ms, ...record } = await filled(10);
  const room = 8_192 - Buffer.byteLength(messageText(record));
  expect((await filled(10 + room)).annotations.a).toHaveLength(10 + room);
  expect(await filled(11 + room)).not.toHaveProperty('annotations');
});

it('two senders, restarts and flapping leave nothing open that was resolved last', async () => {
  await put(table, keys.account(account), { account_id: account });
  const ingest = ingestOver(table, () => NOW + 60_000);
  const [firing, resolved] = [
    { ...ALERT, fingerprint: 'flaps' },
    { ...ALERT, fingerprint: 'flaps', status: 'resolved' },
  ];
  const later = (alert: object, startsAt: string) => ({ ...alert, startsAt });
  let arrivedMs = NOW;
  for (const [alert, isOpen] of [
    [firing, true],
    [firing, true],
    [later(firing, '2025-06-15T14:35:00Z'), true],
    [resolved, false],
    [later(resolved, '2025-06-15T14:35:00Z'), false],
    [later(firing, '2025-06-15T14:31:00Z'), true],
    [{ ...later(resolved, '2025-06-15T14:31:00Z'), endsAt: '2025-06-15T14:31:00Z' }, false],
  ] as const) {
    arrivedMs += 1_000;
    const { records } = await notify({ alerts: [alert] });
    await ingest.send(...records.map((record) => ({ ...record, at_ms: arrivedMs })));
    const key = await stored(table, keys.alertKey(account, 'alertmanager flaps'));
    expect([key.is_open, ingest.refused]).toEqual([isOpen, []]);
  }
});

it.each<[what: string, fields: object, title: string]>([
  ['alertname with a blank summary', { annotations: { summary: ' ' } }, 'DiskFull'],
  ['the description without an alertname', { labels: {}, annotations: { description: 'No space' } }, 'No space'],
  ['its labels without any of these', { labels: { b: '2', a: '1' }, annotations: {} }, 'a=1, b=2'],
  ['its summary, resolved', { status: 'resolved' }, 'Disk 7 is full'],
  ['a long summary, cut', { annotations: { summary: '🔥'.repeat(600) } }, '🔥'.repeat(512)],
  ['a summary that was cut inside an emoji', { annotations: { summary: 'Hot \ud83d' } }, 'Hot \ufffd'],
  ['its summary although it starts in minutes', { startsAt: new Date(NOW + 600_000).toISOString() }, 'Disk 7 is full'],
])('an alert has the title of %s', async (_what, fields, title) =>
  expect(await recordOf(fields)).toMatchObject({ title, at_ms: NOW }),
);

it('alerts that cannot be read are kept in one message that is no record, and their neighbours are taken', async () => {
  const unreadable = ['\ud800', { ...ALERT, startsAt: 'yesterday' }, { ...ALERT, startsAt: '2025-06-15' }, ALERT];
  const more = Array(8).fill({ ...ALERT, fingerprint: '', labels: {} });
  const { answer, records, refused, counts } = await notify({ alerts: [...unreadable, ...more] });
  const indexes = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11];
  const named = indexes.slice(0, 10).map((index) => ({ index, reason: expect.any(String) }));
  expect(answer.body.data).toEqual({ accepted: 1, refused: named, refused_count: 11 });
  expect([records.length, counts]).toEqual([1, [expect.objectContaining({ refused: 11 })]]);
  const [{ body = '', reason, ...attributes } = {}, ...others] = refused;
  expect([attributes, others]).toEqual([
    { group: String(account), message_id: expect.any(String), sent_at_ms: `${NOW}` },
    [],
  ]);
  const text = [...unreadable.slice(0, 3), ...more].map((alert) => JSON.stringify(alert)).join('\n');
  expect(JSON.parse(body)).toEqual({ account_id: account, from: '/feed/alertmanager', text });
  expect(reason).toMatch(/^alerts\[0\]: .*; alerts\[1\]: .*startsAt.*alerts\[10\]: (?!.*alerts\[11\]).*; and 1 more$/);
});

it.each<[what: string, alerts: string]>([
  ['25,000 alerts that are numbers', `${Array(25_000).fill('0')}`],
  ['an alert of 1e18', `[${Array(60_000).fill('1e18')}]`],
  ['a small list of 1e18', '[1e18,1e18]'],
  ['alerts of quotes', `${Array(300).fill(JSON.stringify('"'.repeat(500)))}`],
  ['an alert of characters that SQS refuses', JSON.stringify('\ufffe'.repeat(50_000))],
  ['an alert of emojis', JSON.stringify('😀'.repeat(50_000))],
])(
  'what is kept of %s is no longer than it came, fits a line of the feed, is no record, and shows that it is cut',
  async (_what, alerts) => {
    const { answer, refused } = await notify(`{"alerts":[${alerts}]}`);
    expect([answer.status, answer.text.length < 2_000, refused.length]).toEqual([400, true, 1]);
    const [{ body = '' } = {}] = refused;
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_LINE_BYTES);
    const { text } = JSON.parse(body);
    expect(text).toMatch(/…\(cut\)$/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(Buffer.byteLength(`{"alerts":[${alerts}]}`));
    expect(() => recordFrom(JSON.parse(body), NOW)).toThrow(/^is no record/);
  },
);

const TEXTS = 'must be an object of strings, numbers and booleans';
it.each<[what: string, fields: object, reason: string]>([
  ['a label that is a list', { labels: { a: [] } }, `labels ${TEXTS}`],
  ['an annotation that is an object', { annotations: { a: { toString: 1 } } }, `annotations ${TEXTS}`],
  ['labels that are a list', { labels: ['a'] }, `labels ${TEXTS}`],
  ['annotations that are a text', { annotations: 'a' }, `annotations ${TEXTS}`],
  ['a time that is a list', { startsAt: ['2025-06-15T14:30:00Z'] }, 'startsAt must be a time of RFC 3339'],
  ['no time', { startsAt: undefined }, 'startsAt is required and must be a time of RFC 3339'],
  ['no title', { labels: {}, annotations: {} }, 'must have an annotation summary or description, or a label'],
  ['no identity', { labels: {}, fingerprint: '' }, 'must have a fingerprint or a label'],
])('an alert cannot be read with %s', async (_what, fields, reason) =>
  expect((await notify({ alerts: [ALERT, { ...ALERT, ...fields }] })).answer.body.data).toEqual({
    ...{ accepted: 1, refused: [{ index: 1, reason }], refused_count: 1 },
  }),
);

const GERMAN = { 'Accept-Language': 'de' };

it('an answer has the language of its reasons in its headers, also if some alerts are taken', async () => {
  const language = async (alerts: unknown[], headers: Record<string, string> = GERMAN) => {
    const { 'Content-Language': language, Vary } = (await notify({ alerts }, { headers })).answer.headers;
    return [language, Vary];
  };
  for (const alerts of [[ALERT, 5], [5]]) {
    expect(await language(alerts)).toEqual(['de', 'Accept-Language']);
    expect(await language(alerts, {})).toEqual(['en', 'Accept-Language']);
  }
  expect(await language([ALERT])).toEqual([undefined, undefined]);
});

it('labels may be numbers, booleans and null', async () => {
  const labels = { a: true, b: 9_007_199_254_740_992, c: null, d: 1.5 };
  const record = await recordOf({ labels, annotations: null });
  expect(record).toMatchObject({ title: 'a=true, b=9007199254740992, d=1.5' });
  for (const name of ['description', 'annotations']) expect(record).not.toHaveProperty(name);
});

it('a notification has at most 25,000 alerts', async () => {
  const { answer } = await notify({ alerts: Array(25_001).fill(0) });
  expect(answer.body.error?.message).toBe('alerts must be an array of at most 25000 items, each a JSON value.');
});

it('a notification may be empty, and the log says how many alerts its sender has left out', async () => {
  const { answer, log } = await notify({ alerts: [], truncatedAlerts: 12 });
  expect(answer.body.data).toEqual({ accepted: 0 });
  const fields = expect.objectContaining({ truncated_alerts: 12 });
  expect(log.lines).toContainEqual(expect.objectContaining({ level: 'warn', fields }));
  for (const truncatedAlerts of [{ toString: 1 }, '12', [12], 0.5, null]) {
    const { answer, log } = await notify({ alerts: [], truncatedAlerts });
    expect([answer.status, log.lines.filter(({ level }) => level === 'warn')]).toEqual([200, []]);
  }
});

it.each<[what: string, x: string, error: RegExp | undefined]>([
  ['more than 1,000 levels is refused', `${'['.repeat(1_000)}${']'.repeat(1_000)}`, /1000 levels/],
  ['more than 100,000 values is refused', `[${Array(99_998).fill('{}')}]`, /100000 values/],
  ['100,000 values is taken', `[${Array(99_997).fill('{}')}]`, undefined],
])('a notification of %s', async (_what, x, error) => {
  const { answer, records } = await notify(`{"alerts":[],"x":${x}}`);
  const expected = error && { code: 'InvalidParameter', message: expect.stringMatching(error) };
  expect([answer.body.error, records]).toEqual([expected, []]);
});

it('a notification may have 4 MiB, and no byte more', async () => {
  const notification = (bytes: number) => ({ alerts: [], x: 'x'.repeat(bytes - '{"alerts":[],"x":""}'.length) });
  expect((await notify(notification(4 * 2 ** 20))).answer.status).toBe(200);
  expect((await notify(notification(4 * 2 ** 20 + 1))).answer.status).toBe(413);
});

it('lines are divided into messages that the queue takes', () => {
  const [line, limit] = ['x'.repeat(8_200), 2 ** 20 - 16 * 1024];
  const messages = messagesOf([...Array(300).fill(line), ...Array(1_500).fill('{}')]);
  for (const message of messages) {
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(limit);
    expect(message.split('\n').length).toBeLessThanOrEqual(MAX_RECORDS);
  }
  expect(messages.length).toBeLessThan(8);
  const lines = messages.join('\n').split('\n');
  expect(lines.filter((found) => found === line)).toHaveLength(300);
  expect(lines.filter((found) => found === '{}')).toHaveLength(1_500);
});
