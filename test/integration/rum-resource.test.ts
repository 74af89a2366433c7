import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { getRumResource } from '../../lib/http/operations.ts';
import { newCaller } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import { aroundCalls } from '../support/faults.ts';
import { RUM_RECORD } from '../support/rum.ts';
import { expectData } from '../support/schema.ts';
import { eventFor, handlersOver, invoke, newTable, put, testDeps } from '../support/service.ts';

const NOW = 1_750_000_000_000;
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

const table = await newTable();

/** An account with a RUM record, a clock, and one warm handler. */
async function given(rows: { account_id?: number | bigint; record?: object | null; usage?: object | null } = {}) {
  const { account_id, record = RUM_RECORD, usage = USAGE } = rows;
  const { account, appKey } = await newCaller(table, account_id === undefined ? {} : { account_id });
  const clock = { now: NOW };
  const deps = testDeps(table, { now: () => clock.now });
  const { getRumResource: handler } = handlersOver(deps);
  const putRecord = (row: object) => put(table, keys.rumResource(account), row);
  const putUsage = (row: object) => put(table, keys.rumUsage(account), row);
  if (record) await putRecord(record);
  if (usage) await putUsage(usage);
  const call = (body: object = {}) => invoke(handler, eventFor(getRumResource, { appKey, body }));
  const read = async () => expectData(getRumResource, await call());
  return { account, clock, deps, putRecord, putUsage, call, read };
}

describe('the RUM resource', () => {
  it('is the record with the usage, every integer exact', async () => {
    const tenant = await given({ account_id: 9_007_199_254_740_993n });
    const answer = await tenant.call();
    expectEnvelope(answer, 200);
    expect(answer.text).toContain('"account_id":9007199254740993,');
    expect(answer.text).toContain('"offering_id":9007199254740993,');
    expect(answer.text).toContain('"session_replay.used_cnt":9007199254740995}');
    expect(expectData(getRumResource, answer)).toEqual({ account_id: tenant.account, ...RUM_RECORD, ...USAGE });
  });

  it.each([
    ['there is no usage row', null, NO_USAGE],
    ['a count is not written yet', { 'session_measure.used_cnt': 5 }, { ...NO_USAGE, 'session_measure.used_cnt': 5 }],
    [
      'a count is null, beside attributes of others',
      { ...USAGE, updated_at: 1, status: 'disabled', 'session_replay.used_cnt': null },
      { ...RUM_RECORD, ...USAGE, 'session_replay.used_cnt': 0 },
    ],
  ])('shows 0 and no limit reached while %s', async (_when, usage, expected) => {
    const tenant = await given({ usage });
    // From the table, then with the record from memory.
    for (const no_cache of [true, false])
      expect(expectData(getRumResource, await tenant.call({ no_cache }))).toMatchObject(expected);
  });

  it.each([
    ['record', { record: { ...RUM_RECORD, status: 7, 'view.days': '35' } }, ['status', 'view.days']],
    ['usage', { usage: { ...USAGE, 'session_measure.used_cnt': 1.5 } }, ['session_measure.used_cnt']],
  ] as const)('is InternalError, with the fields in the log, when the %s is malformed', async (_row, rows, fields) => {
    const tenant = await given(rows);
    expectEnvelope(await tenant.call(), 500, 'InternalError');
    const lines = tenant.deps.log.lines.filter(({ message }) => message === 'RUM rows malformed');
    expect(lines.map((line) => line.fields)).toEqual([
      { request_id: expect.any(String), account_id: tenant.account, fields },
    ]);
  });

  it('passes on a plan version and a status that it does not know: further ones may come', async () => {
    const tenant = await given({ record: { ...RUM_RECORD, version: 'enterprise', status: 'paused' } });
    expect(await tenant.read()).toMatchObject({ version: 'enterprise', status: 'paused' });
  });

  it('is served from memory for 60 s, and Age says how old it is', async () => {
    const tenant = await given();
    expect((await tenant.call()).headers.Age).toBe('0');
    await tenant.putRecord({ ...RUM_RECORD, version: 'free' });
    tenant.clock.now += 59_999;
    const remembered = await tenant.call();
    expect(remembered.body.data.version).toBe('professional');
    expect(remembered.headers.Age).toBe('59');
    tenant.clock.now += 1;
    const read = await tenant.call();
    expect(read.body.data.version).toBe('free');
    expect(read.headers.Age).toBe('0');
  });

  it('is as old as the time since its reading began', async () => {
    const tenant = await given();
    await tenant.call(); // looks the app key up
    tenant.clock.now += 60_000;
    await tenant.putRecord({ ...RUM_RECORD, version: 'free' });
    const end = aroundCalls(table, async ({ command }, send) => {
      await send();
      if (command.startsWith('Query')) tenant.clock.now += 2_000;
    });
    expect((await tenant.call()).headers.Age).toBe('2');
    end();
    await tenant.putRecord(RUM_RECORD);
    tenant.clock.now += 57_999;
    expect((await tenant.read()).version).toBe('free');
    tenant.clock.now += 1;
    expect((await tenant.read()).version).toBe('professional');
  });

  it('is 0 s old, and then read again, when the clock is set back while it is read', async () => {
    const tenant = await given();
    const end = aroundCalls(table, async ({ command }, send) => {
      await send();
      if (command.startsWith('Query')) tenant.clock.now -= 5_000;
    });
    expect((await tenant.call()).headers.Age).toBe('0');
    end();
    await tenant.putRecord({ ...RUM_RECORD, version: 'free' });
    expect((await tenant.read()).version).toBe('free');
  });

  it('is read from the table with no_cache, which refreshes the cache for those who use it', async () => {
    const tenant = await given();
    await tenant.call();
    tenant.clock.now += 10_000;
    await tenant.putRecord({ ...RUM_RECORD, version: 'free' });
    expect((await tenant.call()).body.data.version).toBe('professional');
    const bypassed = await tenant.call({ no_cache: true });
    expect(bypassed.body.data.version).toBe('free');
    expect(bypassed.headers.Age).toBe('0');
    tenant.clock.now += 5_000;
    const after = await tenant.call({ no_cache: false });
    expect(after.body.data.version).toBe('free');
    expect(after.headers.Age).toBe('5');
  });

  it('shows the usage as it is at every call', async () => {
    const tenant = await given();
    await tenant.call();
    await tenant.putUsage({ ...USAGE, 'session_measure.used_cnt': 77 });
    const answer = await tenant.call();
    expect(answer.body.data['session_measure.used_cnt']).toBe(77);
  });

  it('that was deleted is gone at once with no_cache, and from then on for all', async () => {
    const tenant = await given();
    expectEnvelope(await tenant.call(), 200);
    await tenant.putRecord({ ...RUM_RECORD, deleted: true });
    expectEnvelope(await tenant.call({ no_cache: true }), 400, 'ResourceNotFound');
    expectEnvelope(await tenant.call(), 400, 'ResourceNotFound');
  });

  it('of one account is never shown to another', async () => {
    const [one, other] = [await given(), await given({ record: null, usage: null })];
    for (const no_cache of [true, false]) {
      expectEnvelope(await one.call({ no_cache }), 200);
      expectEnvelope(await other.call({ no_cache }), 400, 'ResourceNotFound');
    }
  });
});
