import { describe, expect, it } from 'vitest';
import {
  ERROR_CODES,
  type ErrorCode,
  type Explanation,
  type Explanations,
  type FieldError,
  type FieldSchema,
  messageOf,
} from '../../../lib/http/errors.ts';
import { CATALOGS, catalogFor } from '../../../lib/http/messages/index.ts';
import { CODES } from '../../../packages/conformance/src/contract.ts';

const VALUES: Explanations = {
  invalidFields: { fieldErrors: [{ field: 'limit', schema: {} }] },
  malformedBody: { line: 7, column: 23 },
  bodyNotUtf8: undefined,
  bodyWithMark: undefined,
  bodyEncoded: { encoding: 'br' },
  bodyTooDeep: { levels: 1000 },
  bodyTooManyValues: { values: 100_000 },
  bodyNotObject: undefined,
  bodyTooLarge: { maxBytes: 262_144 },
  invalidIdempotencyKey: { invalid: { position: 3, codePoint: 'U+00E9' } },
  invalidSource: { maxLength: 64 },
  idempotencyKeyReused: undefined,
  workItemNotFound: { workItemId: 'wi-1' },
  workItemTooLarge: { workItemId: 'wi-1' },
  versionDiffers: { given: '3', stored: '9007199254740993' },
  contentTypeOfItems: undefined,
  noItemTaken: { list: 'records', refused: [{ index: 17, reason: 'kind' }], more: 7 },
  alertNotFound: { alertId: 'abc' },
  endedAlertsUnnamed: undefined,
  namedAlertsWithTimes: undefined,
  tooManyNamed: { fields: ['alert_ids', 'alert_keys'], given: 101, maximum: 100 },
  rumResourceNotFound: undefined,
  alertsTooLarge: { named: ['abc'], more: 7 },
  incidentTooLarge: { incidentId: '64f000000000000000000001' },
  mergesPending: { pending: 25 },
  mergeTargetsNotFound: { named: [{ kind: 'alert', id: 'abc' }], more: 7, unread: 300 },
  permissionMissing: { permission: 'monit' },
  mergesWriteTooMuch: { limit: 120, windowSeconds: 60 },
  tooFrequent: { limit: 30, windowSeconds: 60 },
  tooManyItems: { limit: 20_000, windowSeconds: 3 },
  writesFrozen: undefined,
  standby: undefined,
  serviceMapDisabled: undefined,
  methodNotAllowed: { allow: 'POST' },
  itemTooLong: { bytes: 9_000, maxBytes: 8_192 },
  itemNotJson: { column: 23 },
  itemNotObject: undefined,
  itemTooDeep: { field: 'notes', levels: 31 },
  itemNamesInvalid: { field: 'notes', maxLength: 128 },
  itemOfSns: undefined,
  itemOfRefusedCall: undefined,
  accountDiffers: { accountId: '9007199254740993' },
  fieldUnknown: { field: 'source_id' },
  fieldReserved: { field: 'ttl' },
  numberNotStorable: { field: 'notes' },
  clockAhead: { field: 'at_ms', aheadMs: 300_001 },
  notExactlyOne: { fields: ['alert_id', 'alert_key'] },
  alertKeyRequired: { field: 'alert_status' },
  incidentIdZero: undefined,
  versionNotDeletable: { maximum: '9223372036854775806' },
  alertWithoutTitle: undefined,
  alertWithoutIdentity: undefined,
};

/** The texts and numbers in the values of an explanation, but what messages translate: kinds of things, and schemas. */
function shownIn(values: unknown): string[] {
  if (values === undefined) return [];
  if (typeof values !== 'object' || values === null) return [String(values)];
  const shown = Object.entries(values).filter(([name]) => name !== 'kind' && name !== 'schema');
  return shown.flatMap(([, value]) => shownIn(value));
}

it('there is each code of the contract, with its status', () => {
  const statuses = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status]);
  expect(Object.fromEntries(statuses)).toEqual(CODES);
});

