import { APIGateway } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/auth/app-keys.ts';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { newAppKey, newTable, stored, testDeps } from '../../../../test/support/service.ts';
import { putAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, putAppKey } from '../../accounts/app-key-admin.ts';
import { createGatewayKeys } from '../../accounts/gateway-keys.ts';
import { startFakeAws } from '../support/aws.ts';

let aws: Awaited<ReturnType<typeof startFakeAws>>;
let gateway: typeof aws.gateway;
let client: APIGateway;
let table: Table;

beforeAll(async () => {
  table = await newTable();
  aws = await startFakeAws({ name: 'none', outputs: {} });
  gateway = aws.gateway;
  client = new APIGateway({
    endpoint: aws.url,
    region: 'local',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
});
afterAll(() => aws.close());
beforeEach(() => aws.forget());

async function account(id: number): Promise<string> {
  const row = await putAccount(table, { account_id: id, name: 'n', permissions: [] });
  const appKey = newAppKey();
  await putAppKey(table, row, identityOfAppKey(appKey), { created_at: 1 });
  return appKey;
}

describe('the gateway key of an account', () => {
  it('is made, attached to the usage plan, and stored where usage-key-authorizer reads it', async () => {
    const appKey = await account(1);
    const value = await createGatewayKeys(client, table, 'plan').provision(1);
    expect(gateway.keys).toEqual([{ id: 'id0', name: `${table.name}-account-1`, value }]);
    expect(gateway.attached).toEqual(['id0']);
    expect(value).not.toBe(appKey);
    // API Gateway accepts 20 to 128 letters and digits; other characters are not documented.
    expect(value).toMatch(/^[0-9a-f]{64}$/);
    expect(await createAppKeys(testDeps(table)).find(appKey)).toMatchObject({ gatewayKey: value });
    expect(await stored(table, keys.account(1))).toMatchObject({ gateway_key: value });
    const later = newAppKey();
    await putAppKey(table, await stored(table, keys.account(1)), identityOfAppKey(later), { created_at: 2 });
    expect(await stored(table, keys.appKey(hashAppKey(later)))).toMatchObject({ gateway_key: value });
  });

  it('is made once, and not confused with the key of an account whose id begins alike', async () => {
    await account(12);
    await account(1);
    const gatewayKeys = createGatewayKeys(client, table, 'plan');
    const twelve = await gatewayKeys.provision(12);
    const one = await gatewayKeys.provision(1);
    expect(await gatewayKeys.provision(1)).toBe(one);
    expect(await gatewayKeys.provision(12)).toBe(twelve);
    expect(gateway.keys.map(({ name }) => name)).toEqual([12, 1].map((id) => `${table.name}-account-${id}`));
    expect(gateway.attached).toEqual(['id0', 'id1']);
  });

  it('is found on a later page, after the keys of accounts whose ids begin alike', async () => {
    const ids = [100, 101, 102, 103, 10];
    await Promise.all(ids.map(account));
    const gatewayKeys = createGatewayKeys(client, table, 'plan');
    for (const id of ids) await gatewayKeys.provision(id);
    await gatewayKeys.provision(10);
    expect(gateway.attached).toEqual(['id0', 'id1', 'id2', 'id3', 'id4']);
  });

  it('differs from the key of an account with the same id in another stack', async () => {
    const other = await newTable();
    for (const each of [table, other]) await putAccount(each, { account_id: 1, name: 'n', permissions: [] });
    const value = await createGatewayKeys(client, table, 'plan').provision(1);
    expect(await createGatewayKeys(client, other, 'plan').provision(1)).not.toBe(value);
  });

  it('is retried while API Gateway is busy', async () => {
    const ids = [21, 22, 23];
    await Promise.all(ids.map(account));
    gateway.failures = ['ConflictException', 'TooManyRequestsException', 'ConflictException'];
    const gatewayKeys = createGatewayKeys(client, table, 'plan');
    for (const id of ids) await gatewayKeys.provision(id);
    expect(gateway.keys).toHaveLength(3);
    expect(gateway.attached.sort()).toEqual(['id0', 'id1', 'id2']);
  });

  it('is completed by another call after a failure', async () => {
    const appKey = await account(31);
    const gatewayKeys = createGatewayKeys(client, table, 'plan');
    gateway.calls = [];
    gateway.failures = ['', 'NotFoundException'];
    await expect(gatewayKeys.provision(31)).rejects.toThrow();
    expect(gateway.attached).toEqual([]);
    const value = await gatewayKeys.provision(31);
    expect(gateway.keys).toEqual([{ id: 'id0', name: `${table.name}-account-31`, value }]);
    expect(gateway.attached).toEqual(['id0']);
    expect(await createAppKeys(testDeps(table)).find(appKey)).toMatchObject({ gatewayKey: value });
  });
});
