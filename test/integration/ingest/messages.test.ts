/** How records come in by the queue: which lines are refused, what becomes of messages, and what is counted and logged. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { changeAccount } from '../../../packages/admin/accounts/accounts.ts';
import { connectionLost, hookedTable } from '../../support/faults.ts';
import { inventory } from '../../support/fleet.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { stored } from '../../support/service.ts';

const NOW = 1_795_000_000_000;

/** An account on a table of its own. @param before runs before each request, with its text */
async function newTenant(before: (text: string) => unknown = () => {}, now = () => NOW) {
  const { table, hooked, hook } = hookedTable();
  hook.around = async (reply, { input }) => {
    await before(stringifyJson(input));
    return reply();
  };
  const { account } = await newAccount(table);
  return {
    account,
    suspend: (suspended: boolean) => changeAccount(table, account, () => ({ suspended })),
    ingest: ingestOver(hooked, now),
    member: (member_id: number, more: object = {}) =>
      JSON.stringify({ kind: 'member', account_id: account, member_id, name: 'Ada', ...more }),
    names: (...ids: number[]) =>
      Promise.all(ids.map(async (id) => ((await stored(table, keys.member(account, id))) as { name?: string })?.name)),
  };
}

describe('a line', () => {
  const member = { kind: 'member', member_id: 1, name: 'Ada' };
  const report = { kind: 'host_status', host_id: 'h' };
  const item = { kind: 'work_item', work_item_id: 'w', version: 1, title: 't' };
  const NAME = /must not contain field names/;
  const host = { kind: 'host', host_id: 'h', ...inventory() };
  const CODES = /^reason_codes must be an array of at most 128 items, each a string$/;
  const codes = (count: number) => ({ reason_codes: Array(count).fill('') });
  const large = { ...item, notes: 'x'.repeat(8_193 - JSON.stringify({ ...item, notes: '' }).length) };
  const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  it.each<[string, object | string, RegExp]>([
    ['is no JSON', '{"kind":', /^must be valid JSON: it has a syntax error at column 9$/],
    ['has no kind, and an object that no text can be made of', { from: { toString: 1 } }, /^kind is required/],
    ['has an account that no text can be made of', { ...member, account_id: { toString: 1 } }, /^account_id must be/],
    ['gives access', { kind: 'account', name: 'n', permissions: [] }, /kind must be one of member, host, host_status/],
    ['is of no existing account', { ...member, account_id: 999_999_999 }, /account 999999999 does not exist/],
    ['is in seconds', { ...member, at_ms: 1_795_000_000 }, /at_ms .*milliseconds, and 1795000000 is in seconds/],
    ['is in microseconds', { ...member, at_ms: NOW * 1_000 }, /^at_ms must be an integer from 1000000000000 to/],
    ['is of the future', { ...member, at_ms: NOW + 300_001 }, /^at_ms is 300001 ms after/],
    ['reports in seconds', { ...report, observed_at_ms: 1 }, /observed_at_ms .*and 1 is in seconds/],
    ['has more than 8,192 bytes', large, /^must be at most 8192 bytes: it has 8193$/],
    ['is too long to be parsed', 'é'.repeat(40_000), /^must be at most 8192 bytes: it has 80000$/],
    ['has 129 reason codes of a report', { ...report, ...codes(129) }, CODES],
    ['has 129 reason codes of a host', { ...host, ...codes(129) }, CODES],
    ['has a field whose name is half a surrogate pair', { ...item, '\ud800': 1 }, NAME],
    ['has a field __proto__', '{"kind":"member","account_id":1,"member_id":1,"name":"n","\\u005f_proto__":1}', NAME],
    ['is nested very deeply', '['.repeat(60_000), /must not be nested deeper than 31/],
  ])('that %s is refused as it came, with its reason; the others are applied', async (_what, line, reason) => {
    const { ingest, account, member, names } = await newTenant();
    const body = typeof line === 'string' ? line : JSON.stringify({ account_id: account, ...line });
    expect((await ingest.deliver([`${body}\n${member(1)}\n`])).batchItemFailures).toEqual([]);
    const where = { message_id: expect.any(String), sent_at_ms: String(NOW), line: '1', group: 'g' };
    expect(ingest.refused).toEqual([{ reason: expect.stringMatching(reason), body, ...where }]);
    expect(await names(1)).toEqual(['Ada']);
    expect(ingest.counts()).toEqual({ records: 1, late: 0, refused: 1, failed: 0 });
  });

  it('that has many problems is refused with ten of them, each cut', async () => {
    const { ingest, member } = await newTenant();
    const fields = Array.from({ length: 11 }, (_, index) => [`${index}${'x'.repeat(300)}`, 1]);
    await ingest.deliver([member(1, Object.fromEntries(fields))]);
    expect(ingest.refused[0]?.reason?.split('; ').map(({ length }) => length)).toEqual(Array(10).fill(200));
  });

  it('may have 128 reason codes, 31 levels, a field name of 128 characters, and the times of its sender', async () => {
    const { ingest, account } = await newTenant();
    const more = { deep: nested(30), ['😀'.repeat(128)]: 1, at_ms: 10 ** 12, deleted_at_ms: NOW + 300_000 };
    await ingest.send(
      { account_id: account, ...item, ...more },
      { account_id: account, ...report, ...codes(128), received_at_ms: NOW + 300_000 },
      { account_id: account, ...host, ...codes(128) },
    );
    expect(ingest.refused).toEqual([]);
  });

  it('counts if it is a later one for the same row', async () => {
    const { ingest, member, names } = await newTenant();
    await ingest.deliver([['Bea', 'Ada'].map((name) => member(1, { name })).join('\n')]);
    await ingest.deliver([member(1, { name: 'Eve', at_ms: NOW - 1 })]);
    expect([await names(1), ingest.counts()]).toEqual([['Ada'], { records: 3, late: 1, refused: 0, failed: 0 }]);
  });

  it('that DynamoDB refuses takes no other of its row with it', async () => {
    const { ingest, member, names } = await newTenant((text) => {
      if (text.includes('refused')) throw Object.assign(new Error(), { name: 'ValidationException' });
    });
    expect((await ingest.deliver([`${member(1)}\n${member(1, { name: 'refused' })}`])).batchItemFailures).toEqual([]);
    expect(ingest.refused).toMatchObject([{ line: '2' }]);
    expect(await names(1)).toEqual(['Ada']);
    expect(ingest.counts()).toMatchObject({ records: 1, refused: 1 });
  });
});

