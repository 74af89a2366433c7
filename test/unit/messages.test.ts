import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode, type Explanation, type Explanations } from '../../lib/api/errors.ts';
import type { FieldSchema } from '../../lib/api/field-errors.ts';
import { CATALOGS, catalogFor, messageOf, ROUTE_CATALOGS } from '../../lib/api/messages/index.ts';
import { refuse } from '../../lib/api/refusals.ts';
import { anyText } from '../support/any-text.ts';

/** One example of every sentence, and what it must mention. */
const EXAMPLES: { [K in keyof Explanations]: [values: Explanations[K], mentions: string[]] } = {
  invalidFields: [
    { fieldErrors: [{ field: 'limit', schema: { type: 'integer', minimum: 1, maximum: 100 } }] },
    ['limit', '1', '100'],
  ],
  malformedBody: [undefined, ['JSON', 'UTF-8']],
  bodyTooDeep: [undefined, []],
  bodyNotObject: [undefined, ['JSON']],
  bodyTooLarge: [{ maxBytes: 262_144 }, ['262144']],
  invalidIdempotencyKey: [undefined, ['Idempotency-Key', '255']],
  idempotencyKeyReused: [undefined, ['Idempotency-Key']],
  unknownCursor: [undefined, ['cursor', 'next_cursor']],
  workItemNotFound: [{ workItemId: 'wi-1' }, ['wi-1']],
  versionDiffers: [{ given: '3', stored: '9007199254740993' }, ['3', '9007199254740993']],
  rumResourceNotFound: [undefined, ['RUM']],
  alertsTooLarge: [{ some: ['abc'], more: 7 }, ['abc', '7']],
  mergeTargetsNotFound: [{ some: [{ what: 'alert', id: 'abc' }], more: 7 }, ['abc', '7']],
  permissionMissing: [{ permission: 'monit' }, ['monit']],
  tooFrequent: [{ limit: 30, windowSeconds: 60 }, ['30', '60', 'Retry-After']],
  methodNotAllowed: [{ allow: 'POST' }, ['POST']],
};

describe.each(CATALOGS.map((catalog) => [catalog.language, catalog] as const))('the language %s', (_name, catalog) => {
  it('has a sentence for every code', () => {
    expect(Object.keys(catalog.codes).sort()).toEqual(Object.keys(ERROR_CODES).sort());
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[])
      expect(messageOf(catalog, { code, explanation: undefined }).length).toBeGreaterThan(3);
  });

  it('has every explanation, and each says what it is given', () => {
    expect(Object.keys(catalog.explain).sort()).toEqual(Object.keys(EXAMPLES).sort());
    for (const [name, [values, mentions]] of Object.entries(EXAMPLES)) {
      const text = messageOf(catalog, { code: 'BadRequest', explanation: { name, values } as Explanation });
      for (const mention of mentions) expect(text, name).toContain(mention);
      expect(text).not.toMatch(/undefined|null|NaN|\[object/);
    }
  });
});

describe('what a field must be', () => {
  it.each<[FieldSchema, english: string, chinese: string]>([
    [{}, 'a JSON value', ' JSON 值'],
    [{ type: 'object' }, 'a JSON value', ' JSON 值'],
    [{ type: 'boolean' }, 'true or false', ' true 或 false'],
    [{ type: 'string', enum: ['a', 'b'] }, 'one of a, b', '以下值之一：a、b'],
    [{ type: 'integer' }, 'an integer', '整数'],
    [{ type: 'integer', minimum: 0 }, 'an integer of at least 0', '不小于 0 的整数'],
    [{ type: 'integer', maximum: 5 }, 'an integer of at most 5', '不大于 5 的整数'],
    [{ type: 'integer', minimum: 0, maximum: 5 }, 'an integer from 0 to 5', '0 到 5 之间的整数'],
    [{ type: 'integer', format: 'int64' }, 'an integer in the int64 range', ' int64 范围内的整数'],
    [
      { type: 'integer', format: 'int64', minimum: 0 },
      'an integer in the int64 range, at least 0',
      ' int64 范围内且不小于 0 的整数',
    ],
    [{ type: 'integer', format: 'int64', minimum: 0, maximum: 9 }, 'an integer from 0 to 9', ' 0 到 9 之间的整数'],
    [
      { type: 'integer', format: 'int64', maximum: 9, 'x-maximum': '8' },
      'an integer from -9223372036854775808 to 8',
      ' -9223372036854775808 到 8 之间的整数',
    ],
    [{ type: 'string' }, 'a string', '字符串'],
    [{ type: 'string', maxLength: 1 }, 'a string of at most 1 character', '至多 1 个字符的字符串'],
    [{ type: 'string', minLength: 0, maxLength: 5 }, 'a string of 0 to 5 characters', '0 到 5 个字符的字符串'],
    [
      { type: 'string', format: 'objectid', minLength: 24 },
      'an ObjectID: a string of 24 hexadecimal digits',
      ' ObjectID，即 24 位十六进制字符串',
    ],
    [{ type: 'array' }, 'an array, each a JSON value', '数组，每一项必须是 JSON 值'],
    [
      { type: 'array', minItems: 1, items: { type: 'boolean' } },
      'an array of at least 1 item, each true or false',
      '含至少 1 项的数组，每一项必须是 true 或 false',
    ],
  ])('by the schema %j is told in both languages', (schema, ...told) => {
    const fieldErrors = [{ field: 'f', schema }];
    const messages = CATALOGS.map(({ explain }) => explain.invalidFields({ fieldErrors }));
    expect(messages).toEqual([`f must be ${told[0]}.`, `f 必须是${told[1]}。`]);
  });
});

