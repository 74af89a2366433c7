/**
 * The gateway keys of accounts: what API Gateway's usage plan counts and throttles by. One an account, made by the
 * operator's command, never the app key itself. A region holds 10,000 of them (docs/deploy.md says what to do beyond).
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type APIGatewayClient,
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  GetApiKeysCommand,
  GetUsagePlanKeysCommand,
} from '@aws-sdk/client-api-gateway';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { type Key, keys } from '../table/keys.ts';
import { listAppKeys } from './accounts.ts';

const MOST_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 100;
/** API Gateway changes one key or plan at a time and answers others with a conflict; its rate for these calls is low. */
const BUSY = new Set(['ConflictException', 'TooManyRequestsException']);

export interface GatewayKeys {
  /**
   * Makes the gateway key of an account and attaches it to the usage plan, then notes it on the account and its app keys.
   * What exists already is kept, so it may be run again after a failure half-way.
   * @returns the key's value
   */
  provision(account: Int64): Promise<string>;
}

/** @param usagePlanId the stack's output `AccountPlanId` */
export function createGatewayKeys(client: APIGatewayClient, table: Table, usagePlanId: string): GatewayKeys {
  let queue: Promise<unknown> = Promise.resolve();

  /** One at a time, and again after a pause while API Gateway is busy. */
  function inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
    const result = queue.then(() => retried(act));
    queue = result.catch(() => undefined);
    return result;
  }

  async function findKey(name: string): Promise<{ id: string; value: string } | undefined> {
    // The name is matched by its beginning: `account-1` finds `account-12` too.
    let position: string | undefined;
    do {
      const page = await client.send(new GetApiKeysCommand({ nameQuery: name, includeValues: true, position }));
      const found = page.items?.find((item) => item.name === name);
      if (found?.id && found.value) return { id: found.id, value: found.value };
      position = page.position;
    } while (position);
    return undefined;
  }

  async function createKey(name: string): Promise<{ id: string; value: string }> {
    const value = randomBytes(32).toString('base64url');
    const { id } = await client.send(new CreateApiKeyCommand({ name, value, enabled: true }));
    if (!id) throw new Error('API Gateway made a key without an id');
    return { id, value };
  }

  async function attach(id: string, name: string): Promise<void> {
    const { items = [] } = await client.send(new GetUsagePlanKeysCommand({ usagePlanId, nameQuery: name }));
    if (items.some((item) => item.id === id)) return;
    await client.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId: id, keyType: 'API_KEY' }));
  }

  return {
    async provision(account) {
      const name = `account-${account}`;
      const key = await inTurn(async () => (await findKey(name)) ?? (await createKey(name)));
      await inTurn(() => attach(key.id, name));
      await noteGatewayKey(table, account, key.value);
      return key.value;
    },
  };
}

/** Notes the gateway key of an account where calls find it: on the account and on each of its app keys. */
export async function noteGatewayKey(table: Table, account: Int64, value: string): Promise<void> {
  const note = (Key: Key, more: { also?: string; values?: Record<string, unknown> } = {}) =>
    table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key,
        UpdateExpression: `SET gateway_key = :value${more.also ?? ''}`,
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':value': value, ...more.values },
      }),
    );
  await note(keys.account(account), { also: ' ADD revision :one', values: { ':one': 1 } });
  for (const { hash } of await listAppKeys(table, account)) await note(keys.appKey(hash));
}

async function retried<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!BUSY.has((error as Error).name) || attempt === MOST_ATTEMPTS) throw error;
      await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
    }
  }
}
