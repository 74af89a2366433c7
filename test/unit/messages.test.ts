import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode, type Explanation, type Explanations } from '../../lib/api/errors.ts';
import { CATALOGS, catalogFor, messageOf, ROUTE_CATALOGS } from '../../lib/api/messages/index.ts';
import { refuse } from '../../lib/api/refusals.ts';
import { anyText } from '../support/any-text.ts';

/** One example of every sentence, and what it must mention. */
const EXAMPLES: { [K in keyof Explanations]: [values: Explanations[K], mentions: string[]] } = {
  invalidFields: [
    { fieldErrors: [{ field: 'limit', must: { is: 'integer', min: 1, max: 100 } }] },
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
  mergeTargetsNotFound: [{ missing: [{ what: 'alert', id: 'abc' }], more: 7 }, ['abc', '7']],
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
