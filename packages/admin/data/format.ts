/** The data format: one JSON object a line, its `kind` telling what it is. `docs/data-format.md` describes it for users. */
import { Ajv, type ErrorObject } from 'ajv';
import { int64Keyword, withInt64 } from '../../../infra/generate/int64-keyword.ts';
import { catalog as en } from '../../../lib/http/messages/en.ts';
import { getRumResource, operations } from '../../../lib/http/operations.ts';
import { USAGE_FIELDS } from '../../../lib/http/resources.ts';
import { type Fields, fieldErrorOf } from '../../../lib/http/validate.ts';
import { HOST_SCHEMA, STATUS_SCHEMA } from '../../../lib/operations/browse-fleet/fleet-rows.ts';
import { type Int64, isInt64 } from '../../../lib/shared/json.ts';
import { flag, natural, objectId, text } from '../../../lib/shared/schema.ts';
import { type AppKeyIdentity, identityOfAppKey } from '../accounts/app-key-admin.ts';
import { LAST_VERSION } from '../incidents/restore-work-item.ts';

/** Of an account's name, in code points. */
export const LONGEST_NAME = 512;
/** Of an app key's note, in code points. */
export const LONGEST_NOTE = 512;

const name = { type: 'string', minLength: 1, maxLength: LONGEST_NAME } as const;
const accountId = { type: 'integer', format: 'int64', minimum: 1 } as const;
const int64 = { type: 'integer', format: 'int64' } as const;
/** Unix seconds up to the year 5138: what is beyond are milliseconds. */
const seconds = { type: 'integer', format: 'int64', minimum: 0, maximum: 99_999_999_999 } as const;
/** Of an app key: shorter ones can be guessed. */
const SHORTEST_KEY = 32;
const PERMISSIONS = [...new Set(operations.flatMap((one) => ('permission' in one ? one.permission : [])))];

const rumFields = getRumResource.response.properties as Readonly<Record<string, object>>;
const usageNames: readonly string[] = USAGE_FIELDS;
const recordNames = Object.keys(rumFields).filter((field) => field !== 'account_id' && !usageNames.includes(field));
const pick = (names: readonly string[]) => Object.fromEntries(names.map((field) => [field, rumFields[field]]));

interface KindSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object | undefined>>;
  /** Further members are stored as they are. */
  readonly open?: boolean;
}

const SCHEMAS = {
  account: {
    required: ['name', 'permissions'],
    properties: { name, permissions: { type: 'array', items: { type: 'string', enum: PERMISSIONS } }, suspended: flag },
  },
  app_key: {
    // Either the key or its hash, as exported: checked below.
    required: [],
    properties: {
      app_key: { type: 'string', minLength: SHORTEST_KEY, maxLength: 256 },
      app_key_hash: { type: 'string', minLength: 64, maxLength: 64, pattern: '^[0-9a-f]{64}$' },
      last_digits: { type: 'string', maxLength: 4 },
      created_at: seconds,
      expires_at: seconds,
      revoked: flag,
      note: { type: 'string', maxLength: LONGEST_NOTE },
    },
  },
  member: { required: ['member_id', 'name'], properties: { member_id: int64, name } },
  host: {
    required: HOST_SCHEMA.required,
    properties: { ...HOST_SCHEMA.properties, capture_mode: { type: 'string', enum: ['ebpf', 'polling'] } },
  },
  host_status: STATUS_SCHEMA,
  rum_resource: { required: recordNames, properties: { ...pick(recordNames), deleted: flag } },
  rum_usage: { required: USAGE_FIELDS, properties: pick(USAGE_FIELDS) },
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
    required: ['alert_id', 'title'],
    properties: { alert_id: objectId, title: text, incident_id: objectId },
  },
} as const satisfies Record<string, KindSchema>;

export type Kind = keyof typeof SCHEMAS;
export const KINDS = Object.keys(SCHEMAS) as Kind[];

/** One line of data that passed its schema. */
export type Entity = { kind: Kind; account_id: Int64 } & Record<string, unknown>;

const ajv = new Ajv({ allErrors: true, strict: true, messages: false });
ajv.addKeyword(int64Keyword);

/** Fields that identify an entity of a kind, besides the account. */
const IDENTITY: Readonly<Partial<Record<Kind, string>>> = {
  member: 'member_id',
  host: 'host_id',
  host_status: 'host_id',
  work_item: 'work_item_id',
  incident: 'incident_id',
  alert: 'alert_id',
};

const validators = Object.fromEntries(
  Object.entries<KindSchema>(SCHEMAS).map(([kind, { required, properties, open = false }]) => {
    const fields = { kind: text, account_id: accountId, ...properties } as Fields;
    const object = { type: 'object', additionalProperties: open };
    const schema = { ...object, required: ['account_id', ...required], properties: fields };
    return [kind, { fields, validate: ajv.compile(withInt64(schema) as object) }];
  }),
);

