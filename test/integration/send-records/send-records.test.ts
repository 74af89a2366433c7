import { expect, it } from 'vitest';
import { ApiError } from '../../../lib/http/errors.ts';
import type { Feed } from '../../../lib/ingest/queues.ts';
import { sendRecords } from '../../../lib/operations/send-records/schema.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { newCaller } from '../../support/accounts.ts';
import { callAlone, handlersOver, newTable, testDeps } from '../../support/service.ts';

const NOW = 1_750_000_000_000;
const BIG = 9_007_199_254_740_993n;
const table = await newTable();
const { account, appKey } = await newCaller(table, { account_id: BIG });
/** A text that begins with `raw ` is sent as a number. */
const workItem = { kind: 'work_item', work_item_id: 'w', version: 1, title: 't' };
const alert = { kind: 'alert', source_id: 's', title: 'Disk full' };

/** Sends records to a feed that keeps its lines, or fails. */
async function send(records: readonly unknown[], { fails = false, key = appKey } = {}) {
  const sent: string[] = [];
  const feed: Feed = {
    async send(lines) {
      if (fails) throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': '1' });
      sent.push(...lines);
    },
    refuse: () => expect.unreachable(),
  };
  const handlers = handlersOver(testDeps(table, { now: () => NOW }), { feed });
  const answer = await callAlone(handlers, sendRecords, {
    appKey: key,
    rawBody: stringifyJson({ records }).replaceAll(/"raw ([^"]+)"/g, '$1'),
  });
  return { answer, sent, message: answer.body.error?.message ?? '' };
}

it('takes records of the account, exactly, each with account and time written into it', async () => {
  const member = { kind: 'member', member_id: BIG, name: 'n\ufffe', account_id: account, at_ms: NOW - 5 };
  const { answer, sent } = await send([alert, member]);
  expect([answer.status, answer.body.data]).toEqual([200, { accepted: 2 }]);
  expect(sent).toEqual([
    `{"account_id":${BIG},"at_ms":${NOW},"kind":"alert","source_id":"s","title":"Disk full"}`,
    `{"account_id":${BIG},"at_ms":${NOW - 5},"kind":"member","member_id":${BIG},"name":"n\\ufffe"}`,
  ]);
});

it.each<[what: string, record: unknown, problem: RegExp]>([
  ['a record of another account', { ...alert, account_id: 7 }, /account_id must be 9007199254740993/],
  ['the account as a text', { ...alert, account_id: String(BIG) }, /account_id/],
  ['no title', { kind: 'alert', source_id: 's' }, /title/],
  ['an unknown field', { ...alert, colour: 'red' }, /colour is not a field/],
  ['a kind that gives access', { kind: 'account', name: 'n', permissions: ['feed'] }, /kind must be one of/],
  ['a fraction that a double rounds', { ...workItem, x: 'raw 4503599627370497.5' }, /x must not contain/],
  ['a clock that is ahead', { ...alert, at_ms: NOW + 600_000 }, /at_ms/],
])('refuses %s, and takes none of the call', async (_what, record, problem) => {
  const { answer, sent, message } = await send([alert, record]);
  expect([answer.status, answer.body.error?.code, sent]).toEqual([400, 'InvalidParameter', []]);
  expect(message).toMatch(/^records\[1\]: /);
  expect(message).toMatch(problem);
});

it('names ten problems, and how many more there are', async () => {
  const { message } = await send(Array(13).fill({ kind: 'alert' }));
  expect(message).toContain('records[9]');
  expect(message).toMatch(/and 3 more records\. No record was taken\.$/);
});

it.each<[what: string, records: unknown[]]>([
  ['no records', []],
  ['too many records', Array(1_001).fill(alert)],
  ['a record that is no object', ['alert']],
])('refuses %s', async (_what, records) => {
  const { answer, message } = await send(records);
  expect([answer.status, message]).toEqual([400, expect.stringContaining('records')]);
});

it('answers EntityTooLarge if exact numbers make the records longer than a message', async () => {
  const { answer, sent } = await send(Array(17).fill({ ...workItem, x: Array(3_060).fill('raw 1e18') }));
  expect([answer.body.error, sent]).toEqual([
    { code: 'EntityTooLarge', message: 'The request body is too large.' },
    [],
  ]);
});

it('answers 503 with Retry-After when the queue does not take them, and 403 without the permission', async () => {
  const { answer } = await send([alert], { fails: true });
  expect([answer.status, answer.headers['Retry-After']]).toEqual([503, '1']);
  const { appKey: key } = await newCaller(table, { permissions: ['monit'] });
  expect((await send([alert], { key })).answer.status).toBe(403);
});
