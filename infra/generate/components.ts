/** The components of openapi.json: schemas by title, the error envelope, headers and parameters. */
import { ERROR_CODES, type ErrorCode } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { CATALOGS } from '../../lib/http/messages/index.ts';
import { SOURCE } from '../../lib/http/parameters.ts';
import { REQUEST_ID } from './examples.ts';

type Schema = Record<string, unknown>;

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/**
 * A schema as it is published: each part with a title becomes a component of that name, and every object is open to new
 * fields.
 * @param named receives the components, by title
 */
export function addComponents(schema: unknown, named: Map<string, Schema>): unknown {
  if (Array.isArray(schema)) return schema.map((element) => addComponents(element, named));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title, ...rest } = schema as Schema;
  if (rest.additionalProperties === false) delete rest.additionalProperties;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, addComponents(value, named)]));
  // In `properties`, `title` is not a title but a property of that name.
  if (typeof title !== 'string') return title === undefined ? inner : { ...inner, title: addComponents(title, named) };
  const existing = named.get(title);
  if (existing && JSON.stringify(existing) !== JSON.stringify(inner))
    throw new Error(`two schemas have the title ${title}`);
  named.set(title, inner);
  return schemaRef(title);
}

const codes = Object.keys(ERROR_CODES) as ErrorCode[];
/** What the document says about a code in addition to its message. */
const REMARKS: Partial<Record<ErrorCode, string>> = {
  ResourceNotFound: 'HTTP 400, not 404.',
  RequestTooFrequently: 'The limit may be API-global, per-account or per-integration.',
};
export function meaningOf(code: ErrorCode): string {
  const reserved = 'reserved' in ERROR_CODES[code] && 'Reserved: no operation returns it.';
  return [en.codes[code], REMARKS[code], reserved].filter(Boolean).join(' ');
}

const requestId = {
  type: 'string',
  description: 'Identifies the call in the logs: quote it when you ask about a call',
  examples: [REQUEST_ID],
};

/** The schemas that make up the envelope of every answer. */
export const ENVELOPE_SCHEMAS: Readonly<Record<string, Schema>> = {
  RequestId: requestId,
  ErrorCode: {
    type: 'string',
    enum: codes,
    description:
      'The authoritative signal: act on this code; the HTTP status is informational. Codes may be added: handle unknown ones by status.\n\n' +
      `| code | HTTP | meaning |\n|---|---|---|\n${codes
        .map((code) => `| \`${code}\` | ${ERROR_CODES[code].status} | ${meaningOf(code)} |`)
        .join('\n')}`,
    'x-enum-descriptions': codes.map(meaningOf),
  },
  Error: {
    type: 'object',
    description: 'Why a call failed',
    required: ['code', 'message'],
    properties: {
      code: schemaRef('ErrorCode'),
      message: {
        type: 'string',
        description:
          'Human-readable, in the language of the Accept-Language header; in English where API Gateway itself responds',
      },
      refused: {
        type: 'array',
        items: schemaRef('RefusedItem'),
        description: 'The first ten of the items, if a call to the feed is refused since none of them can be taken',
      },
      refused_count: { type: 'integer', description: 'How many items these are' },
    },
  },
  ErrorEnvelope: {
    type: 'object',
    description: 'The envelope of a call that failed',
    required: ['request_id', 'error'],
    properties: { request_id: schemaRef('RequestId'), error: schemaRef('Error') },
  },
};

const header = (description: string, schema: object = { type: 'string' }) => ({ description, schema });
const integer = { type: 'integer' };

export const HEADERS = {
  'Svc-Request-Id': { ...header('The `request_id` of the body'), required: true },
  'Content-Language': header('Language of `error.message` or of the reasons'),
  'Retry-After': header('Seconds to wait before sending the call again', integer),
  Age: header('Seconds since the record was read', integer),
  'Idempotent-Replayed': header('`true` if the same call had been done before, so that nothing was done now'),
  'X-RateLimit-Limit': header('Quota of the window closest to exhaustion', integer),
  'X-RateLimit-Remaining': header('Calls left in that window', integer),
  'X-RateLimit-Reset': header('Unix time in seconds at which that window ends', integer),
  'RateLimit-Policy': header('All windows: their quota `q` and their length `w` in seconds'),
  RateLimit: header('All windows: what remains (`r`) and the seconds until each ends (`t`)'),
} as const;

export const PARAMETERS = {
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description: `Languages of \`error.message\` by preference: ${CATALOGS.map(({ language }) => `\`${language}\``).join(', ')}; the first is the default`,
    schema: { type: 'string' },
  },
  Source: {
    name: 'source',
    in: 'query',
    description:
      'Names the sender. Alerts of two sources are different alerts, even with the same labels; those of one source are the same, so the ' +
      'replicas of a sender have one source',
    schema: SOURCE,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to repeat the merge: 1 to 255 visible ASCII characters and blanks, kept for 24 hours. Bodies are compared ' +
      'by meaning: ids without letter case, order and repetition, an empty title or comment as absent',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  },
};