describe('a record of a suspended account', () => {
  it('is refused 30 s after the suspension at the latest, and taken again once that ends', async () => {
    let seconds = 0;
    const { account, suspend, ingest, member, names } = await newTenant(undefined, () => NOW + seconds * 1_000);
    await ingest.deliver([member(1)]);
    await suspend(true);
    seconds = 30;
    await ingest.deliver([member(2)]);
    expect(await names(1, 2)).toEqual(['Ada', undefined]);
    expect(ingest.refused).toMatchObject([
      { body: member(2), reason: expect.stringContaining(`${account} is suspended`) },
    ]);
    await suspend(false);
    await ingest.deliver([member(2)]);
    expect(await names(2)).toEqual(['Ada']);
  });

  it.each([29, -1])('is looked up again only after 30 s, or when the clock went back: after %d s', async (later) => {
    let seconds = 0;
    let lookUps = 0;
    const isLookUp = (text: string) => /"ACCOUNT#\d+#ACCOUNT"/.test(text) && !text.includes('Update');
    const { ingest, member } = await newTenant(
      (text) => {
        if (isLookUp(text)) lookUps += 1;
      },
      () => NOW + seconds * 1_000,
    );
    await ingest.deliver([member(1)]);
    seconds = later;
    await ingest.deliver([member(1)]);
    expect(lookUps).toBe(later < 0 ? 2 : 1);
  });
});

