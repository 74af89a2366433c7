import { describe, expect, it } from 'vitest';
import { browseFleet, FLEET_STATUSES } from '../../lib/http/operations.ts';
import { putAccount } from '../../packages/admin/accounts/accounts.ts';
import { identityOfAppKey, newAppKey, putAppKey } from '../../packages/admin/accounts/app-key-admin.ts';
import { newAccountId } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import { hostId, hostIdsOf, type Inventory, inventory, live, newFleet } from '../support/fleet.ts';
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

  it('that ends on the last host has no cursor, even when it is full', async () => {
    const { data } = await given(4);
    expect(await data({ limit: 4 })).not.toHaveProperty('next_cursor');
    expect(await data({ limit: 5 })).not.toHaveProperty('next_cursor');
    const first = await data({ limit: 3 });
    const last = await data({ limit: 3, cursor: first.next_cursor });
    expect(last.items).toHaveLength(1);
    expect(last).not.toHaveProperty('next_cursor');
  });

  it('continues after the host where the one before it stopped', async () => {
    const { ids, data, idsOf } = await given(7);
    const { next_cursor: cursor } = await data({ limit: 3 });
    expect(await idsOf({ limit: 3, cursor })).toEqual(ids.slice(3, 6));
    expect(await idsOf({ limit: 3, cursor })).toEqual(ids.slice(3, 6));
  });

  it('counts in scanned exactly the candidates up to where it stopped', async () => {
    const fleet = await given(10);
    await fleet.putHosts({
      [hostId(3)]: inventory({ edge_cluster: 'us' }),
      [hostId(6)]: inventory({ edge_cluster: 'us' }),
    });
    const page = await fleet.data({ limit: 2, edge_clusters: ['us'] });
    expect(page.coverage).toMatchObject({ scanned: 6, matched: 2, returned: 2 });
    expect(page.next_cursor).toBeDefined();
    expect(await fleet.data({ limit: 3, edge_clusters: ['us'] })).toMatchObject({
      coverage: { scanned: 10, matched: 2 },
      truncated: false,
    });
  });
});

describe('scan_limit', () => {
  it('that ends the scan makes the page truncated and partial, with the reason and a cursor', async () => {
    const { data } = await given(10);
    const page = await data({ limit: 2, scan_limit: 4, edge_clusters: ['us'] });
    expect(page).toMatchObject({
      items: [],
      coverage: { scanned: 4, matched: 0, returned: 0 },
      partial: true,
      truncated: true,
      truncation_reasons: ['scan_limit_reached'],
      next_cursor: expect.any(String),
    });
    const last = await data({ limit: 2, scan_limit: 6, edge_clusters: ['us'], cursor: page.next_cursor });
    expect(last).toMatchObject({ coverage: { scanned: 6 }, truncated: false, partial: false });
    expect(last).not.toHaveProperty('next_cursor');
  });

  it('that is reached with the last match does not make it truncated', async () => {
    const { data } = await given(5);
    const page = await data({ limit: 3, scan_limit: 3 });
    expect(page).toMatchObject({ truncated: false, partial: false, next_cursor: expect.any(String) });
    expect(page).not.toHaveProperty('truncation_reasons');
  });

  it.each([
    [{ scan_limit: 49 }, 'scan_limit must be an integer from 50 (limit) to 2000.'],
    [{ limit: 100, scan_limit: 99 }, 'scan_limit must be an integer from 100 (limit) to 2000.'],
  ])('below limit is InvalidParameter: %j', async (body, message) => {
    const answer = await (await given(0)).browse(body);
    expectEnvelope(answer, 400, 'InvalidParameter');
    expect(answer.body.error.message).toBe(message);
  });

  it('examines 1,000 candidates when it is not given, and 2,000 at the most', async () => {
    const { data } = await given(2_001, 0);
    expect((await data({ edge_clusters: ['us'] })).coverage.scanned).toBe(1_000);
    const page = await data({ limit: 1, scan_limit: 2_000, edge_clusters: ['us'] });
    expect(page).toMatchObject({ coverage: { scanned: 2_000 }, truncated: true, next_cursor: expect.any(String) });
  });
});

