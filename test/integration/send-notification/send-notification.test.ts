import { expect, it } from 'vitest';
import { ApiError } from '../../../lib/http/errors.ts';
import { type Feed, MAX_RECORDS, messagesOf } from '../../../lib/ingest/queues.ts';
import { sendNotification } from '../../../lib/operations/send-notification/schema.ts';
import { newCaller } from '../../support/accounts.ts';
import { recordFrom } from '../../support/feed.ts';
import { eventFor, handlersOver, invokeAlone, newTable, testDeps } from '../../support/service.ts';

const NOW = 1_750_000_000_000;
const table = await newTable();
const { account, appKey } = await newCaller(table);
/** An alert as Alertmanager sends it since 0.16. */
const ALERT = {
  status: 'firing',
  labels: { alertname: 'DiskFull', instance: 'db-7' },
  annotations: { summary: 'Disk 7 is full', description: 'Disk 7 has no space left' },
  startsAt: '2025-06-15T14:30:00.123456789Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus/graph',
  fingerprint: '9a1c0f3f6ed1c1a4',
};

/** Sends a notification to queues that keep their lines, or to one that fails. */
async function notify(body: object, failing?: keyof Feed, arrivedMs?: number) {
  const [sent, refused]: [string[], string[]] = [[], []];
  const take = (name: keyof Feed, queue: string[], lines: readonly string[]) => {
    if (name === failing) throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': '1' });
    queue.push(...lines);
  };
  const feed: Feed = {
    send: async (lines) => take('send', sent, lines),
    refuse: async (lines, reason) => take('refuse', refused, [...lines, reason]),
  };
  const deps = testDeps(table, { now: () => NOW });
  const event = eventFor(sendNotification, { appKey, body });
  if (arrivedMs !== undefined) event.requestContext.requestTimeEpoch = arrivedMs;
  const answer = await invokeAlone(handlersOver(deps, { feed }).sendNotification, event);
  const records = sent.map((line) => JSON.parse(line));
  for (const record of records.slice(0, 10)) recordFrom(record, NOW); // throws if the feed would refuse it
  return { answer, refused, log: deps.log, records };
}

/** The record of an alert with these fields in place of those of {@link ALERT}. */
async function recordOf(fields: object) {
  const { records } = await notify({ version: '4', status: 'firing', alerts: [{ ...ALERT, ...fields }] });
  return records[0];
}

it('makes a record of each alert, of the account and the arrival', async () => {
  const { answer, records } = await notify({ version: '4', alerts: [ALERT], truncatedAlerts: 0 });
  expect([answer.status, answer.body.data]).toEqual([200, { accepted: 1 }]);
  expect(records).toEqual([
    {
      ...{ kind: 'alert', account_id: account, at_ms: NOW, title: 'Disk 7 is full' },
      source_id: 'alertmanager 9a1c0f3f6ed1c1a4 2025-06-15T14:30:00.123Z',
    },
  ]);
});

it('has the time of the arrival, although its function started later', async () => {
  const { records } = await notify({ alerts: [ALERT] }, undefined, NOW - 1_500);
  expect(records[0].at_ms).toBe(NOW - 1_500);
});

it('is the same alert over all notifications, with or without fingerprint, and another when it fires again', async () => {
  const { source_id: id } = await recordOf({});
  expect((await recordOf({ status: 'resolved', annotations: { summary: 'Now 99 %' } })).source_id).toBe(id);
  expect((await recordOf({ startsAt: '2025-06-15T20:00:00.123+05:30' })).source_id).toBe(id);
  expect((await recordOf({ startsAt: '2025-06-15T14:30:01Z' })).source_id).not.toBe(id);
  const strange = ['f'.repeat(2_000), `${'f'.repeat(1_999)}g`, '\ud83d'];
  const ids = await Promise.all(strange.map(async (fingerprint) => (await recordOf({ fingerprint })).source_id));
  expect(new Set([id, ...ids]).size).toBe(4);
  const { source_id: byLabels } = await recordOf({ fingerprint: undefined });
  const reversed = Object.fromEntries(Object.entries(ALERT.labels).reverse());
  expect((await recordOf({ fingerprint: '', labels: reversed })).source_id).toBe(byLabels);
  expect((await recordOf({ fingerprint: '', labels: { alertname: 'DiskFull' } })).source_id).not.toBe(byLabels);
});

