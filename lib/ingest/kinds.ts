/**
 * The kinds of entities that import and the feed accept. Their checks, `feed.schema.json` and the documented lines of
 * `docs/data-format.md` follow from these schemas.
 */

import { HOST_SCHEMA, STATUS_SCHEMA } from '../operations/browse-fleet/host.ts';
import { getRumResource, USAGE_FIELDS } from '../operations/get-rum-resource/schema.ts';
import { operations } from '../operations/index.ts';
import { flag, type Int64, natural, objectId, text } from '../shared/json.ts';

/** Maximum length of an account's name, in code points. */
export const MAX_NAME_LENGTH = 512;
/** Maximum length of an app key's note, in code points. */
export const MAX_NOTE_LENGTH = 512;

const name = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH } as const;
const accountId = { type: 'integer', format: 'int64', minimum: 1 } as const;
const int64 = { type: 'integer', format: 'int64' } as const;
/** Unix seconds up to the year 5138: a larger number is taken for milliseconds that were sent by mistake. */
export const UNIX_SECONDS = { type: 'integer', format: 'int64', minimum: 0, maximum: 99_999_999_999 } as const;
/** Unix milliseconds of at most 13 digits, up to the year 2286. */
const atMs = { type: 'integer', format: 'int64', minimum: 0, maximum: 9_999_999_999_999 } as const;
/** Shorter app keys can be guessed. */
const MIN_APP_KEY_LENGTH = 32;
const PERMISSIONS = [
  ...new Set(operations.flatMap((operation) => ('permission' in operation ? operation.permission : []))),
];

const rumFields = getRumResource.response.properties as Readonly<Record<string, object>>;
const usageFields: readonly string[] = USAGE_FIELDS;
const resourceFields = Object.keys(rumFields).filter((field) => field !== 'account_id' && !usageFields.includes(field));
const TIMES = new Set(['created_at', 'updated_at', 'window_start_time', 'window_end_time']);
const rumSchemas = (fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, TIMES.has(field) ? UNIX_SECONDS : rumFields[field]]));

export interface KindSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object | undefined>>;
  /** Whether further fields are allowed, and stored as they are. */
  readonly open?: boolean;
}

const host = {
  required: HOST_SCHEMA.required,
  properties: { ...HOST_SCHEMA.properties, capture_mode: { type: 'string', enum: ['ebpf', 'polling'] } },
} as const;

const SCHEMAS = {
  account: {
    required: ['name', 'permissions'],
    properties: { name, permissions: { type: 'array', items: { type: 'string', enum: PERMISSIONS } }, suspended: flag },
  },
  app_key: {
    // `check-line.ts` checks that there is either the key or, as in exports, its hash.
    required: [],
    properties: {
      app_key: { type: 'string', minLength: MIN_APP_KEY_LENGTH, maxLength: 256 },
      app_key_hash: { type: 'string', minLength: 64, maxLength: 64, pattern: '^[0-9a-f]{64}$' },
      last_digits: { type: 'string', maxLength: 4 },
      created_at: UNIX_SECONDS,
      expires_at: UNIX_SECONDS,
      revoked: flag,
      note: { type: 'string', maxLength: MAX_NOTE_LENGTH },
    },
  },
  member: { required: ['member_id', 'name'], properties: { member_id: int64, name } },
  host,
  // A report may have only some of the fields.
  host_status: { required: ['host_id'], properties: STATUS_SCHEMA.properties },
  rum_resource: { required: resourceFields, properties: { ...rumSchemas(resourceFields), deleted: flag } },
  rum_usage: { required: USAGE_FIELDS, properties: rumSchemas(USAGE_FIELDS) },
  work_item: {
    required: ['work_item_id', 'version', 'title'],
    properties: {
      work_item_id: { type: 'string', minLength: 1, maxLength: 128 },
      version: { type: 'integer', format: 'int64', minimum: 1 },
      title: text,
      deleted_at_ms: natural,
      deleted_by: text,
    },
    open: true,
  },
  incident: {
    required: ['incident_id', 'title'],
    properties: { incident_id: objectId, title: { type: 'string', maxLength: 512 }, owner_id: int64 },
  },
  alert: {
    // `check-line.ts` checks that there is either the id or the source's own id, from which `recordOfEntity` makes one.
    required: ['title'],
    properties: {
      alert_id: objectId,
      title: text,
      incident_id: objectId,
      source_id: { type: 'string', minLength: 1, maxLength: 1_024 },
    },
  },
} as const satisfies Record<string, KindSchema>;

export type Kind = keyof typeof SCHEMAS;
export const KINDS = Object.keys(SCHEMAS) as Kind[];

/** Kinds that give access to the API: import accepts them, the feed does not. */
const ACCESS_KINDS = ['account', 'app_key'] as const;
export type FeedKind = Exclude<Kind, (typeof ACCESS_KINDS)[number]>;
export const FEED_KINDS = KINDS.filter((kind): kind is FeedKind => !(ACCESS_KINDS as readonly Kind[]).includes(kind));

/** An entity that passed the checks of its kind. */
export type Entity<OfKind extends Kind = Kind> = { kind: OfKind; account_id: Int64 } & Record<string, unknown>;

/** The schema of a whole line. */
export interface LineSchema {
  readonly type: 'object';
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object | undefined>>;
  readonly additionalProperties: boolean;
}

function lineSchema(kind: Kind, { required, properties, open = false }: KindSchema): LineSchema {
  const isFeedKind = (FEED_KINDS as readonly Kind[]).includes(kind);
  return {
    type: 'object',
    required: ['account_id', ...required],
    properties: { kind: text, account_id: accountId, ...(isFeedKind && { at_ms: atMs }), ...properties },
    additionalProperties: open,
  };
}

const { host_id: _hostId, ...statusFields } = STATUS_SCHEMA.properties;
/** The fields that a status report removes if they are null. It is checked without them. */
export const REMOVABLE_FIELDS: ReadonlySet<string> = new Set(Object.keys(statusFields));

type LineName = Kind | 'retired_host';
/** The schemas of lines, by kind; that of a host which is retired is another one. */
export const LINES = {
  ...Object.fromEntries(KINDS.map((kind) => [kind, lineSchema(kind, SCHEMAS[kind])])),
  retired_host: lineSchema('host', {
    required: ['host_id', 'retired'],
    properties: { ...host.properties, retired: { const: true } },
  }),
} as Readonly<Record<LineName, LineSchema>>;

/**
 * The field that identifies an entity of a kind within its account. An account has only one entity of each other kind, except app keys,
 * which `packages/admin` identifies by their hash.
 */
const IDENTITY: Readonly<Partial<Record<Kind, string>>> = {
  member: 'member_id',
  host: 'host_id',
  host_status: 'host_id',
  work_item: 'work_item_id',
  incident: 'incident_id',
  alert: 'alert_id',
};

/** Identifies an entity. Two entities with the same identity have the same row. */
export function identityOf(entity: Entity): string {
  const field = IDENTITY[entity.kind];
  const id = field === undefined ? '' : String(entity[field]);
  const comparable = entity.kind === 'incident' || entity.kind === 'alert' ? id.toLowerCase() : id;
  return `${entity.kind} ${entity.account_id} ${comparable}`;
}

/** The highest version at which a work item can be deleted: deletion adds 1, and a version is an int64. */
export const MAX_DELETABLE_VERSION = 2n ** 63n - 2n;