/** Problems of a parsed line; empty if it is an {@link Entity}. */
export function problemsOf(line: unknown): string[] {
  if (typeof line !== 'object' || line === null || Array.isArray(line)) return ['a line must be a JSON object'];
  const { kind } = line as { kind?: unknown };
  const schema = typeof kind === 'string' && Object.hasOwn(validators, kind) ? validators[kind] : undefined;
  if (!schema) return [`kind must be one of ${KINDS.join(', ')}`];
  const { fields, validate } = schema;
  validate(line);
  const problems = (validate.errors ?? []).map((error) => problemText(error, fields));
  if (kind === 'app_key' && 'app_key' in line === 'app_key_hash' in line)
    problems.push('exactly one of app_key and app_key_hash is required');
  if (kind === 'work_item') problems.push(...workItemProblems(line));
  if ('' in line) problems.push('field names must not be empty');
  for (const [field, value] of Object.entries(line))
    for (const problem of Object.hasOwn(fields, field) ? malformed(value) : unstorable(value))
      problems.push(`${field} ${problem}`);
  return [...new Set(problems)];
}

/** Checks of a work item that no schema expresses. */
function* workItemProblems(line: object): Generator<string> {
  for (const name of RESERVED) if (name in line) yield `${name} is reserved: rename the field`;
  const { version, deleted_at_ms, undone_deletion: undone } = line as Partial<Record<string, unknown>>;
  if (undone !== undefined && !isUndoneDeletion(undone))
    yield 'undone_deletion must have version (int64), at_ms (Unix milliseconds) and, if known, by (string)';
  if (isInt64(version) && version > LAST_VERSION && deleted_at_ms === undefined)
    yield `version must be at most ${LAST_VERSION}, unless the work item is deleted: deletion adds 1`;
}

function isUndoneDeletion(value: unknown): boolean {
  const { version, at_ms, by = '' } = (value ?? {}) as Partial<Record<string, unknown>>;
  return isInt64(version) && Number.isSafeInteger(at_ms) && Number(at_ms) >= 0 && typeof by === 'string';
}

/** Reserved field names: keys, the time to live, and what the stream's filter knows a large merge by. */
const RESERVED = ['pk', 'sk', 'ttl', 'large'];

/** Nesting levels of a row, including its own. */
const DEEPEST = 31;
/** Bounds of DynamoDB's numbers; beyond 2^53 its client rejects numbers outside the int64 range. */
const SMALLEST_NUMBER = 1e-130;

function* malformed(value: unknown): Generator<string> {
  const texts = Array.isArray(value) ? value : [value];
  if (texts.some((one) => typeof one === 'string' && !one.isWellFormed())) yield 'must be well-formed Unicode';
}

/** Why an open field's value cannot be stored. */
function* unstorable(value: unknown, depth = 1): Generator<string> {
  yield* malformed(value);
  if (typeof value === 'bigint' && !isInt64(value)) yield 'must not contain integers beyond the int64 range';
  if (typeof value === 'number') {
    const size = Math.abs(value);
    if (Number.isNaN(value) || size > Number.MAX_SAFE_INTEGER || (size > 0 && size < SMALLEST_NUMBER))
      yield 'must not contain numbers beyond 2^53 or below 1e-130, or numbers that a double rounds to an integer';
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === DEEPEST) yield `must not be nested deeper than ${DEEPEST} levels`;
  else
    for (const [name, inner] of Object.entries(value)) {
      if (name === '' || !name.isWellFormed())
        yield 'must not contain field names that are empty or not well-formed Unicode';
      yield* unstorable(inner, depth + 1);
    }
}

function problemText(error: ErrorObject, fields: Fields): string {
  const { keyword, params } = error;
  if (keyword === 'additionalProperties') return `${params.additionalProperty} is not a field of this kind`;
  return en.explain.invalidFields({ fieldErrors: [fieldErrorOf(error, fields)] }).replace(/\.$/, '');
}

/** What is stored of the key of an `app_key` line. */
export function appKeyOf({ app_key, app_key_hash, last_digits }: Entity): AppKeyIdentity {
  if (app_key !== undefined) return identityOfAppKey(String(app_key));
  return { hash: String(app_key_hash), lastDigits: String(last_digits ?? '') };
}

/** Identifies an entity: two lines with the same identity are duplicates. */
export function identityOf(entity: Entity): string {
  if (entity.kind === 'app_key') return `app_key ${appKeyOf(entity).hash}`;
  const field = IDENTITY[entity.kind];
  const id = field === undefined ? '' : String(entity[field]);
  const comparable = field?.endsWith('_id') && /^(incident|alert)$/.test(entity.kind) ? id.toLowerCase() : id;
  return `${entity.kind} ${entity.account_id} ${comparable}`;
}
