/** The budget of what an account sends to the feed over HTTPS. `schedules/rate-limit` counts items of several functions, with faults. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { catalog as en } from '../../../lib/http/messages/en.ts';
import { sendNotification } from '../../../lib/operations/send-notification/schema.ts';
import { sendRecords } from '../../../lib/operations/send-records/schema.ts';
import type { Settings } from '../../../lib/shared/settings.ts';
import { keys } from '../../../lib/table/keys.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { connectionLost, hookedTable } from '../../support/faults.ts';
import { keepingQueue } from '../../support/ingest.ts';
import { callAlone, createHandlers, NOW, newDouble, stored, testDeps } from '../../support/service.ts';

const ALERT = { startsAt: '2025-06-15T14:30:00Z', labels: { alertname: 'DiskFull' } };

/** A thousandth of the defaults. */
const LIMITS = { feedItemsPer3Seconds: 20, feedItemsPerMinute: 60 };

/** A feed that counts what it is sent, and an account whose calls come at the time of a clock. */
async function newSender(table = newDouble(), through = table, settings: Partial<Settings> = LIMITS) {
  const clock = { now: NOW };
  const { sent, refused, ingestQueue } = keepingQueue();
  const handlers = createHandlers(testDeps(through, { now: () => clock.now, settings }), { ingestQueue });
  const { account, appKey } = await newCaller(table);
  const notify = (count: number, alert: object = ALERT) =>
    callAlone(handlers, sendNotification, { appKey, body: { alerts: Array(count).fill(alert) } });
  const record = (count: number, fields: object = { title: 't' }) => {
    const records = Array.from({ length: count }, (_, index) => ({ kind: 'alert', alert_key: `${index}`, ...fields }));
    return callAlone(handlers, sendRecords, { appKey, body: { records } });
  };
  const queued = () => ({ lines: sent.length, refusals: refused.length });
  return { table, account, clock, queued, notify, record };
}

it('beyond the budget a call of either operation is refused whole, before anything is queued, and both windows are told', async () => {
  const { clock, queued, notify, record } = await newSender();
  expect((await notify(18)).headers).toMatchObject({
    'RateLimit-Policy': '"burst";q=20;w=3, "minute";q=60;w=60',
    RateLimit: '"burst";r=2;t=3, "minute";r=42;t=60',
  });
  const before = queued();
  for (const refused of [await record(3), await notify(3), await notify(3, {})]) {
    expectEnvelope(refused, 429, 'RequestTooFrequently');
    expect(refused.body.error.message).toBe(en.explain.tooManyItems({ limit: 20, windowSeconds: 3 }));
    expect(refused.headers).toMatchObject({
      'Retry-After': '3',
      'X-RateLimit-Limit': '20',
      'X-RateLimit-Remaining': '2',
      RateLimit: '"burst";r=2;t=3, "minute";r=42;t=60',
    });
  }
  expect(queued()).toEqual(before);
  expect((await record(2)).status).toBe(200);
  expect((await record(1)).status).toBe(429);
  clock.now += 3_000;
  expect((await record(1)).status).toBe(200);
});

it('the minute has a limit of its own, and another account its own budget', async () => {
  const { clock, table, notify } = await newSender();
  for (let window = 0; window < 3; window += 1) {
    expect((await notify(20)).status).toBe(200);
    clock.now += 3_000;
  }
  const refused = await notify(1);
  expectEnvelope(refused, 429, 'RequestTooFrequently');
  expect(refused.headers).toMatchObject({ 'Retry-After': '51', RateLimit: '"burst";r=20;t=3, "minute";r=0;t=51' });
  const other = await newSender(table);
  expect((await other.notify(1)).status).toBe(200);
});

it('an item counts once for each KB begun of its text, also if it is then refused; a call that is invalid does not', async () => {
  const { account, table, record, notify } = await newSender(newDouble(), undefined, {});
  const upTo = (bytes: number, item: object) => 'x'.repeat(bytes - JSON.stringify(item).length);
  const titled = (bytes: number) => ({ title: upTo(bytes, { kind: 'alert', alert_key: '0', title: '' }) });
  const alertOf = (bytes: number) => ({ ...ALERT, x: upTo(bytes, { ...ALERT, x: '' }) });
  let total = 0;
  for (const [counted, status, send] of [
    [0, 400, () => record(0)],
    [0, 400, () => notify(25_001)],
    [7, 400, () => record(7, {})],
    [12, 400, () => notify(12, {})],
    [2, 400, () => record(2, titled(1_024))],
    [4, 400, () => record(2, titled(1_025))],
    [18, 400, () => record(2, titled(9_000))],
    [2, 200, () => notify(2, alertOf(1_024))],
    [22, 200, () => notify(2, alertOf(10_241))],
  ] as const) {
    total += counted;
    const answered = (await send()).status;
    const row = await stored(table, keys.rateCount(account, 'feed', NOW / 60_000));
    expect([answered, row?.total ?? 0]).toEqual([status, total]);
  }
});

it('at 50 calls a second the counts of a minute stay below 1 KB, so that each call writes one unit', async () => {
  const { account, table, clock, record } = await newSender(newDouble(), undefined, {});
  for (let call = 0; call < 3_000; call += 1) {
    clock.now = NOW + 20 * call;
    await record(1);
  }
  const row = await stored(table, keys.rateCount(account, 'feed', NOW / 60_000));
  expect([row.total, row.ttl]).toEqual([3_000, NOW / 1_000 + 60 + 2 * 3_600]);
  expect(itemBytes(marshall(row))).toBeLessThan(1_024);
});

it('while DynamoDB cannot count, calls are 503 and queue nothing; a reply that is lost neither fails a call nor lets it pass uncounted', async () => {
  const { table, hooked, hook } = hookedTable();
  const { account, clock, queued, notify } = await newSender(table, hooked);
  await notify(0); // looks the key up
  hook.around = async () => {
    throw connectionLost();
  };
  const failed = await notify(5);
  expectEnvelope(failed, 503, 'ServiceUnavailable');
  expect([failed.headers['Retry-After'], queued()]).toEqual(['1', { lines: 0, refusals: 0 }]);
  hook.around = async (reply, { name }) => {
    await reply();
    if (name === 'UpdateCommand') throw connectionLost();
    return reply();
  };
  clock.now += 3_000;
  expect((await notify(21)).status).toBe(200);
  expect(queued().lines).toBe(21);
  expect((await stored(table, keys.rateCount(account, 'feed', NOW / 60_000))).total).toBe(22);
});