it.each<[what: string, fields: object, title: string]>([
  ['its summary', {}, 'Disk 7 is full'],
  ['alertname without a summary', { annotations: null }, 'DiskFull'],
  ['alertname with a blank summary', { annotations: { summary: ' ' } }, 'DiskFull'],
  ['the description without an alertname', { labels: {}, annotations: { description: 'No space' } }, 'No space'],
  ['its labels without any of these', { labels: { b: '2', a: '1' }, annotations: {} }, 'a=1, b=2'],
  ['its summary, resolved', { status: 'resolved' }, 'Disk 7 is full (resolved)'],
  [
    'a long summary, cut',
    { status: 'resolved', annotations: { summary: '🔥'.repeat(600) } },
    `${'🔥'.repeat(501)} (resolved)`,
  ],
  ['alertname if the summary is null', { annotations: { summary: null } }, 'DiskFull'],
  ['a summary that was cut inside an emoji', { annotations: { summary: 'Hot \ud83d' } }, 'Hot \ufffd'],
  ['its summary although it starts in minutes', { startsAt: new Date(NOW + 600_000).toISOString() }, 'Disk 7 is full'],
])('has the title of %s', async (_what, fields, title) => {
  expect(await recordOf(fields)).toMatchObject({ title, at_ms: NOW });
});

it('keeps an alert that cannot be read where it can be seen, and takes its neighbours', async () => {
  const unreadable = [null, { ...ALERT, startsAt: 'yesterday' }, { ...ALERT, fingerprint: '', labels: {} }];
  const { answer, records, refused } = await notify({ alerts: [ALERT, ...unreadable, ALERT] });
  expect(answer.body.data).toMatchObject({ accepted: 2, refused: [1, 2, 3].map((index) => ({ index })) });
  expect(records).toHaveLength(2);
  expect(refused).toEqual([
    ...unreadable.map((alert) => JSON.stringify(alert)),
    expect.stringMatching(/^alerts\[1\]: .*object; alerts\[2\]: startsAt .*; alerts\[3\]: /),
  ]);
});

it.each<[queue: keyof Feed]>([['send'], ['refuse']])('answers 503 with Retry-After if %s fails', async (failing) => {
  const { answer } = await notify({ alerts: [ALERT, null] }, failing);
  expect([answer.status, answer.headers['Retry-After']]).toEqual([503, '1']);
});

it.each([{}, { alerts: 'none' }, { alerts: null }, { message: 'ok', state: 'alerting' }, { alerts: Array(25_001) }])(
  'answers 400 to what is no notification: %#',
  async (body) => {
    const { answer } = await notify(body);
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'InvalidParameter']);
  },
);

it('takes an empty notification, and logs how many alerts a sender has left out', async () => {
  const { answer, log } = await notify({ alerts: [], truncatedAlerts: 12 });
  expect(answer.body.data).toEqual({ accepted: 0 });
  expect(log.lines).toContainEqual(
    expect.objectContaining({ fields: expect.objectContaining({ truncated_alerts: 12 }) }),
  );
});

it('takes as many alerts as 4 MiB hold in under 2 s of a vCPU, and no byte more', async () => {
  const alert = JSON.stringify(ALERT);
  const fitting = Math.floor((4 * 2 ** 20 - 13) / (alert.length + 1));
  const alerts = Array.from({ length: fitting }, () => ALERT);
  const before = process.cpuUsage();
  expect((await notify({ alerts })).answer.body.data).toEqual({ accepted: fitting });
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  expect((await notify({ alerts: [...alerts, ALERT] })).answer.status).toBe(413);
});

it('divides lines into messages that the queue takes, and cuts only a line that fits into none', () => {
  const [line, limit] = ['x'.repeat(60_000), 2 ** 20 - 16 * 1024];
  const messages = messagesOf([...Array(40).fill(line), '€'.repeat(2 ** 19), ...Array(1_500).fill('{}')]);
  for (const message of messages) {
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(limit);
    expect(message.split('\n').length).toBeLessThanOrEqual(MAX_RECORDS);
  }
  const lines = messages.join('\n').split('\n');
  expect(lines.filter((found) => found === line)).toHaveLength(40);
  expect(lines.filter((found) => found === '{}')).toHaveLength(1_500);
});
