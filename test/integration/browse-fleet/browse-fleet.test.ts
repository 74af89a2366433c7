/** Cursors of the fleet. `walk.property` compares pages with the contract. */
import { expect, it } from 'vitest';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { putAccount } from '../../../packages/admin/accounts/accounts.ts';
import { identityOfAppKey, newAppKey, putAppKey } from '../../../packages/admin/accounts/app-key-admin.ts';
import { newAccountId } from '../../support/accounts.ts';
import { expectData } from '../../support/answers.ts';
import { hostIdsOf, inventory, newFleet } from '../../support/fleet.ts';
import { newTable } from '../../support/service.ts';

const table = await newTable();

it('a cursor works with any key of its account, also one issued later, and after the account is imported again', async () => {
  const account = { account_id: newAccountId(), name: 'Acme', permissions: ['monit'] };
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