describe.each(CATALOGS.map((catalog) => [catalog.language, catalog] as const))('the language %s', (_name, catalog) => {
  it('has a sentence for every code, and every explanation with its values', () => {
    for (const code of Object.keys(CODES) as ErrorCode[])
      expect(messageOf(catalog, { code, explanation: undefined }).length, code).toBeGreaterThan(3);
    for (const [name, values] of Object.entries(VALUES)) {
      const text = messageOf(catalog, { code: 'BadRequest', explanation: { name, values } as Explanation });
      for (const shown of shownIn(values)) expect(text, name).toContain(shown);
      const shortest = catalog.language === 'zh-CN' ? /.{8}[.。]$/ : /.{9}[.。]$/;
      expect(text, `${name} must be a sentence`).toMatch(shortest);
      expect(text).not.toMatch(/undefined|null|NaN|\[object/);
    }
  });
});

/** Each form of a field's schema, and its description in English. */
const FORMS: [schema: FieldSchema, english: string][] = [
  [{}, 'a JSON value'],
  [{ type: 'boolean' }, 'true or false'],
  [{ type: 'object' }, 'a JSON object'],
  [{ format: 'date-time' }, 'a time of RFC 3339'],
  [{ format: 'http-url' }, 'an http or https URL of at most 2048 characters'],
  [
    { format: 'labels' },
    'an object of at most 64 strings of at most 1024 characters each, with names of 1 to 128 characters',
  ],
  [{ format: 'scalars' }, 'an object of strings, numbers and booleans'],
  [
    { format: 'undone-deletion' },
    'an object with version (int64), at_ms (Unix milliseconds) and, if known, by (string of at most 256 characters)',
  ],
  [{ type: 'string', enum: ['a', 'b'] }, 'one of a, b'],
  [{ type: 'integer', minimum: 0 }, 'an integer of at least 0'],
  [{ type: 'integer', maximum: 5 }, 'an integer of at most 5'],
  [{ type: 'integer', minimum: 0, maximum: 5 }, 'an integer from 0 to 5'],
  [{ type: 'integer', minimum: 3, maximum: 5, 'x-minimum-field': 'limit' }, 'an integer from 3 (limit) to 5'],
  [{ type: 'integer', minimum: 3, maximum: 5, 'x-maximum-field': 'a + 2' }, 'an integer from 3 to 5 (a + 2)'],
  [{ type: 'integer', format: 'int64' }, 'an integer in the int64 range'],
  [{ type: 'integer', format: 'int64', minimum: 0 }, 'an integer in the int64 range, at least 0'],
  [{ type: 'integer', format: 'int64', maximum: 9, 'x-maximum': '8' }, 'an integer from -9223372036854775808 to 8'],
  [{ type: 'string' }, 'a string'],
  [{ type: 'string', maxLength: 1 }, 'a string of at most 1 character'],
  [{ type: 'string', minLength: 0, maxLength: 5 }, 'a string of 0 to 5 characters'],
  [{ type: 'string', format: 'objectid', minLength: 24 }, 'an ObjectID: a string of 24 hexadecimal digits'],
  [
    { type: 'string', format: 'cursor' },
    'a next_cursor that this service returned to this account (leave it out for the first page)',
  ],
  [
    { type: 'string', format: 'filtered-cursor' },
    'a search_after_ctx that this service returned to this account for the same list (leave it out for the first page)',
  ],
  [{ type: 'array', minItems: 1, items: { type: 'boolean' } }, 'an array of at least 1 item, each true or false'],
  [{ type: 'array', minItems: 1, maxItems: 3, items: { type: 'string' } }, 'an array of 1 to 3 items, each a string'],
];

it.each(FORMS)(
  'the schema %j is described in English, and with the same values in every language',
  (schema, english) => {
    const messagesOf = (fieldError: Partial<FieldError>) =>
      CATALOGS.map(({ explain }) => explain.invalidFields({ fieldErrors: [{ field: 'f', schema, ...fieldError }] }));
    expect(messagesOf({})[0]).toBe(`f must be ${english}.`);
    expect(messagesOf({ item: 2, moreItems: 1 })[0]).toBe(`f[2] (and 1 more) must be ${english}.`);
    const found = english.match(/-?\d+|ObjectID|next_cursor|\(limit\)|true|one of (.*)/g) ?? [];
    const values = found.flatMap((text) => text.replace(/^one of |[()]/g, '').split(', '));
    for (const message of messagesOf({ missing: true })) {
      expect(message).toMatch(new RegExp(values.join('.*'), 's'));
      expect(message).not.toContain('undefined');
    }
  },
);

it('a field that is not supported is named in every language, with the one to use', () => {
  const fieldErrors = [{ field: 'p', schema: {}, unsupported: { instead: 'search_after_ctx' } }];
  for (const { explain } of CATALOGS) expect(explain.invalidFields({ fieldErrors })).toMatch(/\bp\b.*search_after_ctx/);
});

/** A language that the service does not have: the tag is reserved for private use. */
const UNKNOWN = 'qaa';
/** The language that `*` selects in a header that also names English. */
const OTHER = CATALOGS[1]?.language ?? 'en';
/** Refuses every language but Chinese. */
const REFUSED_OTHERS = CATALOGS.flatMap(({ language }) => (language === 'zh-CN' ? [] : `${language};q=0`)).join(', ');

const selected: [language: string, ...headers: (string | undefined)[]][] = [
  ['en', undefined, 'en-GB', 'zh-TW', UNKNOWN, '*', '*, zh;q=0.5', 'en;q=0', 'zh-Hans;q=0, *;q=0.5, en', ';;;,,,q='],
  ['zh-CN', 'ZH-cn', 'zh-Hans-HK', `en;q=0.1, ${UNKNOWN};q=0.9, zh-CN;q=0.2`, `${REFUSED_OTHERS}, zh-Hant;q=0, *`],
  [OTHER, 'en;q=0, *', 'en ; q=0.000 , *;q=0.1', 'en;q=0.1, *'],
];
it.each(selected.flatMap(([language, ...headers]) => headers.map((header) => [header, language] as const)))(
  'Accept-Language %s selects %s',
  (header, language) => expect(catalogFor(header).language).toBe(language),
);
