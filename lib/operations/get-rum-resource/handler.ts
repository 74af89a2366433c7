import QuickLRU from 'quick-lru';
import type { Deps } from '../../deps.ts';
import { ageOf, isCurrent, type Moment, momentOf } from '../../http/app-keys.ts';
import { createOperationHandler } from '../../http/call.ts';
import { ApiError, type FieldSchema, refusal } from '../../http/errors.ts';
import type { Call, Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import { namesOf } from '../../model/fields.ts';
import { rumUsage } from '../../model/rum.ts';
import { type Int64, isInt64 } from '../../shared/json.ts';
import { withSignal } from '../../table/client.ts';
import { keys, partitions } from '../../table/keys.ts';
import { getRow, queryRows } from '../../table/read.ts';
import { getRumResource } from './schema.ts';
import validate from './validate-get-rum-resource.ts';

type RumResource = ResponseOf<typeof getRumResource>;

const USAGE_FIELDS = namesOf(rumUsage.fields, { stored: 'row' });
type RumUsage = Pick<RumResource, (typeof USAGE_FIELDS)[number]>;

/** For fields that the metering system has not written. */
const NO_USAGE: RumUsage = {
  session_limit_reached: false,
  'session_investigate.used_cnt': 0,
  'session_measure.used_cnt': 0,
  'session_replay.used_cnt': 0,
};
const FIELDS = Object.entries<FieldSchema>(getRumResource.response.properties);
const CACHED_ROWS = 1_000;
/** How long a warm function serves a resource row without reading it again. */
const CACHED_MS = 60_000;

type Row = Record<string, unknown>;

interface CachedRow {
  resource: Row;
  /** When its read began. */
  since: Moment;
}

/** The four usage fields of a row. A null counts as absent. */
function usageOf(row: Row | undefined): Row {
  const present = USAGE_FIELDS.filter((field) => (row?.[field] ?? null) !== null);
  return { ...NO_USAGE, ...Object.fromEntries(present.map((field) => [field, row?.[field]])) };
}

/** Whether a value has the type of its field: other systems write the rows. */
function hasType(value: unknown, schema: FieldSchema): boolean {
  return schema.type === 'integer' ? isInt64(value) : typeof value === schema.type;
}

/**
 * Reads the resource row and the usage row of the caller's account, in one call to DynamoDB. The resource row may come from a cache: it is at
 * most 60 s old, and the header `Age` has its age in seconds. A missing usage field counts as unused. If another field is missing, or any
 * is malformed, the call fails with `InternalError`, since a made-up quota would mislead; the log names the fields.
 */
export function createHandler(deps: Deps): Handler {
  const { table, log } = deps;
  const resources = new QuickLRU<string, CachedRow>({ maxSize: CACHED_ROWS });

  async function readBoth(account: Int64, signal: AbortSignal): Promise<{ cached: CachedRow; usage: Row }> {
    const since = momentOf(deps);
    const rows = await queryRows(withSignal(table, signal), partitions.rumResource(account));
    const row = (sk: string): Row | undefined => rows.find((candidate) => candidate.sk === sk);
    const [resource, usage] = [row(keys.rumResource(account).sk), row(keys.rumUsage(account).sk)];
    resources.delete(String(account));
    if (!resource || resource.deleted) throw refusal('rumResourceNotFound');
    const cached = { resource, since };
    resources.set(String(account), cached);
    return { cached, usage: usageOf(usage) };
  }

  async function operate({ body, caller, requestId, signal }: Call<RequestOf<typeof getRumResource>>) {
    const { accountId } = caller;
    const known = body.no_cache ? undefined : resources.get(String(accountId));
    const fresh = known && isCurrent(known.since, CACHED_MS, deps) ? known : undefined;
    const { cached, usage } = fresh
      ? { cached: fresh, usage: usageOf(await getRow(withSignal(table, signal), keys.rumUsage(accountId))) }
      : await readBoth(accountId, signal);
    const fields: Row = { ...cached.resource, ...usage, account_id: accountId };
    const malformed = FIELDS.filter(([name, schema]) => !hasType(fields[name], schema)).map(([name]) => name);
    if (malformed.length > 0) {
      log.error('RUM rows malformed', { request_id: requestId, account_id: accountId, fields: malformed });
      throw new ApiError('InternalError');
    }
    // The answer has only the fields of the contract, in its order.
    const data = Object.fromEntries(FIELDS.map(([field]) => [field, fields[field]])) as RumResource;
    return { data, headers: { Age: String(Math.floor(ageOf(cached.since, deps) / 1000)) } };
  }
  return createOperationHandler(getRumResource, { validate, operate }, deps);
}