describe('a message', () => {
  it.each<[string, (first: string, second: string) => string]>([
    ['one object in any layout', (first) => JSON.stringify(JSON.parse(first), undefined, 2)],
    ['a byte order mark and lines', (first, second) => `\ufeff${first}\n${second}`],
    ['a thousand lines, and blank ones', (first, second) => `${first}\n\n`.repeat(999) + second],
  ])('may have %s', async (_what, bodyOf) => {
    const { ingest, member, names } = await newTenant();
    const body = bodyOf(member(1), member(2));
    await ingest.deliver([body]);
    expect(ingest.refused).toEqual([]);
    expect(await names(1, 2)).toEqual(['Ada', body.includes('"member_id":2') ? 'Ada' : undefined]);
  });

  it.each([
    ['with more than 1,000 records', (line: string) => `\ufeff${line}\r\n`.repeat(1_001), /more than 1000 records/],
    ['without a record', () => ' \r\n\t\n', /no record/],
  ])('%s is refused as a whole, as it came', async (_what, bodyOf, reason) => {
    const { ingest, member, names } = await newTenant();
    const body = bodyOf(member(1));
    await ingest.deliver([body]);
    const [{ message_id: _id, ...refused } = {}] = ingest.refused;
    expect(refused).toEqual({ body, reason: expect.stringMatching(reason), sent_at_ms: String(NOW), group: 'g' });
    expect(ingest.counts()).toMatchObject({ records: 0, refused: 1 });
    expect(await names(1)).toEqual([undefined]);
  });

  it('whose writes fail is delivered again, and no other, after growing delays that are spread at random', async () => {
    const { ingest, member, names } = await newTenant((text) => {
      if (text.includes('"sk":"2"')) throw connectionLost();
    });
    for (const receives of [1, 2, 3, 30]) {
      const { batchItemFailures } = await ingest.deliver([member(1), `${member(2)}\nnonsense`], receives);
      expect(batchItemFailures).toHaveLength(1);
      const fields = { message_id: batchItemFailures[0]?.itemIdentifier, receives, error_name: 'Error', records: 1 };
      expect(ingest.deps.log.lines.at(-1)).toMatchObject({ level: 'warn', fields });
    }
    await Promise.all(Array.from({ length: 20 }, () => ingest.deliver([member(2)], 30)));
    const delays = ingest.delays.map(({ seconds }) => seconds);
    for (const [index, most] of [10, 20, 40, 900].entries()) {
      expect(delays[index]).toBeGreaterThanOrEqual(most / 2);
      expect(delays[index]).toBeLessThanOrEqual(most);
    }
    expect(new Set(delays.slice(4)).size).toBeGreaterThan(1);
    // The invalid line is not refused while its message fails: otherwise each attempt would refuse it.
    expect(ingest.refused).toEqual([]);
    expect(await names(1)).toEqual(['Ada']);
    expect(ingest.counts()).toMatchObject({ records: 4, refused: 0, failed: 24 });
  });

  it('with refusals that SQS does not take in time is delivered again; the others are not repeated', async () => {
    const { ingest, member, names } = await newTenant();
    ingest.refuseOnly((body) => body === 'one');
    const { batchItemFailures } = await ingest.deliver(['one', `two\n${member(1)}`, member(2)]);
    expect(batchItemFailures).toHaveLength(1);
    expect(ingest.refused.map(({ body }) => body)).toEqual(['one']);
    expect(await names(1, 2)).toEqual(['Ada', 'Ada']);
    expect(ingest.counts()).toEqual({ records: 2, late: 0, refused: 1, failed: 1 });
  });

  it('is delivered again if it has rows left when the time is over, after which nothing more is written', async () => {
    let calls = 0;
    const { ingest, member } = await newTenant(() => {
      calls += 1;
      return turn();
    });
    await ingest.deliver([member(0)]); // now the account is known
    calls = 0;
    const ids = Array.from({ length: 1_000 }, (_, index) => index + 1);
    const { batchItemFailures } = await ingest.deliver([ids.map((id) => member(id)).join('\n'), member(1_001)], 1, 0);
    expect(batchItemFailures).toHaveLength(2);
    expect(calls).toBeLessThan(1_000);
    expect(ingest.deps.log.lines.length).toBeLessThan(10);
  });
});
