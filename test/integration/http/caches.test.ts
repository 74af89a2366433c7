/** The caches of warm functions are bounded: the least recently used entry makes room. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { createRateLimiter } from '../../../lib/http/rate-limit.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { createGetRumResource } from '../../../lib/operations/get-rum-resource/resource.ts';
import type { Deps } from '../../../lib/shared/deps.ts';
import { connectTable } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { RUM_RECORD } from '../../support/accounts.ts';
import { testDeps } from '../../support/service.ts';

/** The size that each cache is given. quick-lru may hold up to twice as many entries. */
const SIZE = 100;

interface Cache {
  /** Makes the cache. @returns a function that looks up the account or key of a number: in the cache, or else in the table */
  open(deps: Deps): (number: number) => Promise<unknown>;
  /** The call of DynamoDB that a look-up in the table takes, and its reply. */
  action: string;
  status?: number;
  reply: object;
}

const CACHES: Readonly<Record<string, Cache>> = {
  'app keys': {
    open(deps) {
      const appKeys = createAppKeys(deps, { cacheSize: SIZE });
      return (number) => appKeys.find(`key ${number}`);
    },
    action: 'GetItem',
    reply: {},
  },
  'RUM records': {
    open(deps) {
      const get = createGetRumResource(deps, SIZE);
      const caller = { appKeyId: 'k', permissions: [], cursorSecret: new Uint8Array() };
      const call = { body: { no_cache: false }, requestId: 'r', arrivedMs: 0, idempotencyKey: undefined };
      const signal = AbortSignal.timeout(30_000);
      return (accountId) => get({ ...call, caller: { ...caller, accountId }, signal });
    },
    action: 'Query',
    reply: { Items: [marshall({ ...keys.rumResource(1), ...RUM_RECORD })] },
  },
  refusals: {
    open(deps) {
      const limiter = createRateLimiter(browseFleet, deps, SIZE);
      return async (account) => limiter.take(account);
    },
    action: 'UpdateItem',
    status: 400,
    reply: {
      __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      Item: { total: { N: '30' } },
    },
  },
};

it.each(Object.entries(CACHES))('the cache of %s holds at most twice its size', async (_what, cache) => {
  // The replies are canned: hundreds of calls to DynamoDB Local would show no more.
  const table = connectTable({ name: 'canned', endpoint: 'http://127.0.0.1:1' });
  let lookUps = 0;
  async function handle({ headers }: { headers: Record<string, string> }) {
    const isLookUp = headers['x-amz-target']?.endsWith(`.${cache.action}`);
    if (isLookUp) lookUps += 1;
    const body = Buffer.from(JSON.stringify(isLookUp ? cache.reply : {}));
    return { response: { statusCode: (isLookUp && cache.status) || 200, headers: {}, body } };
  }
  Object.assign(table.client.config, { requestHandler: { handle } });
  // A clock that stands still: no entry gets too old.
  const lookUp = cache.open(testDeps(table, { now: () => 1_000_000 }));
  for (let number = 0; number <= 2 * SIZE; number += 1) await lookUp(number);
  expect(lookUps).toBe(2 * SIZE + 1);
  await lookUp(2 * SIZE);
  expect(lookUps).toBe(2 * SIZE + 1);
  await lookUp(0);
  expect(lookUps).toBe(2 * SIZE + 2);
});
