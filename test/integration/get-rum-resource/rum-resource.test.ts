import { describe, expect, it } from 'vitest';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller, RUM_RECORD } from '../../support/accounts.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { aroundCalls } from '../../support/faults.ts';
import { eventFor, handlersOver, invoke, newTable, put, testDeps } from '../../support/service.ts';

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
/** The record after a change, to tell it from the one that is remembered. */
const CHANGED = { ...RUM_RECORD, version: 'free' };

const table = await newTable();

interface Rows {
  account_id?: bigint;
  record?: object;
  /** null: there is no such row. */
  usage?: object | null;
}

/** An account with a RUM record, a clock, and one warm handler. */
async function newTenant({ account_id, record = RUM_RECORD, usage = USAGE }: Rows = {}) {
  const { account, appKey } = await newCaller(table, account_id === undefined ? {} : { account_id });
  const clock = { now: NOW };
  const deps = testDeps(table, { now: () => clock.now });
  const { getRumResource: handler } = handlersOver(deps);
  const putRecord = (row: object) => put(table, keys.rumResource(account), row);
  await putRecord(record);
  if (usage) await put(table, keys.rumUsage(account), usage);
  const call = (body: object = {}) => invoke(handler, eventFor(getRumResource, { appKey, body }));
  return {
    account,
    clock,
    deps,
    putRecord,
    call,
    /** The version that an answer shows, and its header Age. */
    async versionAndAge(body: object = {}) {
      const answer = await call(body);
      return [expectData(getRumResource, answer).version, answer.headers.Age];
    },
    /** Lets every query of the table take this long. @returns a function that ends this */
    slowedBy: (ms: number) =>
      aroundCalls(table, async ({ command }, send) => {
        await send();
        if (command.startsWith('Query')) clock.now += ms;
      }),
  };
}

describe('the RUM resource', () => {
  it.each([
    ['there is no usage row', null, NO_USAGE],
    ['a count is not written yet', { 'session_measure.used_cnt': 5 }, { ...NO_USAGE, 'session_measure.used_cnt': 5 }],
    [
      'a count is null, and the row also has attributes of the record',
      { ...USAGE, updated_at: 1, status: 'disabled', 'session_replay.used_cnt': null },
      { ...RUM_RECORD, ...USAGE, 'session_replay.used_cnt': 0 },
    ],
  ])('shows 0 and no limit reached while %s', async (_when, usage, expected) => {
    const tenant = await newTenant({ usage });
    // From the table, then with the record from memory.
    for (const no_cache of [true, false])
      expect(expectData(getRumResource, await tenant.call({ no_cache }))).toMatchObject(expected);
  });

  it.each([
    ['record', { record: { ...RUM_RECORD, status: 7, 'view.days': '35' } }, ['status', 'view.days']],
    ['usage', { usage: { ...USAGE, 'session_measure.used_cnt': 1.5 } }, ['session_measure.used_cnt']],
  ] as const)('is InternalError, with the fields in the log, when the %s is malformed', async (_row, rows, fields) => {
    const tenant = await newTenant(rows);
    expectEnvelope(await tenant.call(), 500, 'InternalError');
    const lines = tenant.deps.log.lines.filter(({ message }) => message === 'RUM rows malformed');
    const request_id = expect.any(String);
    expect(lines).toMatchObject([{ fields: { request_id, account_id: tenant.account, fields } }]);
  });

  it('passes on a plan version and a status that it does not know: further ones may come', async () => {
    const unknown = { version: 'enterprise', status: 'paused' };
    const { call } = await newTenant({ record: { ...RUM_RECORD, ...unknown } });
    expect(expectData(getRumResource, await call())).toMatchObject(unknown);
  });

  it('is served from memory for 60 s, and Age says how old it is', async () => {
    const { clock, putRecord, versionAndAge } = await newTenant();
    expect(await versionAndAge()).toEqual(['professional', '0']);
    await putRecord(CHANGED);
    clock.now += 59_999;
    expect(await versionAndAge()).toEqual(['professional', '59']);
    clock.now += 1;
    expect(await versionAndAge()).toEqual(['free', '0']);
  });

  it('is as old as the time since its reading began', async () => {
    const { clock, putRecord, versionAndAge, slowedBy } = await newTenant({ record: CHANGED });
    const stopSlowing = slowedBy(2_000);
    expect(await versionAndAge()).toEqual(['free', '2']);
    stopSlowing();
    await putRecord(RUM_RECORD);
    clock.now += 57_999;
    expect(await versionAndAge()).toEqual(['free', '59']);
    clock.now += 1;
    expect(await versionAndAge()).toEqual(['professional', '0']);
  });

  it('is 0 s old, and then read again, when the clock is set back while it is read', async () => {
    const { putRecord, versionAndAge, slowedBy } = await newTenant();
    const stopSlowing = slowedBy(-5_000);
    expect(await versionAndAge()).toEqual(['professional', '0']);
    stopSlowing();
    await putRecord(CHANGED);
    expect(await versionAndAge()).toEqual(['free', '0']);
  });

  it('that was deleted is gone at once with no_cache, and from then on for all', async () => {
    const { putRecord, call } = await newTenant();
    expectEnvelope(await call(), 200);
    await putRecord({ ...RUM_RECORD, deleted: true });
    for (const body of [{ no_cache: true }, {}]) expectEnvelope(await call(body), 400, 'ResourceNotFound');
  });
});
