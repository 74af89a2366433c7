import { expect, it } from 'vitest';
import { ApiError } from '../../../lib/http/errors.ts';
import { type Feed, MAX_RECORDS, messagesOf } from '../../../lib/ingest/queues.ts';
import { sendNotification } from '../../../lib/operations/send-notification/schema.ts';
import { newCaller } from '../../support/accounts.ts';
import { recordFrom } from '../../support/feed.ts';
import { eventFor, handlersOver, invokeAlone, NOW, newDouble, testDeps } from '../../support/service.ts';

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

/** Sends a notification to queues that keep their lines, or to one that fails. The call arrives 1.5 s before its function starts. */
async function notify(body: object, failing?: keyof Feed) {
  const [sent, refused]: [string[], string[]] = [[], []];
  const take = (name: keyof Feed, queue: string[], lines: readonly string[]) => {
    if (name === failing) throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': '1' });
    queue.push(...lines);
  };
  const feed: Feed = {
    send: async (lines) => take('send', sent, lines),
    refuse: async (lines, reason) => take('refuse', refused, [...lines, reason]),
  };
  const deps = testDeps(table, { now: () => NOW + 1_500 });
  const event = eventFor(sendNotification, { appKey, body });
  event.requestContext.requestTimeEpoch = NOW;
  const answer = await invokeAlone(handlersOver(deps, { feed }).sendNotification, event);
  const records = sent.map((line) => JSON.parse(line));
  for (const record of records.slice(0, 10)) recordFrom(record, NOW); // throws if the feed would refuse it
  return { answer, refused, log: deps.log, records, counts: deps.metrics.recordCounts };
}

/** The record of an alert with these fields in place of those of {@link ALERT}. */
const recordOf = async (fields: object) => (await notify({ alerts: [{ ...ALERT, ...fields }] })).records[0];

it('an alert becomes a record of the account and the time of arrival', async () => {
  const { answer, records, counts } = await notify({ version: '4', alerts: [ALERT], truncatedAlerts: 0 });
  expect([answer.status, answer.body.data, counts]).toEqual([200, { accepted: 1 }, []]);
  const source_id = 'alertmanager 9a1c0f3f6ed1c1a4 2025-06-15T14:30:00.123Z';
  expect(records).toEqual([{ kind: 'alert', account_id: account, at_ms: NOW, title: 'Disk 7 is full', source_id }]);
});

it('an alert is the same over all notifications, with or without fingerprint, and another when it fires again', async () => {
  const idOf = async (fields: object) => (await recordOf(fields)).source_id;
  const id = await idOf({});
  expect(await idOf({ status: 'resolved', annotations: { summary: 'Now 99 %' } })).toBe(id);
  expect(await idOf({ startsAt: '2025-06-15T20:00:00.123+05:30' })).toBe(id);
  const byLabels = await idOf({ fingerprint: undefined });
  const reversed = Object.fromEntries(Object.entries(ALERT.labels).reverse());
  expect(await idOf({ fingerprint: '', labels: reversed })).toBe(byLabels);
  const others = [
    ...[{ startsAt: '2025-06-15T14:30:01Z' }, { fingerprint: '', labels: { alertname: 'DiskFull' } }],
    ...['f'.repeat(2_000), `${'f'.repeat(1_999)}g`].map((fingerprint) => ({ fingerprint })),
  ];
  expect(new Set([id, byLabels, ...(await Promise.all(others.map(idOf)))]).size).toBe(6);
});

it.each<[what: string, fields: object, title: string]>([
  ['alertname with a blank summary', { annotations: { summary: ' ' } }, 'DiskFull'],
  ['the description without an alertname', { labels: {}, annotations: { description: 'No space' } }, 'No space'],
  ['its labels without any of these', { labels: { b: '2', a: '1' }, annotations: {} }, 'a=1, b=2'],
  ['its summary, resolved', { status: 'resolved' }, 'Disk 7 is full (resolved)'],
  [
    'a long summary, cut',
    { status: 'resolved', annotations: { summary: '🔥'.repeat(600) } },
    `${'🔥'.repeat(501)} (resolved)`,
  ],
  ['a summary that was cut inside an emoji', { annotations: { summary: 'Hot \ud83d' } }, 'Hot \ufffd'],
  ['its summary although it starts in minutes', { startsAt: new Date(NOW + 600_000).toISOString() }, 'Disk 7 is full'],
])('an alert has the title of %s', async (_what, fields, title) =>
  expect(await recordOf(fields)).toMatchObject({ title, at_ms: NOW }),
);

it('alerts that cannot be read are kept where they can be seen, and their neighbours are taken', async () => {
  const unreadable = [null, { ...ALERT, startsAt: 'yesterday' }, { ...ALERT, startsAt: '2025-06-15' }, ALERT];
  const more = Array(8).fill({ ...ALERT, fingerprint: '', labels: {} });
  const { answer, records, refused, counts } = await notify({ alerts: [...unreadable, ...more] });
  const indexes = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11];
  expect(answer.body.data).toMatchObject({ accepted: 1, refused: indexes.map((index) => ({ index })) });
  expect([records.length, counts]).toEqual([1, [expect.objectContaining({ refused: 11 })]]);
  expect(refused.slice(0, -1)).toEqual([...unreadable.slice(0, 3), ...more].map((alert) => JSON.stringify(alert)));
  // The reason names the first ten.
  expect(refused.at(-1)).toMatch(/^alerts\[0\]: .*; alerts\[1\]: .*startsAt.*alerts\[10\]: (?!.*alerts\[11\])/);
});

it.each<keyof Feed>(['send', 'refuse'])(
  'a queue whose %s fails makes the call 503 with Retry-After',
  async (failing) => {
    const { answer } = await notify({ alerts: [ALERT, null] }, failing);
    expect([answer.status, answer.headers['Retry-After']]).toEqual([503, '1']);
  },
);

it('what is no notification is InvalidParameter', async () => {
  for (const body of [{}, { alerts: 'none' }, { alerts: null }, { alerts: Array(25_001) }])
    expect((await notify(body)).answer.body.error?.code).toBe('InvalidParameter');
});

it('a notification may be empty, and the log says how many alerts its sender has left out', async () => {
  const { answer, log } = await notify({ alerts: [], truncatedAlerts: 12 });
  expect(answer.body.data).toEqual({ accepted: 0 });
  const fields = expect.objectContaining({ truncated_alerts: 12 });
  expect(log.lines).toContainEqual(expect.objectContaining({ level: 'warn', fields }));
});

it('a notification may have 4 MiB, and no byte more', async () => {
  const notification = (bytes: number) => ({ alerts: [], x: 'x'.repeat(bytes - '{"alerts":[],"x":""}'.length) });
  expect((await notify(notification(4 * 2 ** 20))).answer.status).toBe(200);
  expect((await notify(notification(4 * 2 ** 20 + 1))).answer.status).toBe(413);
});

it('lines are divided into messages that the queue takes, and only a line that fits into none is cut', () => {
  const [line, limit] = ['x'.repeat(60_000), 2 ** 20 - 16 * 1024];
  const messages = messagesOf([...Array(40).fill(line), '€'.repeat(2 ** 19), ...Array(1_500).fill('{}')]);
  for (const message of messages) {
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(limit);
    expect(message.split('\n').length).toBeLessThanOrEqual(MAX_RECORDS);
  }
  expect(messages.length).toBeLessThan(8);
  const lines = messages.join('\n').split('\n');
  expect(lines.filter((found) => found === line)).toHaveLength(40);
  expect(lines.filter((found) => found === '{}')).toHaveLength(1_500);
});
