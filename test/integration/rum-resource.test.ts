import { beforeAll, describe, expect, it } from 'vitest';
import { getRumResource } from '../../lib/api/operations.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { newCaller } from '../support/accounts.ts';
import { hasEnvelope } from '../support/answers.ts';
import { conforms } from '../support/schema.ts';
import { eventFor, handlersOver, invoke, newTable, put, testDeps } from '../support/service.ts';
import { tapWire } from '../support/wire.ts';

const NOW = 1_750_000_000_000;
const RECORD = {
  product: 'rum',
  version: 'professional',
  status: 'enabled',
  offering_id: 9_007_199_254_740_993n,
  order_id: 'o-1',
  resource_id: 'r-1',
  resource_name: 'RUM',
  created_at: 1_700_000_000,
  updated_at: 1_700_000_001,
  window_start_time: 1_749_000_000,
  window_end_time: 1_751_000_000,
  'action.days': 30,
  'error.days': 31,
  'long_task.days': 32,
  'resource.days': 33,
  'session.days': 34,
  'view.days': 35,
  'session_investigate.free_cnt': 1_000,
  'session_measure.free_cnt': 2_000,
  'session_replay.free_cnt': 3_000,
};
const USAGE = {
  session_limit_reached: true,
  'session_investigate.used_cnt': 1,
  'session_measure.used_cnt': 2,
  'session_replay.used_cnt': 9_007_199_254_740_995n,
};
const NO_USAGE = {
  session_limit_reached: false,
  'session_investigate.used_cnt': 0,
  'session_measure.used_cnt': 0,
  'session_replay.used_cnt': 0,
};

let table: Table;
beforeAll(async () => {
  table = await newTable();
});

/** An account with a RUM record, a clock, and one warm handler. */
async function given(rows: { account_id?: number | bigint; record?: object | null; usage?: object | null } = {}) {
  const { account_id, record = RECORD, usage = USAGE } = rows;
  const { account, appKey } = await newCaller(table, account_id === undefined ? {} : { account_id });
  const clock = { now: NOW };
  const { getRumResource: handler } = handlersOver(testDeps(table, { now: () => clock.now }));
  const putRecord = (row: object) => put(table, keys.rumResource(account), row);
  const putUsage = (row: object) => put(table, keys.rumUsage(account), row);
  if (record) await putRecord(record);
  if (usage) await putUsage(usage);
  return {
    account,
    clock,
    putRecord,
    putUsage,
    call: (body: object = {}) => invoke(handler, eventFor(getRumResource, { appKey, body })),
  };
}

describe('the RUM resource', () => {
  it('is the record with the usage, every integer exact', async () => {
    const at = await given({ account_id: 9_007_199_254_740_993n });
    const answer = await at.call();
    hasEnvelope(answer, 200);
    expect(answer.text).toContain('"account_id":9007199254740993,');
    expect(answer.text).toContain('"offering_id":9007199254740993,');
    expect(answer.text).toContain('"session_replay.used_cnt":9007199254740995}');
    expect(conforms(getRumResource, answer)).toEqual({ account_id: at.account, ...RECORD, ...USAGE });
  });

  it('has counts of 0 and no limit reached while there is no usage row', async () => {
    const at = await given({ usage: null });
    expect(conforms(getRumResource, await at.call())).toMatchObject(NO_USAGE);
    expect(conforms(getRumResource, await at.call())).toMatchObject(NO_USAGE);
  });

  it('shows 0 for a count that the metering side has not written yet', async () => {
    const at = await given({ usage: { 'session_measure.used_cnt': 5 } });
    for (const no_cache of [true, false])
      expect(conforms(getRumResource, await at.call({ no_cache }))).toMatchObject({
        ...NO_USAGE,
        'session_measure.used_cnt': 5,
      });
  });

  it('serves the record for 60 s from memory, and Age says how old it is', async () => {
    const at = await given();
    expect((await at.call()).headers.Age).toBe('0');
    await at.putRecord({ ...RECORD, version: 'free' });
    at.clock.now += 59_999;
    const remembered = await at.call();
    expect(remembered.body.data.version).toBe('professional');
    expect(remembered.headers.Age).toBe('59');
    at.clock.now += 1;
    const read = await at.call();
    expect(read.body.data.version).toBe('free');
    expect(read.headers.Age).toBe('0');
  });

  it('is read from the table with no_cache, which refreshes the cache for those who use it', async () => {
    const at = await given();
    await at.call();
    at.clock.now += 10_000;
    await at.putRecord({ ...RECORD, version: 'free' });
    expect((await at.call()).body.data.version).toBe('professional');
    const bypassed = await at.call({ no_cache: true });
    expect(bypassed.body.data.version).toBe('free');
    expect(bypassed.headers.Age).toBe('0');
    at.clock.now += 5_000;
    const after = await at.call({ no_cache: false });
    expect(after.body.data.version).toBe('free');
    expect(after.headers.Age).toBe('5');
  });

  it('shows the usage as it is at every call', async () => {
    const at = await given();
    await at.call();
    await at.putUsage({ ...USAGE, 'session_measure.used_cnt': 77 });
    const answer = await at.call();
    expect(answer.body.data['session_measure.used_cnt']).toBe(77);
  });

  it('takes one DynamoDB call, from memory or not', async () => {
    const at = await given();
    const tap = tapWire(table);
    const calls = async (body: object) => {
      const before = tap.attempts.length;
      await at.call(body);
      return tap.attempts.length - before;
    };
    expect(await calls({})).toBe(2); // the app key's look-up is the other
    expect(await calls({})).toBe(1);
    expect(await calls({ no_cache: true })).toBe(1);
    tap.remove();
  });

  it('is ResourceNotFound when there is no record, or it is marked deleted', async () => {
    hasEnvelope(await (await given({ record: null })).call(), 400, 'ResourceNotFound');
    hasEnvelope(await (await given({ record: { ...RECORD, deleted: true } })).call(), 400, 'ResourceNotFound');
  });

  it('that was deleted is gone at once with no_cache, and from then on for all', async () => {
    const at = await given();
    hasEnvelope(await at.call(), 200);
    await at.putRecord({ ...RECORD, deleted: true });
    hasEnvelope(await at.call({ no_cache: true }), 400, 'ResourceNotFound');
    hasEnvelope(await at.call(), 400, 'ResourceNotFound');
  });

  it('of one account is never shown to another', async () => {
    const [one, other] = [await given(), await given({ record: null, usage: null })];
    hasEnvelope(await one.call(), 200);
    hasEnvelope(await other.call(), 400, 'ResourceNotFound');
  });
});
