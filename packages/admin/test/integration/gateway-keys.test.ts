import { APIGateway } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createAppKeys } from '../../../../lib/http/app-keys.ts';
import { newAppKey, newTable, testDeps } from '../../../../test/support/service.ts';
import { putAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, putAppKey } from '../../accounts/app-key-admin.ts';
import { createGatewayKeys } from '../../accounts/gateway-keys.ts';
import { startFakeAws } from '../support/aws.ts';

const table = await newTable();
const aws = await startFakeAws({ name: 'none', outputs: {} });
const { gateway } = aws;
const client = new APIGateway({
  ...{ endpoint: aws.url, region: 'local', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, maxAttempts: 1 },
});
const { provision } = createGatewayKeys(client, table, 'plan');
afterAll(() => aws.close());
beforeEach(() => aws.resetGateway());

/** Creates an account, as a caller whose key has no gateway key yet. @returns the app key */
async function newCaller(id: number): Promise<string> {
  const row = await putAccount(table, { account_id: id, name: 'n', permissions: [] });
  const appKey = newAppKey();
  await putAppKey(table, row, identityOfAppKey(appKey), { created_at: 1 });
  return appKey;
}
const callerOf = (appKey: string) => createAppKeys(testDeps(table)).find(appKey);
const nameOf = (id: number) => `${table.name}-account-${id}`;

describe('the gateway key of an account', () => {
  it('is made once, and found on a later page, after the keys of accounts whose ids begin alike', async () => {
    const ids = [100, 101, 12, 10, 1];
    const made = new Map<number, string>();
    for (const id of ids) {
      await newCaller(id);
      made.set(id, await provision(id));
    }
    for (const id of ids) expect(await provision(id)).toBe(made.get(id));
    expect(gateway.keys.map(({ name }) => name)).toEqual(ids.map(nameOf));
    expect(gateway.attached).toEqual(['id0', 'id1', 'id2', 'id3', 'id4']);
  });

  it('is retried while API Gateway is busy', async () => {
    gateway.failures = ['ConflictException', 'TooManyRequestsException', 'ConflictException'];
    for (const id of [21, 22, 23]) {
      await newCaller(id);
      await provision(id);
    }
    expect(gateway.keys).toHaveLength(3);
    expect(gateway.attached).toEqual(['id0', 'id1', 'id2']);
  });

  it('is completed by another call after a failure', async () => {
    const appKey = await newCaller(31);
    gateway.failures = ['', 'NotFoundException']; // of the call that attaches the key
    await expect(provision(31)).rejects.toThrow();
    expect(gateway.attached).toEqual([]);
    const value = await provision(31);
    // API Gateway accepts 20 to 128 letters and digits; other characters are not documented.
    expect(value).toMatch(/^[0-9a-f]{64}$/);
    expect(gateway.keys).toEqual([{ id: 'id0', name: nameOf(31), value }]);
    expect(gateway.attached).toEqual(['id0']);
    expect(await callerOf(appKey)).toMatchObject({ gatewayKey: value });
  });
});
