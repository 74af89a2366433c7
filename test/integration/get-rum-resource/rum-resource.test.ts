import { expect, it } from 'vitest';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller, RUM_RECORD } from '../../support/accounts.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { hookedTable } from '../../support/faults.ts';
import { callAlone, createHandlers, NOW, put, testDeps } from '../../support/service.ts';

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
/** With a plan and a status that the service does not know: further ones may come. */
const OTHER_PLAN = { ...RUM_RECORD, version: 'enterprise', status: 'paused' };
/** The record after a change, to tell it from the one that is remembered. */
const CHANGED = { ...RUM_RECORD, version: 'free' };

/** An account with a RUM record and, unless it is null, a usage row; a clock, and one warm handler. */
async function newTenant({ record = RUM_RECORD, usage = USAGE }: { record?: object; usage?: object | null } = {}) {
  const clock = { now: NOW, monotonic: 0, msOfQuery: 0 };
  const { table, hooked, hook } = hookedTable();
  hook.around = (reply, { name }) => {
    if (name === 'QueryCommand') clock.now += clock.msOfQuery;
    return reply();
  };
  const { account, appKey } = await newCaller(table);
  const deps = testDeps(hooked, { now: () => clock.now, monotonicNow: () => clock.monotonic });
  const handlers = createHandlers(deps);
  const putRecord = (row: object) => put(table, keys.rumResource(account), row);
  await putRecord(record);
  if (usage) await put(table, keys.rumUsage(account), usage);
  const call = (body: object = {}) => callAlone(handlers, getRumResource, { appKey, body });
  return {
    ...{ account, clock, deps, putRecord, call },
    /** The version that an answer shows, and its header Age. */
    async versionAndAge() {
      const answer = await call();
      return [expectData(getRumResource, answer).version, answer.headers.Age];
    },
  };
}

it.each([
  ['there is no usage row', null, NO_USAGE],
  [
    'a count is null, and the row also has attributes of the record',
    { ...USAGE, updated_at: 1, status: 'disabled', 'session_replay.used_cnt': null },
    { ...OTHER_PLAN, ...USAGE, 'session_replay.used_cnt': 0 },
  ],
])('a RUM resource shows 0 and no limit reached while %s', async (_when, usage, expected) => {
  const tenant = await newTenant({ record: OTHER_PLAN, usage });
  // From the table, then with the record from memory.
  for (const no_cache of [true, false])
    expect(expectData(getRumResource, await tenant.call({ no_cache }))).toMatchObject(expected);
});

it.each([
  ['record', { record: { ...RUM_RECORD, status: 7, 'view.days': '35' } }, ['status', 'view.days']],
  ['usage', { usage: { ...USAGE, 'session_measure.used_cnt': 1.5 } }, ['session_measure.used_cnt']],
])(
  'a RUM resource is InternalError, with the fields in the log, when its %s is malformed',
  async (_row, rows, fields) => {
    const { account, call, deps } = await newTenant(rows);
    const answer = await call();
    expectEnvelope(answer, 500, 'InternalError');
    const { request_id } = answer.body;
    expect(deps.log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', fields: { request_id, account_id: account, fields } }),
    );
  },
);

it('a record is served from memory for 60 s since its reading began, which is its age', async () => {
  const { clock, putRecord, versionAndAge } = await newTenant();
  clock.msOfQuery = 2_000;
  expect(await versionAndAge()).toEqual(['professional', '2']);
  clock.msOfQuery = 0;
  await putRecord(CHANGED);
  clock.now += 57_999;
  expect(await versionAndAge()).toEqual(['professional', '59']);
  clock.now += 1;
  expect(await versionAndAge()).toEqual(['free', '0']);
});

it('a record is served from memory for 60 s, also if the clock is set back meanwhile, and its age is not', async () => {
  const { clock, putRecord, versionAndAge } = await newTenant();
  expect(await versionAndAge()).toEqual(['professional', '0']);
  await putRecord(CHANGED);
  clock.now += 1;
  clock.monotonic += 59_999;
  expect(await versionAndAge()).toEqual(['professional', '59']);
  clock.monotonic += 1;
  expect(await versionAndAge()).toEqual(['free', '0']);
  clock.now -= 3_600_000;
  await putRecord(RUM_RECORD);
  expect(await versionAndAge()).toEqual(['professional', '0']);
});

it('a record that was deleted is gone at once with no_cache, and from then on for all', async () => {
  const { putRecord, call } = await newTenant();
  expectEnvelope(await call(), 200);
  await putRecord({ ...RUM_RECORD, deleted: true });
  for (const body of [{ no_cache: true }, {}]) expectEnvelope(await call(body), 400, 'ResourceNotFound');
});
