import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import QuickLRU from 'quick-lru';
import { refuse } from '../api/errors.ts';
import { getRumResource, type RequestOf, type ResponseOf } from '../api/operations.ts';
import type { Call } from '../api/serve.ts';
import type { Deps } from '../deps.ts';
import type { Int64 } from '../json.ts';
import { collections, keys } from '../table/keys.ts';

type RumResource = ResponseOf<typeof getRumResource>;

/** The metering side's part of the answer; the record is all the rest. */
export const USAGE_FIELDS = [
  'session_limit_reached',
  'session_investigate.used_cnt',
  'session_measure.used_cnt',
  'session_replay.used_cnt',
] as const;

export type RumUsage = Pick<RumResource, (typeof USAGE_FIELDS)[number]>;
export type RumRecord = Omit<RumResource, keyof RumUsage | 'account_id'> & { deleted?: boolean };

/** What counts until the metering side has written it. */
const NO_USAGE: RumUsage = {
  session_limit_reached: false,
  'session_investigate.used_cnt': 0,
  'session_measure.used_cnt': 0,
  'session_replay.used_cnt': 0,
};
const FIELDS = Object.keys(getRumResource.response.properties);
const REMEMBERED_RECORDS = 1_000;

interface CachedRecord {
  record: RumRecord;
  /** Unix milliseconds at which its reading began. */
  readAtMs: number;
}

/** Rows hold their key beside the fields of the contract. */
function fieldsOf<Row extends object>(item: Record<string, unknown>): Row {
  const { pk: _pk, sk: _sk, ...row } = item;
  return row as Row;
}

/**
 * Reads the RUM record and the usage of the caller's account. The record may be as old as `rumCacheSeconds`, which the
 * header `Age` tells; the usage is read on every call. Either way it is one call to DynamoDB.
 */
export function createGetRumResource({ table, now, settings }: Deps, remembered = REMEMBERED_RECORDS) {
  const lifetimeMs = settings.rumCacheSeconds * 1000;
  const records = new QuickLRU<string, CachedRecord>({ maxSize: remembered });

  async function readUsage(account: Int64, signal: AbortSignal): Promise<RumUsage> {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: keys.rumUsage(account), ConsistentRead: true }),
      { abortSignal: signal },
    );
    return { ...NO_USAGE, ...(Item && fieldsOf<Partial<RumUsage>>(Item)) };
  }

  async function readBoth(account: Int64, signal: AbortSignal): Promise<{ cached: CachedRecord; usage: RumUsage }> {
    const readAtMs = now();
    const { Items = [] } = await table.client.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': collections.rum(account) },
        ConsistentRead: true,
      }),
      { abortSignal: signal },
    );
    const row = (sk: string) => Items.find((item) => item.sk === sk);
    const [record, usage] = [row(keys.rumResource(account).sk), row(keys.rumUsage(account).sk)];
    records.delete(String(account));
    if (!record || record.deleted) throw refuse('ResourceNotFound', 'rumResourceNotFound', undefined);
    const cached = { record: fieldsOf<RumRecord>(record), readAtMs };
    records.set(String(account), cached);
    return { cached, usage: { ...NO_USAGE, ...(usage && fieldsOf<Partial<RumUsage>>(usage)) } };
  }

  return async function readResource({ body, caller, signal }: Call<RequestOf<typeof getRumResource>>) {
    const { accountId } = caller;
    const remembered = body.no_cache ? undefined : records.get(String(accountId));
    const fresh = remembered && now() - remembered.readAtMs < lifetimeMs ? remembered : undefined;
    const { cached, usage } = fresh
      ? { cached: fresh, usage: await readUsage(accountId, signal) }
      : await readBoth(accountId, signal);
    const fields: Record<string, unknown> = { ...cached.record, ...usage, account_id: accountId };
    // The contract's fields in the contract's order, and nothing else that the rows may hold.
    const data = Object.fromEntries(FIELDS.map((field) => [field, fields[field]])) as RumResource;
    return { data, headers: { Age: String(Math.max(0, Math.floor((now() - cached.readAtMs) / 1000))) } };
  };
}