describe('Accept-Language', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['en', 'en'],
    ['en-GB', 'en'],
    ['zh', 'zh-CN'],
    ['zh-CN', 'zh-CN'],
    ['ZH-cn', 'zh-CN'],
    ['zh-SG', 'zh-CN'],
    ['zh-Hans', 'zh-CN'],
    ['zh-Hans-HK', 'zh-CN'],
    ['zh-TW', 'en'],
    ['zh-Hant', 'en'],
    ['zh-HK', 'en'],
    ['fr', 'en'],
    ['*', 'en'],
    ['fr, zh;q=0.5', 'zh-CN'],
    ['zh;q=0.4, en;q=0.5', 'en'],
    ['zh;q=0.6, en;q=0.5', 'zh-CN'],
    ['en;q=0.1, fr;q=0.9, zh-CN;q=0.2', 'zh-CN'],
    ['zh;q=0', 'en'],
    ['zh;q=0, en;q=0', 'en'],
    ['zh-TW, zh;q=0.9', 'zh-CN'],
    ['*, zh;q=0.5', 'en'],
    ['en;q=0, *', 'zh-CN'],
    ['*, EN;Q=0', 'zh-CN'],
    ['en ; q=0.000 , *;q=0.1', 'zh-CN'],
    ['en;q=0.1, *', 'zh-CN'],
    ['en-GB;q=0, *', 'en'],
    ['en;q=0, zh;q=0, *', 'en'],
    ['en;q=0', 'en'],
    ['zh-Hans;q=0, *;q=0.5, en;q=0.1', 'en'],
    ['en;q=0, zh-Hant;q=0.5, *', 'zh-CN'],
    ['not a tag at all, zh', 'zh-CN'],
    [';;;,,,q=', 'en'],
    ['x'.repeat(10_000), 'en'],
  ])('%s chooses %s', (header, language) => {
    expect(catalogFor(header, CATALOGS).language).toBe(language);
  });

  it('of any other form chooses a language all the same', () => {
    fc.assert(fc.property(anyText, (header) => CATALOGS.includes(catalogFor(header, CATALOGS))));
  });
});

describe('the catalogues of refused routes', () => {
  it('are those of the same languages, with less in them', () => {
    expect(ROUTE_CATALOGS.map(({ language }) => language)).toEqual(['en', 'zh-CN']);
    const [english] = ROUTE_CATALOGS;
    const explanation: Explanation = { name: 'permissionMissing', values: { permission: 'monit' } };
    expect(messageOf(english, { code: 'RouteNotFound', explanation })).toBe(
      messageOf(english, { code: 'RouteNotFound', explanation: undefined }),
    );
  });
});

describe('a refusal', () => {
  it('has its own sentence in both languages', () => {
    const error = refuse('versionDiffers', { given: '1', stored: '2' });
    const [english, chinese] = CATALOGS.map((catalog) => messageOf(catalog, error));
    expect(english).toBe('version must be the stored version of the work item, which is 2, not 1.');
    expect(chinese).toBe('version 必须等于工作项当前的版本 2，而不是 1。');
  });
});
