/**
 * The gateway keys of accounts, by which API Gateway's usage plan counts and throttles calls. Each account has one,
 * which is never an app key. A region holds 10,000 of them (docs/deploy.md says what to do beyond).
 */
import { randomBytes } from 'node:crypto';
import {
  type APIGateway,
  NotFoundException,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
  paginateGetUsagePlans,
} from '@aws-sdk/client-api-gateway';
import { backoff } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet, getRow } from '../../../lib/table/read.ts';
import { storeGatewayKey } from './accounts.ts';

const MAX_ATTEMPTS = 8;
const BUSY_BACKOFF = { baseMs: 100, maxMs: 12_800 };
/** Maximum keys in a page of API Gateway. */
const PAGE_SIZE = 500;
/** API Gateway makes one change at a time and answers others with a conflict. Its rate limit for these calls is low. */
const BUSY = new Set(['ConflictException', 'TooManyRequestsException']);

interface ListedGatewayKey {
  id: string;
  name: string;
  value: string;
}

export interface GatewayKeys {
  /**
   * Makes the gateway key of an account, attaches it to the usage plan, and stores it with the account and its app keys. A key that the
   * plan has is kept, so the call can be repeated after a failure. Calls must not overlap: API Gateway refuses that.
   * @param findDetached whether to look in the whole region for a key of the account that no plan has, as a destroyed stack leaves it
   */
  provision(account: Int64, findDetached?: boolean): Promise<void>;
  /** Deletes the keys of an account that the usage plan has; none is not an error. The account's row is left as it is. */
  remove(account: Int64): Promise<void>;
}

/** A region has one list for the keys of all stacks, so the name of a key begins with that of its table. */
const prefixOf = ({ name }: Table) => `${name}-account-`;

/** All gateway keys of the region, or those whose names have this prefix. */
async function* keysNamed(client: APIGateway, nameQuery?: string): AsyncGenerator<ListedGatewayKey> {
  const pages = paginateGetApiKeys(
    { client, pageSize: PAGE_SIZE },
    { includeValues: true, ...(nameQuery !== undefined && { nameQuery }) },
  );
  for await (const { items = [] } of pages)
    for (const { id, name, value } of items) if (id && name && value) yield { id, name, value };
}

/** The keys of a usage plan that belong to accounts, by their names. */
async function* keysOfPlan(client: APIGateway, usagePlanId: string) {
  for await (const { items = [] } of paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId }))
    for (const { id, name = '', value } of items) {
      const [, account] = /-account-(\d+)$/.exec(name) ?? [];
      if (id !== undefined && account !== undefined) yield { id, account, value };
    }
}

/** @param usagePlanId the stack's output `AccountPlanId` */
export function createGatewayKeys(client: APIGateway, table: Table, usagePlanId: string): GatewayKeys {
  let attached: Promise<Map<string, string>> | undefined;
  let listed: readonly ListedGatewayKey[] | undefined;

  /**
   * The values of the plan's keys, by account. Each is of an account of this stack, but a table that was restored has another name than the
   * one in the keys' names.
   */
  async function readAttached(): Promise<Map<string, string>> {
    const values = new Map<string, string>();
    for await (const { account, value } of keysOfPlan(client, usagePlanId))
      if (value !== undefined) values.set(account, value);
    return values;
  }

  /** The key of an account that no plan has: by its name or, if the table was restored under another one, by the value in the table. */
  async function findKey(name: string, stored: string | undefined): Promise<ListedGatewayKey | undefined> {
    listed ??= await retried(() => Array.fromAsync(keysNamed(client)));
    return listed.find((key) => key.name === name || key.value === stored);
  }

  async function createKey(name: string, value: string): Promise<ListedGatewayKey> {
    const { id } = await client.createApiKey({ name, value, enabled: true });
    if (!id) throw new Error('API Gateway made a key without an id');
    return { id, name, value };
  }

  async function attach(keyId: string): Promise<void> {
    const isAttached = await unlessMissing(client.getUsagePlanKey({ usagePlanId, keyId }));
    if (!isAttached) await client.createUsagePlanKey({ usagePlanId, keyId, keyType: 'API_KEY' });
  }

  async function addToPlan(account: Int64, findDetached: boolean): Promise<string> {
    const name = `${prefixOf(table)}${account}`;
    // In another region, the rows of a replica need keys of the same values.
    const { gateway_key: stored } = (await getRow(table, keys.account(account), ['gateway_key'])) ?? {};
    const found = findDetached ? await findKey(name, stored) : undefined;
    const key = found ?? (await retried(() => createKey(name, stored ?? randomBytes(32).toString('hex'))));
    await retried(() => attach(key.id));
    return key.value;
  }

  return {
    async provision(account, findDetached = false) {
      attached ??= readAttached();
      const values = await attached;
      const value = values.get(String(account)) ?? (await addToPlan(account, findDetached));
      values.set(String(account), value);
      if (!(await isStored(table, account, value))) await storeGatewayKey(table, account, value);
    },
    async remove(account) {
      const ofPlan = await Array.fromAsync(keysOfPlan(client, usagePlanId));
      for (const key of ofPlan) if (key.account === String(account)) await deleteGatewayKey(client, key);
    },
  };
}

/** Whether the account and all its app keys have the value. Then nothing is written: in a standby, that could undo what another region writes. */
async function isStored(table: Table, account: Int64, value: string): Promise<boolean> {
  const { gateway_key, app_keys = [] } =
    (await getRow(table, keys.account(account), ['gateway_key', 'app_keys'])) ?? {};
  const { rows } = await batchGet(table, [...app_keys].map(keys.appKey), { attributes: ['gateway_key'] });
  return [gateway_key, ...[...rows.values()].map((row) => row.gateway_key)].every((stored) => stored === value);
}

function isOfTable(table: Table, name = ''): boolean {
  const prefix = prefixOf(table);
  return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
}

/** The gateway keys of the accounts of a table, whichever stack made them. */
export async function listGatewayKeys(client: APIGateway, table: Table): Promise<ListedGatewayKey[]> {
  const found = await Array.fromAsync(keysNamed(client, prefixOf(table)));
  return found.filter(({ name }) => isOfTable(table, name));
}

/** The id of a usage plan that has a gateway key of the table; undefined: there is none. */
export async function usagePlanOf(client: APIGateway, table: Table): Promise<string | undefined> {
  for await (const { items: plans = [] } of paginateGetUsagePlans({ client }, {}))
    for (const { id: usagePlanId } of plans) {
      const query = { usagePlanId, nameQuery: prefixOf(table) };
      for await (const { items = [] } of paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, query))
        if (items.some(({ name }) => isOfTable(table, name))) return usagePlanId;
    }
  return undefined;
}

/** Deletes a gateway key; a missing one is not an error. */
export async function deleteGatewayKey(client: APIGateway, { id }: { id: string }): Promise<void> {
  await unlessMissing(retried(() => client.deleteApiKey({ apiKey: id })));
}

/** The result of a call; undefined if API Gateway answers that the key does not exist. */
const unlessMissing = <Result>(sent: Promise<Result>): Promise<Result | undefined> =>
  sent.catch((error) => {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  });

/** Retries while API Gateway is busy. */
async function retried<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!BUSY.has((error as Error).name) || attempt === MAX_ATTEMPTS) throw error;
      await backoff(attempt, BUSY_BACKOFF);
    }
  }
}
