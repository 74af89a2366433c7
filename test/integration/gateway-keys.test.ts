import { createServer, type Server } from 'node:http';
import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { putAccount } from '../../lib/accounts/accounts.ts';
import { identityOfAppKey, putAppKey } from '../../lib/accounts/app-key-admin.ts';
import { createAppKeys, hashAppKey } from '../../lib/accounts/app-keys.ts';
import { createGatewayKeys } from '../../lib/accounts/gateway-keys.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { newAppKey, newTable, stored, testDeps } from '../support/service.ts';

/** API Gateway's wire for keys and usage plans, as far as the module uses it. */
const gateway = {
  keys: [] as { id: string; name: string; value: string }[],
  attached: [] as string[],
  calls: [] as string[],
  /** Error names to answer the next writes with, before they are applied. */
  failures: [] as string[],
  atOnce: 0,
  mostAtOnce: 0,
};
let server: Server;
let client: APIGatewayClient;
let table: Table;

beforeAll(async () => {
  table = await newTable();
  server = createServer(async (request, response) => {
    gateway.atOnce += 1;
    gateway.mostAtOnce = Math.max(gateway.mostAtOnce, gateway.atOnce);
    let text = '';
    for await (const chunk of request) text += chunk;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const write = request.method === 'POST';
    gateway.calls.push(`${request.method} ${pathname}`);
    const answer = (status: number, body: object, headers = {}) => {
      gateway.atOnce -= 1;
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    const failure = write ? gateway.failures.shift() : undefined;
    if (failure)
      return answer(
        failure === 'TooManyRequestsException' ? 429 : 409,
        { message: 'busy' },
        { 'x-amzn-errortype': failure },
      );
    const body = text ? JSON.parse(text) : {};
    const named = gateway.keys.filter(({ name }) => name.startsWith(searchParams.get('name') ?? ''));
    if (pathname === '/apikeys' && write) {
      const key = { id: `id${gateway.keys.length}`, name: body.name, value: body.value };
      gateway.keys.push(key);
      return answer(201, key);
    }
    if (pathname === '/apikeys') {
      const from = Number(searchParams.get('position') ?? 0);
      const more = from + 1 < named.length ? { position: String(from + 1) } : {};
      return answer(200, { item: named.slice(from, from + 1), ...more });
    }
    if (write) {
      gateway.attached.push(body.keyId);
      return answer(201, { id: body.keyId });
    }
    return answer(200, { item: named.filter(({ id }) => gateway.attached.includes(id)) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  client = new APIGatewayClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'local',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
});
afterAll(() => server.close());
beforeEach(() => Object.assign(gateway, { keys: [], attached: [], calls: [], failures: [], atOnce: 0, mostAtOnce: 0 }));

async function account(id: number): Promise<string> {
  const row = await putAccount(table, { account_id: id, name: 'n', permissions: [] });
  const appKey = newAppKey();
  await putAppKey(table, row, identityOfAppKey(appKey), { created_at: 1 });
  return appKey;
}

describe('the gateway key of an account', () => {
  it('is made, attached to the usage plan, and noted where label-caller finds it', async () => {
    const appKey = await account(1);
    const value = await createGatewayKeys(client, table, 'plan').provision(1);
    expect(gateway.keys).toEqual([{ id: 'id0', name: 'account-1', value }]);
    expect(gateway.attached).toEqual(['id0']);
    expect(value).not.toBe(appKey);
    expect(await createAppKeys(testDeps(table)).find(appKey)).toMatchObject({ gatewayKey: value });
    expect(await stored(table, keys.account(1))).toMatchObject({ gateway_key: value });
    const later = newAppKey();
    await putAppKey(table, await stored(table, keys.account(1)), identityOfAppKey(later), { created_at: 2 });
    expect(await stored(table, keys.appKey(hashAppKey(later)))).toMatchObject({ gateway_key: value });
  });

  it('is not made again, nor taken for that of an account whose number begins alike', async () => {
    await account(12);
    await account(1);
    const gatewayKeys = createGatewayKeys(client, table, 'plan');
    const twelve = await gatewayKeys.provision(12);
    const one = await gatewayKeys.provision(1);
    expect(await gatewayKeys.provision(1)).toBe(one);
    expect(await gatewayKeys.provision(12)).toBe(twelve);
    expect(gateway.keys.map(({ name }) => name)).toEqual(['account-12', 'account-1']);
    expect(gateway.attached).toEqual(['id0', 'id1']);
  });

  it('is made one at a time, and tried again while API Gateway is busy', async () => {
    await Promise.all([account(21), account(22), account(23)]);
    gateway.failures = ['ConflictException', 'TooManyRequestsException', 'ConflictException'];
    const gatewayKeys = createGatewayKeys(client, table, 'plan');
    await Promise.all([21, 22, 23].map((id) => gatewayKeys.provision(id)));
    expect(gateway.keys).toHaveLength(3);
    expect(gateway.attached.sort()).toEqual(['id0', 'id1', 'id2']);
    expect(gateway.mostAtOnce).toBe(1);
  });

  it('goes on where it was left after a failure half-way', async () => {
    const appKey = await account(31);
    const gatewayKeys = createGatewayKeys(client, table, 'plan');
    gateway.calls = [];
    gateway.failures = ['', 'NotFoundException'];
    await expect(gatewayKeys.provision(31)).rejects.toThrow();
    expect(gateway.attached).toEqual([]);
    const value = await gatewayKeys.provision(31);
    expect(gateway.keys).toEqual([{ id: 'id0', name: 'account-31', value }]);
    expect(gateway.attached).toEqual(['id0']);
    expect(await createAppKeys(testDeps(table)).find(appKey)).toMatchObject({ gatewayKey: value });
  });
});
