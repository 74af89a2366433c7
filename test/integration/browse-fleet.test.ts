import { describe, expect, it } from 'vitest';
import { browseFleet, FLEET_STATUSES } from '../../lib/http/operations.ts';
import { putAccount } from '../../packages/admin/accounts/accounts.ts';
import { identityOfAppKey, newAppKey, putAppKey } from '../../packages/admin/accounts/app-key-admin.ts';
import { newAccountId } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import { hostId, hostIdsOf, inventory, live, newFleet } from '../support/fleet.ts';
import { expectData } from '../support/schema.ts';
import { NOW, newTable } from '../support/service.ts';

const table = await newTable();

/** A fleet of `count` hosts. @param active how many of them, from the first on, are active; the others have no live row */
async function given(count: number, active = count) {
  const fleet = await newFleet(table);
  const ids = Array.from({ length: count }, (_, index) => hostId(index + 1));
  await fleet.putHosts(Object.fromEntries(ids.map((id) => [id, inventory()])));
  await fleet.putLive(Object.fromEntries(ids.slice(0, active).map((id) => [id, live()])));
  const data = async (body: object = {}) => expectData(browseFleet, await fleet.browse(body));
  const idsOf = async (body: object) => hostIdsOf(await data(body));
  return { ...fleet, ids, data, idsOf };
}

describe('a page', () => {
  it('of a fleet without hosts is empty and the last', async () => {
    const { data } = await given(0);
    expect(await data()).toEqual({
      items: [],
      coverage: {
        scanned: 0,
        matched: 0,
        returned: 0,
        failed: 0,
        states: Object.fromEntries(FLEET_STATUSES.map((status) => [status, 0])),
      },
      partial: false,
      truncated: false,
      generated_at_ms: NOW,
    });
  });

  it('has the hosts in ascending order of host_id, 50 when limit is not given', async () => {
    const { ids, data } = await given(60);
    const page = await data();
    expect(hostIdsOf(page)).toEqual(ids.slice(0, 50));
    expect(page.coverage).toMatchObject({ scanned: 50, matched: 50, returned: 50, failed: 0 });
    expect(page.coverage.states.active).toBe(50);
    expect(page).toMatchObject({ partial: false, truncated: false, next_cursor: expect.any(String) });
    expect(page).not.toHaveProperty('truncation_reasons');
  });
});

describe('scan_limit', () => {
  it('examines 1,000 candidates when it is not given, and 2,000 at the most', async () => {
    const { data } = await given(2_001, 0);
    expect((await data({ edge_clusters: ['us'] })).coverage.scanned).toBe(1_000);
    const page = await data({ limit: 1, scan_limit: 2_000, edge_clusters: ['us'] });
    expect(page).toMatchObject({ coverage: { scanned: 2_000 }, truncated: true, next_cursor: expect.any(String) });
  });
});

// `browse-walk.property` shows filters with random values.
it.each([
  [{ edge_clusters: ['US'] }, []],
  [{ edge_clusters: ['e'] }, []],
  [{ edge_clusters: ['us', 'us'] }, ['b']],
])('a filter takes exact values, given once or repeated: %j', async (filter, expected) => {
  const { putHosts, idsOf } = await given(0);
  await putHosts({ a: inventory({ edge_cluster: 'eu' }), b: inventory({ edge_cluster: 'us' }) });
  expect(await idsOf(filter)).toEqual(expected);
});

describe('a cursor', () => {
  it('that is empty gives the first page', async () => {
    const { idsOf } = await given(3);
    expect(await idsOf({ limit: 2, cursor: '' })).toEqual(await idsOf({ limit: 2 }));
  });

  it('goes on with any key of its account, also one that is issued later, and after the account was imported again', async () => {
    const account = { account_id: newAccountId(), name: 'Acme', permissions: ['monit'] };
    const browseWith = async (appKey: string) => {
      await putAppKey(table, await putAccount(table, account), identityOfAppKey(appKey), { created_at: 1 });
      return newFleet(table, { caller: { account: account.account_id, appKey } });
    };
    const first = await browseWith(newAppKey());
    await first.putHosts({ a: inventory(), b: inventory(), c: inventory() });
    const { next_cursor: cursor } = expectData(browseFleet, await first.browse({ limit: 1 }));
    const second = await browseWith(newAppKey());
    for (const each of [second, first]) {
      expect(hostIdsOf(expectData(browseFleet, await each.browse({ cursor })))).toEqual(['b', 'c']);
    }
  });

  it('of another account is InvalidParameter', async () => {
    const [mine, theirs] = [await given(3), await given(3)];
    const { next_cursor: cursor } = await theirs.data({ limit: 1 });
    expectEnvelope(await mine.browse({ cursor }), 400, 'InvalidParameter');
    expect((await theirs.data({ cursor })).items).toHaveLength(2);
  });

  it('that is wrong is named beside every other field that is wrong', async () => {
    const { browse } = await given(1);
    const messageOf = async (body: object) => {
      const answer = await browse(body);
      expectEnvelope(answer, 400, 'InvalidParameter');
      return answer.body.error.message;
    };
    const cursor =
      'cursor must be a next_cursor that this service returned to this account (leave it out for the first page)';
    expect(await messageOf({ cursor: 'nonsense' })).toBe(`${cursor}.`);
    expect(await messageOf({ cursor: 'nonsense', limit: 500 })).toBe(
      `limit must be an integer from 1 to 100; ${cursor}.`,
    );
    expect(await messageOf({ cursor: 'nonsense', limit: 5, scan_limit: 2 })).toBe(
      `scan_limit must be an integer from 5 (limit) to 2000; ${cursor}.`,
    );
    expect(await messageOf({ cursor: 7 })).toBe('cursor must be a string.');
  });
});

describe('an answer', () => {
  it('shows integers beyond 2^53 as they are stored', async () => {
    const fleet = await given(0);
    const big = 9_007_199_254_740_993n;
    await fleet.putHosts({ h: inventory({ report_interval_ms: big }) });
    await fleet.putLive({ h: live({ node_count: big, observed_at_ms: big }) });
    const [{ servicemap }] = (await fleet.data()).items;
    expect(servicemap).toMatchObject({ report_interval_ms: big, node_count: big, observed_at_ms: big });
  });

  it('has no hosts of another account, and none that has a live row only', async () => {
    const [mine, theirs] = [await given(2), await given(5)];
    expect(await theirs.idsOf({})).toHaveLength(5);
    await mine.putLive({ '0-orphan': live(), 'host-00001x': live(), zzz: live() });
    const page = await mine.data();
    expect(hostIdsOf(page)).toEqual(mine.ids);
    expect(page.coverage).toMatchObject({ scanned: 2, failed: 0 });
  });
});
