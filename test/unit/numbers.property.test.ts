/** Numbers in every notation of JSON in every integer field, compared with exact arithmetic on their text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyMiddleware } from '../../lib/http/body.ts';
import type { ApiRequest } from '../../lib/http/call.ts';
import type { ApiError, FieldSchema } from '../../lib/http/errors.ts';
import { CATALOGS, messageOf } from '../../lib/http/messages/index.ts';
import { browseFleet, deleteWorkItem, mergeAlerts, operations } from '../../lib/http/operations.ts';
import { validateMiddleware } from '../../lib/http/validate.ts';
import validateBrowse from '../../lib/operations/browse-fleet/validate-browse-fleet.ts';
import validateDelete from '../../lib/operations/delete-work-item/validate-delete-work-item.ts';
import validateMerge from '../../lib/operations/merge-alerts/validate-merge-alerts.ts';
import { hasRoundedNumber, isInt64, parseJson } from '../../lib/shared/json.ts';
import { checkData } from '../../packages/admin/data/check-lines.ts';
import { documentedLines } from '../support/data-format.ts';

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const MAX_DELETABLE_VERSION = 2n ** 63n - 2n;
const ID = 'a'.repeat(24);

/** The integer that a number is, by BigInt arithmetic on its text; undefined when it is none. Slow for large exponents. */
function integerOf(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const power = BigInt(exponent) - BigInt(fraction.length);
  const digits = BigInt(whole + fraction) * (sign ? -1n : 1n);
  if (power >= 0n) return digits * 10n ** power;
  const divisor = 10n ** -power;
  return digits % divisor === 0n ? digits / divisor : undefined;
}

/** An integer, often near a bound that matters, with its point moved anywhere and at times with further decimals. */
const numbers = fc
  .record({
    value: fc.oneof(
      fc.bigInt({ min: -3n, max: 2_005n }),
      fc
        .constantFrom(2n ** 52n, 2n ** 53n, 2n ** 63n, -(2n ** 63n), 2n ** 64n, 10n ** 25n)
        .chain((bound) => fc.bigInt({ min: bound - 3n, max: bound + 3n })),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    ),
    shift: fc.integer({ min: -30, max: 30 }),
    zeros: fc.integer({ min: 0, max: 3 }),
    decimals: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.stringMatching(/^[0-9]{1,25}$/)),
    e: fc.constantFrom('e', 'E', 'e+', 'E+'),
  })
  .map(({ value, shift, zeros, decimals, e }) => {
    const sign = value < 0n ? '-' : '';
    const digits = String(value < 0n ? -value : value);
    if (shift === 0) return `${sign}${digits}${decimals && `.${decimals}`}`;
    if (shift > 0) {
      // 12345 as 123.45e2, or as 0.00012345e8
      const padded = digits.padStart(shift + 1, '0');
      const point = padded.length - shift;
      return `${sign}${padded.slice(0, point)}.${padded.slice(point)}${decimals}${'0'.repeat(zeros)}${e}${shift}`;
    }
    return decimals
      ? `${sign}${digits}.${decimals}`
      : `${sign}${digits}${value === 0n ? '' : '0'.repeat(-shift)}e${shift}`;
  });

/** The fields of a body after all checks, or the message of its refusal. */
function passed(text: string, [schema, validate]: Checks): Record<string, unknown> | string {
  const request = { event: { headers: { 'Content-Type': 'application/json' }, body: text } } as unknown as ApiRequest;
  try {
    bodyMiddleware({ maxBodyBytes: 2 ** 20 }).before?.(request);
    validateMiddleware(schema, validate).before?.(request);
    return request.event.body as Record<string, unknown>;
  } catch (error) {
    return messageOf(CATALOGS[0], error as ApiError);
  }
}

type Checks = [schema: { properties: object }, validate: never];
const browse: Checks = [browseFleet.request, validateBrowse as never];
const FIELDS: [
  field: string,
  checks: Checks,
  bodyOf: (number: string) => string,
  bounds: { min: bigint; max: bigint },
][] = [
  ['limit', browse, (n) => `{"limit":${n}}`, { min: 1n, max: 100n }],
  ['scan_limit', browse, (n) => `{"scan_limit":${n}}`, { min: 1n, max: 2000n }],
  [
    'version',
    [deleteWorkItem.request, validateDelete as never],
    (n) => `{"work_item_id":"1.5","version":${n}}`,
    { min: 1n, max: MAX_DELETABLE_VERSION },
  ],
  [
    'owner_id',
    [mergeAlerts.request, validateMerge as never],
    (n) => `{"alert_ids":["${ID}"],"incident_id":"${ID}","owner_id": ${n} }`,
    INT64,
  ],
];

