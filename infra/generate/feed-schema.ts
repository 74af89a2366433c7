/** `feed.schema.json`, the JSON Schema of a record that is sent to the feed. A test fails if it and the code disagree on a record. */
import { MAX_DEPTH, MAX_FIELD_NAME, MAX_RECORD_BYTES, SMALLEST_NUMBER } from '../../lib/ingest/limits.ts';
import { KEYED_ONLY, LINES, type LineSchema } from '../../lib/ingest/lines.ts';
import { INGEST_KINDS } from '../../lib/model/kinds.ts';
import { MAX_ACTOR_LENGTH, MAX_DELETABLE_VERSION, RESERVED_WORK_ITEM_FIELDS } from '../../lib/model/work-item.ts';
import { NO_INCIDENT } from '../../lib/shared/json.ts';

const INT64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n };
/** No half of a surrogate pair. */
const WELL_FORMED = '^[^\\ud800-\\udfff]*$';
const near0 = (bounds: object) => ({ type: 'number', ...bounds });

/** What validators of JSON Schema do not know of a line's schema by themselves: well-formed Unicode, and the range of `int64`. */
function withTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withTypes);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, format, pattern, enum: values } = schema as Record<string, unknown>;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, inside]) => [name, withTypes(inside)]));
  if (type === 'string' && !pattern && !values) return { ...inner, pattern: WELL_FORMED };
  return type === 'integer' && format === 'int64' ? { ...INT64, ...inner } : inner;
}

const ref = (name: string) => ({ $ref: `#/$defs/${name}` });

/** The values of a field that the kind does not name: each definition allows one level less than the next. */
const VALUES = Array.from({ length: MAX_DEPTH }, (_, levels) => [
  `value${levels}`,
  {
    ...ref('scalar'),
    ...(levels === 0
      ? { type: ['null', 'boolean', 'number', 'string'] }
      : {
          items: ref(`value${levels - 1}`),
          propertyNames: ref('name'),
          additionalProperties: ref(`value${levels - 1}`),
        }),
  },
]);
const DEFINITIONS = {
  name: { minLength: 1, maxLength: MAX_FIELD_NAME, pattern: WELL_FORMED, not: { const: '__proto__' } },
  scalar: {
    pattern: WELL_FORMED,
    ...INT64,
    not: {
      anyOf: [
        near0({ exclusiveMinimum: 0, exclusiveMaximum: SMALLEST_NUMBER }),
        near0({ exclusiveMinimum: -SMALLEST_NUMBER, exclusiveMaximum: 0 }),
      ],
    },
  },
  ...Object.fromEntries(VALUES),
};

const NAMES_INCIDENT = { not: { required: ['incident_id'], properties: { incident_id: { const: NO_INCIDENT } } } };
/** The rules of a kind that `check-line.ts` checks in addition to its schema. */
const RULES: Readonly<Record<string, object>> = {
  alert: {
    oneOf: [
      {
        required: ['alert_id'],
        properties: Object.fromEntries(['alert_key', ...KEYED_ONLY].map((name) => [name, false])),
      },
      { required: ['alert_key'], properties: { alert_id: false } },
    ],
    anyOf: [{ required: ['title'] }, { required: ['alert_status'], properties: { alert_status: { const: 'Ok' } } }],
    ...NAMES_INCIDENT,
  },
  incident: NAMES_INCIDENT,
  work_item: {
    propertyNames: { ...ref('name'), not: { enum: RESERVED_WORK_ITEM_FIELDS } },
    additionalProperties: ref(`value${MAX_DEPTH - 1}`),
    anyOf: [{ required: ['deleted_at_ms'] }, { properties: { version: { maximum: MAX_DELETABLE_VERSION } } }],
  },
};
const undoneDeletion = {
  ...ref(`value${MAX_DEPTH - 1}`),
  type: 'object',
  required: ['version', 'at_ms'],
  properties: {
    version: { type: 'integer', ...INT64 },
    at_ms: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    by: { type: 'string', maxLength: MAX_ACTOR_LENGTH },
  },
};

function recordSchema(kind: string, line: LineSchema): object {
  const properties = withTypes(line.properties) as Record<string, object>;
  return {
    ...line,
    required: ['kind', ...line.required],
    properties: {
      ...properties,
      kind: { const: kind },
      ...(kind === 'alert' && {
        labels: { ...properties.labels, propertyNames: ref('name') },
        annotations: { ...properties.annotations, propertyNames: ref('name') },
      }),
      ...(kind === 'work_item' && { undone_deletion: undoneDeletion }),
    },
    ...RULES[kind],
  };
}

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A record of the feed',
  description: `It has at most ${MAX_RECORD_BYTES} bytes in UTF-8, account_id and at_ms not counted.`,
  oneOf: [...INGEST_KINDS.map((kind) => recordSchema(kind, LINES[kind])), recordSchema('host', LINES.retired_host)],
  $defs: DEFINITIONS,
};

export function feedSchemaText(): string {
  // `JSON.stringify` indents, but cannot write a bigint.
  const indented = JSON.stringify(schema, (_, value) => (typeof value === 'bigint' ? `${value}n` : value), 2);
  return `${indented.replace(/"(-?\d+)n"/g, '$1')}\n`;
}
