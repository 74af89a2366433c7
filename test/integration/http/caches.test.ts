/** The caches of warm functions are bounded: the least recently used entry makes room. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import type { Caller } from '../../../lib/http/operation.ts';
import { createRateLimiter } from '../../../lib/http/rate-limit.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { createGetRumResource } from '../../../lib/operations/get-rum-resource/resource.ts';
import type { Deps } from '../../../lib/shared/deps.ts';
import { keys } from '../../../lib/table/keys.ts';
import { RUM_RECORD } from '../../support/accounts.ts';
import { testDeps } from '../../support/service.ts';
import { connectDouble } from '../../table-double/client.ts';

/** The size that each cache is given. quick-lru may hold up to twice as many entries. */
const SIZE = 100;

/** Each makes a cache. @returns a function that looks up the account or key of a number: in the cache, or else in the table */
const CACHES: Readonly<Record<string, (deps: Deps) => (number: number) => Promise<unknown>>> = {
  'app keys'(deps) {
    const appKeys = createAppKeys(deps, { cacheSize: SIZE });
    return (number) => appKeys.find(`key ${number}`);
  },
  'RUM records'(deps) {
    const get = createGetRumResource(deps, SIZE);
    const call = { body: { no_cache: false }, requestId: 'r', arrivedMs: 0, idempotencyKey: undefined };
    const signal = AbortSignal.timeout(30_000);
    return (accountId) => get({ ...call, caller: { accountId } as unknown as Caller, signal });
  },
  refusals(deps) {
    const limiter = createRateLimiter(browseFleet, deps, SIZE);
    return (account) => limiter.take(account);
  },
};

it.each(Object.entries(CACHES))('the cache of %s holds at most twice its size', async (_what, open) => {
  let lookUps = 0;
  const table = connectDouble(async ({ name, input }) => {
    const isUsage = name === 'GetCommand' && input.Key.sk === keys.rumUsage(1).sk;
    if (!isUsage) lookUps += 1;
    if (name === 'QueryCommand') return { Items: [{ ...keys.rumResource(1), ...RUM_RECORD }] };
    if (name === 'GetCommand') return {};
    throw new ConditionalCheckFailedException({ message: '', $metadata: {}, Item: { total: { N: '30' } } });
  });
  // A clock that stands still: no entry gets too old.
  const lookUp = open(testDeps(table, { now: () => 1_000_000 }));
  for (let number = 0; number <= 2 * SIZE; number += 1) await lookUp(number);
  await lookUp(2 * SIZE);
  expect(lookUps).toBe(2 * SIZE + 1);
  await lookUp(0);
  expect(lookUps).toBe(2 * SIZE + 2);
});
