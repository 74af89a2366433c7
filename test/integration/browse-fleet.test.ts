/** Pages of the fleet: what they are made of, and their cursors. `browse-walk.property` compares pages with the contract. */
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

/** A fleet of `count` active hosts. */
async function newFleetOf(count: number) {
  const fleet = await newFleet(table);
  const ids = Array.from({ length: count }, (_, index) => hostId(index + 1));
  await fleet.putHosts(Object.fromEntries(ids.map((id) => [id, inventory()])));
  await fleet.putLive(Object.fromEntries(ids.map((id) => [id, live()])));
  const page = async (body: object = {}) => expectData(browseFleet, await fleet.browse(body));
  return { ...fleet, ids, page };
}

describe('a page', () => {
  it('of a fleet without hosts is empty and the last', async () => {
    const { page } = await newFleetOf(0);
    const states = Object.fromEntries(FLEET_STATUSES.map((status) => [status, 0]));
    expect(await page()).toEqual({
      items: [],
      coverage: { scanned: 0, matched: 0, returned: 0, failed: 0, states },
      partial: false,
      truncated: false,
      generated_at_ms: NOW,
    });
  });

  it('has the first 50 hosts in ascending order of host_id when nothing is given', async () => {
    const { ids, page } = await newFleetOf(60);
    const first = await page();
    expect(hostIdsOf(first)).toEqual(ids.slice(0, 50));
    expect(first).toMatchObject({
      coverage: { scanned: 50, matched: 50, returned: 50, failed: 0, states: { active: 50 } },
      ...{ partial: false, truncated: false, next_cursor: expect.any(String) },
    });
    expect(first).not.toHaveProperty('truncation_reasons');
  });

  it('shows integers beyond 2^53 as they are stored', async () => {
    const { putHosts, putLive, page } = await newFleetOf(0);
    const big = 9_007_199_254_740_993n;
    await putHosts({ h: inventory({ report_interval_ms: big }) });
    await putLive({ h: live({ node_count: big, observed_at_ms: big }) });
    const servicemap = { report_interval_ms: big, node_count: big, observed_at_ms: big };
    expect((await page()).items).toMatchObject([{ servicemap }]);
  });
});

describe('a cursor', () => {
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
    for (const { browse } of [second, first])
      expect(hostIdsOf(expectData(browseFleet, await browse({ cursor })))).toEqual(['b', 'c']);
  });

  it('that is wrong is named beside every other field that is wrong', async () => {
    const { browse } = await newFleetOf(1);
    const cursor =
      'cursor must be a next_cursor that this service returned to this account (leave it out for the first page)';
    for (const [body, message] of [
      [{ limit: 500 }, `limit must be an integer from 1 to 100; ${cursor}.`],
      [{ limit: 5, scan_limit: 2 }, `scan_limit must be an integer from 5 (limit) to 2000; ${cursor}.`],
    ] as const) {
      const answer = await browse({ cursor: 'nonsense', ...body });
      expectEnvelope(answer, 400, 'InvalidParameter');
      expect(answer.body.error.message).toBe(message);
    }
  });
});
