/** Fleet browse when reads fail, hang or are not counted, and its cursors. The contract and the properties beside this file have the rest. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { putAccount } from '../../../packages/admin/accounts/accounts.ts';
import { identityOfAppKey, newAppKey, putAppKey } from '../../../packages/admin/accounts/app-key-admin.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { connectionLost, hookedTable, noReply } from '../../support/faults.ts';
import { hostId, hostIdsOf, inventory, live, newFleet } from '../../support/fleet.ts';
import { NOW, PATIENT_LIMITS, put } from '../../support/service.ts';
import { within } from '../../support/within.ts';

const invalid = () => Promise.reject(Object.assign(new Error('quotes a query'), { name: 'ValidationException' }));
const throttled = () => Promise.reject(Object.assign(new Error(), { name: 'ThrottlingException' }));

/** A fleet of three hosts. @param fail answers a read in place of the table; undefined: the table answers */
async function threeHosts(fail: (read: string, signal?: AbortSignal) => unknown, timeLimits = PATIENT_LIMITS) {
  const { table, hooked, hook } = hookedTable();
  hook.around = (reply, { name, input }, signal) => {
    const values = JSON.stringify(input, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
    const [read = name] = /HOST_STATUSES|HOSTS/.exec(values) ?? [];
    return fail(read, signal) ?? reply();
  };
  const fleet = await newFleet(table, { through: hooked, timeLimits });
  for (const id of [1, 2, 3].map(hostId)) {
    await fleet.putHosts({ [id]: inventory() });
    await fleet.putLive({ [id]: live() });
  }
  return fleet;
}

it('live status that does not come within its time is given up, and the answer is the same', async () => {
  const limits = { ...PATIENT_LIMITS, liveStatusMs: 50 };
  const fleet = await threeHosts((read, signal) => (read === 'HOST_STATUSES' ? noReply(signal) : undefined), limits);
  const page = expectData(browseFleet, await within(15_000, () => fleet.browse()));
  expect(page).toMatchObject({ partial: true, coverage: { returned: 3, failed: 3 } });
});

it('live status that fails for some candidates counts only those as failed, and the log says so once', async () => {
  let reads = 0;
  const fleet = await threeHosts((read) => {
    if (read !== 'HOST_STATUSES') return undefined;
    reads += 1;
    return reads > 1 ? invalid() : undefined;
  });
  const ids = Array.from({ length: 110 }, (_, index) => `z-${String(index).padStart(3, '0')}`);
  await fleet.putHosts(Object.fromEntries(ids.map((id) => [id, inventory({ edge_cluster: 'us' })])));
  await fleet.putLive(Object.fromEntries(ids.map((id) => [id, live()])));
  const answer = await fleet.browse({ limit: 100, edge_clusters: ['us'] });
  const page = expectData(browseFleet, answer);
  // The first read covers 101 hosts, three in eu and 98 in us; the later one fails.
  expect(page.items.filter((item: { servicemap: object }) => 'error_code' in item.servicemap)).toHaveLength(2);
  expect(page.coverage).toMatchObject({ scanned: 103, matched: 100, failed: 2 });
  const fields = { request_id: answer.body.request_id, error_name: 'ValidationException' };
  const warnings = fleet.deps.log.lines.filter(({ level }) => level === 'warn');
  expect(warnings).toEqual([{ level: 'warn', message: 'live status unreadable', fields }]);
});

it('a call that cannot be counted is ServiceUnavailable, without rate-limit headers', async () => {
  const answer = await (await threeHosts((read) => (read === 'UpdateCommand' ? throttled() : undefined))).browse();
  expectEnvelope(answer, 503, 'ServiceUnavailable');
  expect(Object.keys(answer.headers).filter((name) => /rate-?limit/i.test(name))).toEqual([]);
});

it('a cursor works with any key of its account, also one issued later, and after the account is imported again', async () => {
  const { table } = hookedTable();
  const account = { account_id: 1, name: 'Acme', permissions: ['monit'] };
  const browseWith = async (appKey: string) => {
    await putAppKey(table, await putAccount(table, account), identityOfAppKey(appKey), { created_at: 1 });
    return newFleet(table, { caller: { account: account.account_id, appKey } });
  };
  const withFirstKey = await browseWith(newAppKey());
  await withFirstKey.putHosts({ a: inventory(), b: inventory(), c: inventory() });
  const { next_cursor: cursor } = expectData(browseFleet, await withFirstKey.browse({ limit: 1 }));
  const withSecondKey = await browseWith(newAppKey());
  for (const { browse } of [withSecondKey, withFirstKey])
    expect(hostIdsOf(expectData(browseFleet, await browse({ cursor })))).toEqual(['b', 'c']);
});

it.each([
  { reads: 'come after', readTurns: 20, countTurns: 0, fail: false },
  { reads: 'fail before', readTurns: 0, countTurns: 20, fail: true },
])('of a call that is refused, only first reads are made, and dropped if they $reads the count', async (given) => {
  const { table, hooked, hook } = hookedTable();
  const { account, browse, putHosts, deps } = await newFleet(table, { through: hooked });
  await putHosts(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [hostId(index), inventory()])));
  await browse(); // reads the app key, and resets the count
  const usedUp = { total: 30, nonces: new Set(['x']) };
  await put(table, keys.rateCount(account, 'browse-fleet', NOW / 60_000), usedUp);
  hook.calls.length = 0;
  let underWay = 0;
  hook.around = async (reply, { name }) => {
    const isCount = name === 'UpdateCommand';
    underWay += 1;
    for (let turns = isCount ? given.countTurns : given.readTurns; turns > 0; turns -= 1) await nextTurn();
    underWay -= 1;
    if (given.fail && !isCount) throw connectionLost();
    return reply();
  };
  const answer = await browse({ edge_clusters: ['none'] });
  expectEnvelope(answer, 429, 'RequestTooFrequently');
  expect(answer.headers).toMatchObject({ 'X-RateLimit-Remaining': '0' });
  expect([hook.calls.length, underWay]).toEqual([3, 0]);
  expect(deps.log.lines.filter(({ message }) => message === 'call failed')).toEqual([]);

  expectEnvelope(await browse(), 429, 'RequestTooFrequently');
  expect(hook.calls.length, 'a call that follows a refusal').toBe(3);
});