describe('filters', () => {
  async function mixed() {
    const fleet = await given(0);
    await fleet.putHosts({
      a: inventory({ agent_version: '1', edge_cluster: 'eu', capture_mode: 'ebpf' }),
      b: inventory({ agent_version: '2', edge_cluster: 'eu', capture_mode: 'polling' }),
      c: inventory({ agent_version: '1', edge_cluster: 'us' }),
      d: inventory({ agent_version: '3', edge_cluster: 'us', capture_mode: 'pcap', enabled: false }),
    });
    await fleet.putLive({ a: live(), b: live({ snapshot_degraded: true }) });
    return fleet;
  }

  it.each([
    [{ statuses: ['active'] }, ['a']],
    [{ statuses: ['active', 'degraded'] }, ['a', 'b']],
    [{ statuses: ['no_data', 'disabled'] }, ['c', 'd']],
    [{ agent_versions: ['1'] }, ['a', 'c']],
    [{ agent_versions: ['1', '3'] }, ['a', 'c', 'd']],
    [{ edge_clusters: ['us'] }, ['c', 'd']],
    [{ edge_clusters: ['US'] }, []],
    [{ edge_clusters: ['e'] }, []],
    [{ capture_modes: ['ebpf'] }, ['a']],
    [{ capture_modes: ['unknown'] }, ['c']],
    [{ capture_modes: ['unknown', 'polling'] }, ['b', 'c']],
    [{ agent_versions: ['1'], edge_clusters: ['us'] }, ['c']],
    [{ agent_versions: ['1', '2'], edge_clusters: ['eu'], statuses: ['degraded'] }, ['b']],
    [{ agent_versions: ['2'], capture_modes: ['ebpf'] }, []],
    [{ statuses: [], agent_versions: [], edge_clusters: [], capture_modes: [] }, ['a', 'b', 'c', 'd']],
    [{ agent_versions: ['1', '1'] }, ['a', 'c']],
  ])('are ANDed, the values of one are ORed, an empty one filters nothing: %j', async (body, expected) => {
    expect(await (await mixed()).idsOf(body)).toEqual(expected);
  });

  it('may change between pages', async () => {
    const { data, idsOf } = await mixed();
    const { next_cursor: cursor } = await data({ limit: 1, edge_clusters: ['eu'] });
    expect(await idsOf({ cursor, edge_clusters: ['us'] })).toEqual(['c', 'd']);
  });
});

describe('a cursor', () => {
  it('that is empty gives the first page', async () => {
    const { idsOf } = await given(3);
    expect(await idsOf({ limit: 2, cursor: '' })).toEqual(await idsOf({ limit: 2 }));
  });

  it.each(['x', 'AAAAAAAAAAAAAAAAAAAAAAAA', '\u0000', 'é'.repeat(500)])(
    'that was never issued, such as %j, is InvalidParameter',
    async (cursor) => {
      const answer = await (await given(1)).browse({ cursor });
      expectEnvelope(answer, 400, 'InvalidParameter');
      expect(answer.body.error.message).toContain('cursor');
    },
  );

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
  it('counts the returned items by status, zero-filled, and sums them up to returned', async () => {
    const fleet = await given(3);
    await fleet.putHosts({ [hostId(2)]: inventory({ enabled: false }), other: inventory() });
    const { coverage } = await fleet.data();
    expect(coverage.states).toEqual({
      active: 2,
      degraded: 0,
      stale: 0,
      initializing: 0,
      disabled: 1,
      unsupported: 0,
      no_data: 1,
    });
  });

  it('leaves out optional fields without a value: none is ever null', async () => {
    const fleet = await given(0);
    await fleet.putHosts({ bare: inventory(), full: inventory({ capture_mode: 'ebpf', report_interval_ms: 5_000 }) });
    const answer = await fleet.browse();
    expect(answer.text).not.toContain('null');
    const [bare] = expectData(browseFleet, answer).items;
    expect(Object.keys(bare.servicemap).sort()).toEqual([
      ...['authoritative', 'edge_count', 'enabled', 'freshness_status', 'graph_available', 'node_count'],
      ...['reason_codes', 'snapshot_ready', 'status'],
    ]);
  });

  it('reads rows that others wrote: null counts as absent, a set as a list', async () => {
    const fleet = await newFleet(table);
    const row = { ...inventory(), capability_status: null, reason_codes: new Set(['b']) };
    await fleet.putHosts({ [hostId(1)]: row as unknown as Inventory });
    const { items } = expectData(browseFleet, await fleet.browse());
    expect(items[0].servicemap.reason_codes).toEqual(['b', 'no_reports']);
    expect(items[0].servicemap).not.toHaveProperty('capability_status');
  });

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