describe('an integer parameter takes any JSON number whose exact value is an integer of its range, and no other', () => {
  it('every integer parameter is tested here', () => {
    const all = operations.flatMap(({ request }) =>
      Object.entries(request.properties as Record<string, FieldSchema>).filter(([, { type }]) => type === 'integer'),
    );
    expect(all.map(([name]) => name)).toEqual(FIELDS.map(([name]) => name));
  });

  describe.each(FIELDS)('%s', (field, checks, bodyOf, { min, max }) => {
    const refusal = expect.stringMatching(`^${field} must be an integer`);
    function holds(number: string): void {
      const exact = integerOf(number);
      const outcome = passed(bodyOf(number), checks);
      if (exact === undefined || exact < min || exact > max) expect([number, outcome]).toEqual([number, refusal]);
      else expect([number, String((outcome as Record<string, unknown>)[field])]).toEqual([number, String(exact)]);
    }
    it('property: in every notation', () => fc.assert(fc.property(numbers, holds), { numRuns: 500 }));
    it.each([
      ...['1e3', '1.0', '1E+2', '10e-1', '0.1e1', '1e0', '-0', '-0.0', '0e5', '50.000', '1000e-1', '1.5', '-1e-1'],
      ...['4503599627370497.5', '9007199254740992.5', '1.00000000000000000001', '0.99999999999999999999', '1e-400'],
      ...['9223372036854775806', '9223372036854775806.0', '922337203685477580.6e1', '9223372036854775807'],
      ...['9223372036854775808', '-9223372036854775808', '-9223372036854775809', '9223372036854775807.5'],
      ...['1e400', '-1e400', '9'.repeat(400), `1${'0'.repeat(30)}`],
    ])('%s', holds);
    // Exact arithmetic on these would take too long.
    it.each(['1e99999999999', `1e${'9'.repeat(400)}`, '1e-99999999999'])('not %s', (number) =>
      expect(passed(bodyOf(number), checks)).toEqual(refusal),
    );
  });

  it('reads a number of any length in linear time', () => {
    const began = process.cpuUsage();
    for (const number of [`0.${'0'.repeat(250_000)}1`, `1${'0'.repeat(250_000)}`, `1.${'0'.repeat(250_000)}`])
      passed(`{"limit":${number}}`, browse);
    passed(`{"x":"${'\\"'.repeat(120_000)}","limit":1.5}`, browse);
    passed(`{"limit":1.5,"x":"${'\\"'.repeat(120_000)}`, browse);
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000); // a quadratic reading takes minutes
  });
});

describe('an import', () => {
  const somewhere = {
    hasAccount: async () => true,
    ownersOf: async () => new Map(),
    existing: async () => new Set<string>(),
  };
  const integers = documentedLines().flatMap((text) =>
    Object.entries(JSON.parse(text) as object)
      .filter(([, value]) => typeof value === 'number')
      .map(([field, value]) => ({
        text,
        field,
        kind: JSON.parse(text).kind as string,
        written: `"${field}":${value}`,
      })),
  );

  it.each(integers)('accepts only exact integers at $kind.$field', async ({ text, field, written }) => {
    await fc.assert(
      fc.asyncProperty(numbers, async (number) => {
        const line = text.replace(written, `"${field}":${number}`);
        const read = await checkData('f', [line], somewhere).catch(() => undefined);
        const exact = integerOf(number);
        if (read) expect([number, String(read[0]?.[field])]).toEqual([number, String(exact)]);
        else expect(exact === undefined || exact < 1n || exact > 8_640_000_000_000n).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('accepts the version after the last deletable one for deleted items only', async () => {
    const item = (version: bigint, more = '') =>
      `{"kind":"work_item","account_id":1,"work_item_id":"w","title":"t","version":${version}${more}}`;
    for (const line of [item(MAX_DELETABLE_VERSION), item(MAX_DELETABLE_VERSION + 1n, ',"deleted_at_ms":1')])
      expect(await checkData('f', [line], somewhere)).toHaveLength(1);
    await expect(checkData('f', [item(MAX_DELETABLE_VERSION + 1n)], somewhere)).rejects.toThrow(
      `f:1: version must be at most ${MAX_DELETABLE_VERSION}, unless the work item is deleted`,
    );
  });
});

describe('the exact parser', () => {
  it('is not used for ids, whatever their digits', () => {
    const hex = fc.stringMatching(/^[0-9a-f]{24}$/);
    fc.assert(
      fc.property(fc.array(hex, { minLength: 100, maxLength: 100 }), fc.string(), (alert_ids, comment) => {
        expect(hasRoundedNumber(JSON.stringify({ alert_ids, incident_id: ID, owner_id: 123456789012345 }))).toBe(false);
        expect(hasRoundedNumber(JSON.stringify({ comment, title: `at [1.5, 2e9, ${alert_ids[0]}` }))).toBe(false);
      }),
    );
  });

  it('property: is used for every number that JSON.parse may round, wherever it is', () => {
    fc.assert(
      fc.property(fc.json(), numbers, fc.constantFrom('', ' ', '\n\t'), (json, number, space) => {
        const plain = /^-?\d{1,15}$/.test(number);
        for (const text of [`{"s\\"":${json},"x":${space}${number}}`, `[${space}${number},${json}]`])
          expect(hasRoundedNumber(text) || plain).toBe(true);
        expect(hasRoundedNumber(`{"x":${JSON.stringify(`:${number},[${number}`)},"y":${plain ? number : 1}}`)).toBe(
          false,
        );
      }),
    );
  });

  it('reads a fraction that a double rounds to an integer as NaN', () => {
    expect(parseJson('[0.5,4503599627370497.5,1e-400,1.5e300]')).toEqual([0.5, Number.NaN, Number.NaN, 1.5e300]);
    expect(isInt64(parseJson('1.5e300'))).toBe(false);
  });
});
