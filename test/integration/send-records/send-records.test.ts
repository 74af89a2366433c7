import { expect, it } from 'vitest';
import { ApiError } from '../../../lib/http/errors.ts';
import type { IngestQueue } from '../../../lib/ingest/queues.ts';
import { sendRecords } from '../../../lib/operations/send-records/schema.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller } from '../../support/accounts.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, handlersOver, NOW, newDouble, put, testDeps } from '../../support/service.ts';

const BIG = 9_007_199_254_740_993n;
const table = newDouble();
const { account, appKey } = await newCaller(table, { account_id: BIG });
const workItem = { kind: 'work_item', work_item_id: 'w', version: 1, title: 't' };
const alert = { kind: 'alert', alert_key: 's', title: 'Disk full' };

/** Sends records to a feed that keeps its lines, or fails. A text that begins with `raw ` is sent as a number. */
async function send(records: readonly unknown[], { fails = false } = {}) {
  const sent: string[] = [];
  const ingestQueue: IngestQueue = {
    async send(lines) {
      if (fails) throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': '1' });
      sent.push(...lines);
    },
    refuse: () => expect.unreachable(),
  };
  const handlers = handlersOver(testDeps(table, { now: () => NOW }), { ingestQueue });
  const rawBody = stringifyJson({ records }).replaceAll(/"raw ([^"]+)"/g, '$1');
  const { status, headers, body } = await callAlone(handlers, sendRecords, { appKey, rawBody });
  return { status, headers, data: body.data, code: body.error?.code, message: body.error?.message, sent };
}

it('the feed gets records exactly, each with account and time written into it', async () => {
  const member = { kind: 'member', member_id: BIG, name: 'n\ufffe', account_id: account, at_ms: NOW - 5 };
  expect(await send([alert, member])).toMatchObject({
    data: { accepted: 2 },
    sent: [
      `{"account_id":${BIG},"at_ms":${NOW},"kind":"alert","alert_key":"s","title":"Disk full"}`,
      `{"account_id":${BIG},"at_ms":${NOW - 5},"kind":"member","member_id":${BIG},"name":"n\\ufffe"}`,
    ],
  });
});

it.each<[what: string, records: unknown[], problem: RegExp]>([
  ['a record of another account', [alert, { ...alert, account_id: 7 }], /^records\[1\]: account_id .*9007199254740993/],
  ['the account as a text', [{ ...alert, account_id: String(BIG) }], /account_id/],
  ['a kind that gives access', [{ kind: 'account', name: 'n', permissions: ['feed'] }], /kind/],
  ['a fraction that a double rounds', [{ ...workItem, x: 'raw 4503599627370497.5' }], /x must not/],
  ['a clock that is ahead', [{ ...alert, at_ms: NOW + 600_000 }], /at_ms/],
  ['13 records: the first ten are named', Array(13).fill({ kind: 'alert' }), /^(?!.*\[10\]).*\[9\].*and 3 more/],
  ['too many records', Array(1_001).fill(alert), /records/],
  ['a record that is no object', ['alert'], /records/],
])('a call is refused as a whole: %s', async (_what, records, problem) =>
  expect(await send(records)).toMatchObject({
    ...{ status: 400, code: 'InvalidParameter', sent: [] },
    message: expect.stringMatching(problem),
  }),
);

it('what is taken is not refused by the queue, whose clock may be up to a minute behind', async () => {
  const status = { kind: 'host_status', host_id: 'h', health_at_ms: NOW };
  for (const record of [
    { ...alert, at_ms: NOW + 240_001 },
    { ...status, health_at_ms: NOW + 240_001 },
  ])
    expect((await send([record])).message).toMatch(/ is 240001 ms after the record was sent: set the clock /);
  const { sent } = await send([
    { ...alert, at_ms: NOW + 240_000 },
    { ...status, health_at_ms: NOW + 240_000 },
  ]);
  const ingest = ingestOver(table, () => NOW - 60_000);
  await put(table, keys.account(account), { account_id: account });
  await ingest.deliver([sent.join('\n')]);
  expect([ingest.refused, ingest.counts()]).toMatchObject([[], { records: 2 }]);
});

it('records that exact numbers make longer than a message are EntityTooLarge', async () => {
  const records = Array(17).fill({ ...workItem, x: Array(3_060).fill('raw 1e18') });
  expect(await send(records)).toMatchObject({ code: 'EntityTooLarge', sent: [] });
});

it('a queue that does not take records makes the call 503 with Retry-After', async () =>
  expect(await send([alert], { fails: true })).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } }));
