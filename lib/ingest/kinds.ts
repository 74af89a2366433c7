/**
 * The kinds of entities that import and the feed accept. Their checks, `feed.schema.json` and the documented lines of
 * `docs/data-format.md` follow from these schemas.
 */
import { PERMISSIONS } from '../http/operation.ts';
import { HOST_SCHEMA, STATUS_SCHEMA } from '../operations/browse-fleet/host.ts';
import { getRumResource, USAGE_FIELDS } from '../operations/get-rum-resource/schema.ts';
import { flag, type Int64, objectId, text } from '../shared/json.ts';
import { SEVERITIES } from '../table/rows.ts';
import { ALERT_CONTENT, ALERT_KEY, AT_MS } from './alert-fields.ts';
import type { Order, Orders } from './order.ts';

/** Maximum length of the name of an account or a member, in code points. */
export const MAX_NAME_LENGTH = 512;
/** Maximum length of an app key's note, in code points. */
export const MAX_NOTE_LENGTH = 512;

/** Maximum length of a text that says who did something, in code points. */
export const MAX_ACTOR_LENGTH = 256;

const name = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH } as const;
const accountId = { type: 'integer', format: 'int64', minimum: 1 } as const;
const int64 = { type: 'integer', format: 'int64' } as const;
/** Unix seconds up to the year 5138: a larger number is taken for milliseconds that were sent by mistake. */
export const UNIX_SECONDS = { type: 'integer', format: 'int64', minimum: 0, maximum: 99_999_999_999 } as const;
/** A week. */
const MAX_INTERVAL_MS = 604_800_000;
/** Shorter app keys can be guessed. */
const MIN_APP_KEY_LENGTH = 32;

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
  properties: {
    ...HOST_SCHEMA.properties,
    capture_mode: { type: 'string', enum: ['ebpf', 'polling'] },
    report_interval_ms: { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_INTERVAL_MS },
  },
} as const;
const statusTimes = { received_at_ms: AT_MS, observed_at_ms: AT_MS, health_at_ms: AT_MS };

/** Fields that an alert record without a key cannot have. */
export const KEYED_ONLY = ['alert_status', 'started_at_ms', 'ended_at_ms'] as const;
const alertFields = {
  alert_id: objectId,
  alert_key: ALERT_KEY,
  ...ALERT_CONTENT,
  alert_status: { type: 'string', enum: [...SEVERITIES, 'Ok'] },
  started_at_ms: AT_MS,
  ended_at_ms: AT_MS,
  incident_id: objectId,
  incident_at_ms: AT_MS,
} as const;
/** An alert that an export has written: only import takes it. */
const exportedAlert = {
  required: ['title', 'alert_id', 'alert_key', 'alert_status', 'started_at_ms'],
  properties: {
    ...alertFields,
    alert_severity: { type: 'string', enum: SEVERITIES },
  },
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
  host: { ...host, properties: { ...host.properties, retired: { const: false } } },
  // A report may have only some of the fields.
  host_status: { required: ['host_id'], properties: { ...STATUS_SCHEMA.properties, ...statusTimes } },
  rum_resource: { required: resourceFields, properties: { ...rumSchemas(resourceFields), deleted: flag } },
  rum_usage: { required: USAGE_FIELDS, properties: rumSchemas(USAGE_FIELDS) },
  work_item: {
    required: ['work_item_id', 'version', 'title'],
    properties: {
      work_item_id: { type: 'string', minLength: 1, maxLength: 128 },
      version: { type: 'integer', format: 'int64', minimum: 1 },
      title: text,
      deleted_at_ms: AT_MS,
      deleted_by: { type: 'string', maxLength: MAX_ACTOR_LENGTH },
    },
    open: true,
  },
  incident: {
    required: ['incident_id', 'title'],
    properties: { incident_id: objectId, title: { type: 'string', maxLength: 512 }, owner_id: int64 },
  },
  // `check-line.ts` checks that there is either the id or the key, and that only an alert with a key has a status and times.
  alert: { required: ['title'], properties: alertFields },
} as const satisfies Record<string, KindSchema>;

export type Kind = keyof typeof SCHEMAS;
export const KINDS = Object.keys(SCHEMAS) as Kind[];

/** Kinds that give access to the API: import accepts them, the feed does not. */
const ACCESS_KINDS = ['account', 'app_key'] as const;
export type IngestKind = Exclude<Kind, (typeof ACCESS_KINDS)[number]>;
export const INGEST_KINDS = KINDS.filter(
  (kind): kind is IngestKind => !(ACCESS_KINDS as readonly Kind[]).includes(kind),
);

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
  const isIngestKind = (INGEST_KINDS as readonly Kind[]).includes(kind);
  return {
    type: 'object',
    required: ['account_id', ...required],
    properties: { kind: text, account_id: accountId, ...(isIngestKind && { at_ms: AT_MS }), ...properties },
    additionalProperties: open,
  };
}

type LineName = Kind | 'retired_host' | 'exported_alert';
/** The schemas of lines, by kind; those of a host that is retired and of an alert that was exported are others. */
export const LINES = {
  ...Object.fromEntries(KINDS.map((kind) => [kind, lineSchema(kind, SCHEMAS[kind])])),
  retired_host: lineSchema('host', {
    required: ['host_id', 'retired'],
    properties: { ...host.properties, retired: { const: true } },
  }),
  exported_alert: lineSchema('alert', exportedAlert),
} as Readonly<Record<LineName, LineSchema>>;

/** The highest version at which a work item can be deleted: deletion adds 1, and a version is an int64. */
export const MAX_DELETABLE_VERSION = 2n ** 63n - 2n;

/** What a line of the ingest queue or of an import becomes. */
export interface IngestRecord {
  entity: Entity<IngestKind>;
  /** When the change happened, in Unix milliseconds. */
  atMs: number;
  order: Order;
  /** Of a line that an export has written: the orders of its row, which its parts get in place of `order`. */
  orders?: Orders;
  /** Whether it removes a host from the fleet. */
  retired: boolean;
}
