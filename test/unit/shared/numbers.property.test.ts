/** Numbers in every notation of JSON in every integer field, compared with exact arithmetic on their text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyMiddleware, type Validator, validateMiddleware } from '../../../lib/http/body.ts';
import type { ApiError, FieldSchema } from '../../../lib/http/errors.ts';
import { CATALOGS, messageOf } from '../../../lib/http/messages/index.ts';
import type { ApiRequest } from '../../../lib/http/operation.ts';
import { entityOf } from '../../../lib/ingest/check-line.ts';
import { KINDS } from '../../../lib/ingest/kinds.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import validateBrowse from '../../../lib/operations/browse-fleet/validate-browse-fleet.ts';
import validateDelete from '../../../lib/operations/delete-work-item/validate-delete-work-item.ts';
import { operations } from '../../../lib/operations/index.ts';
import validateMerge from '../../../lib/operations/merge-alerts/validate-merge-alerts.ts';
import { mayHaveRoundedNumber } from '../../../lib/shared/json.ts';
import { documentedLines } from '../../support/documents.ts';

const MAX_DELETABLE = 2n ** 63n - 2n;
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
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

/** An integer, often near a bound that matters, with its decimal point moved anywhere and sometimes with more decimals. */
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

/** The validator and a valid body of each operation that has integers. */
const VALIDATED: Readonly<Record<string, [validate: Validator, body: object]>> = {
  'browse-fleet': [validateBrowse, {}],
  'delete-work-item': [validateDelete, { work_item_id: '1.5', version: 1 }],
  'merge-alerts': [validateMerge, { alert_ids: [ID], incident_id: ID }],
};
const INTEGER_FIELDS = operations.flatMap(({ name, request }) =>
  Object.entries(request.properties as Record<string, FieldSchema>).flatMap(([field, schema]) =>
    schema.type === 'integer' ? { name, request, field, schema } : [],
  ),
);

/** A field of a body after all checks, as text, or the message of its refusal. */
function outcomeOf(number: string, { name, request, field }: Omit<(typeof INTEGER_FIELDS)[number], 'schema'>): string {
  const [validate, body] = VALIDATED[name] ?? expect.unreachable(`${name} has no validator here`);
  const text = JSON.stringify({ ...body, [field]: '?' }).replace('"?"', `${number} `);
  const event = { headers: { 'Content-Type': 'application/json' }, body: text };
  const call = { event } as unknown as ApiRequest;
  try {
    bodyMiddleware({ maxBodyBytes: 2 ** 20 }).before?.(call);
    validateMiddleware(request, validate).before?.(call);
    return String((call.event.body as unknown as Record<string, unknown>)[field]);
  } catch (error) {
    return messageOf(CATALOGS[0], error as ApiError);
  }
}

describe('an integer parameter takes any JSON number whose exact value is an integer of its range, and no other', () => {
  describe.each(INTEGER_FIELDS)('$name $field', (parameter) => {
    const { field, schema } = parameter;
    const min = BigInt(schema.minimum ?? INT64.min);
    const max = BigInt(schema['x-maximum'] ?? schema.maximum ?? INT64.max);
    const refusal = expect.stringMatching(`^${field} must be an integer`);
    function expectExact(number: string): void {
      const exact = integerOf(number);
      const isInRange = exact !== undefined && exact >= min && exact <= max;
      expect([number, outcomeOf(number, parameter)]).toEqual([number, isInRange ? String(exact) : refusal]);
    }
    it('in every notation', () => fc.assert(fc.property(numbers, expectExact), { numRuns: 500 }));
    it.each([
      ...['10e-1', '0.1e1', '-0', '0e5', '1.5', '4503599627370497.5', '1.00000000000000000001', '1e-400', '1e400'],
      ...['9223372036854775806.0', '922337203685477580.6e1', '9223372036854775807', '9223372036854775808'],
      ...['-9223372036854775808', '-9223372036854775809', '9223372036854775807.5', '9'.repeat(400)],
    ])('%s', expectExact);
    // Exact arithmetic on these would take too long.
    it.each(['1e99999999999', `1e${'9'.repeat(400)}`, '1e-99999999999'])('not %s', (number) =>
      expect(outcomeOf(number, parameter)).toEqual(refusal),
    );
  });

  it('reads a number of any length in linear time', () => {
    const parameter = { name: browseFleet.name, request: browseFleet.request, field: 'limit' };
    const cpuAtStart = process.cpuUsage();
    const zeros = '0'.repeat(250_000);
    const quotes = '\\"'.repeat(120_000);
    for (const number of [`0.${zeros}1`, `1${zeros}`, `1.${zeros}`, `1.5,"x":"${quotes}`, `"${quotes}","y":1.5`])
      outcomeOf(number, parameter);
    expect(process.cpuUsage(cpuAtStart).user).toBeLessThan(2_000_000); // a quadratic reading takes minutes
  });
});

describe('an import', () => {
  const integers = documentedLines().flatMap((text) =>
    Object.entries(JSON.parse(text) as object)
      .filter(([, value]) => typeof value === 'number')
      .map(([field, value]) => ({
        text,
        field,
        kind: JSON.parse(text).kind as string,
        fieldText: `"${field}":${value}`,
      })),
  );

  it.each(integers)('accepts only exact integers at $kind.$field', ({ text, field, fieldText }) => {
    fc.assert(
      fc.property(numbers, (number) => {
        const line = text.replace(fieldText, `"${field}":${number}`);
        const { entity: read } = entityOf(line, KINDS);
        const exact = integerOf(number);
        if (read) expect([number, String(read[field])]).toEqual([number, String(exact)]);
        else expect(exact === undefined || exact < 1n || exact > 8_640_000_000_000n).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('accepts the version after the last deletable one for deleted items only', () => {
    const item = (version: bigint, more = '') =>
      `{"kind":"work_item","account_id":1,"work_item_id":"w","title":"t","version":${version}${more}}`;
    for (const line of [item(MAX_DELETABLE), item(MAX_DELETABLE + 1n, ',"deleted_at_ms":1')])
      expect(entityOf(line, KINDS).problems).toEqual([]);
    expect(entityOf(item(MAX_DELETABLE + 1n), KINDS).problems).toEqual([
      `version must be at most ${MAX_DELETABLE}, unless the work item is deleted: deletion adds 1`,
    ]);
  });
});

it('the exact parser is used for every number that JSON.parse may round, wherever it is, and not for strings', () => {
  fc.assert(
    fc.property(fc.json(), numbers, fc.constantFrom('', ' ', '\n\t'), (json, number, space) => {
      const isPlain = /^-?\d{1,15}$/.test(number);
      for (const text of [`{"s\\"":${json},"x":${space}${number}}`, `[${space}${number},${json}]`])
        expect(mayHaveRoundedNumber(text) || isPlain).toBe(true);
      const inString = JSON.stringify(`:${number},[${number}`);
      expect(mayHaveRoundedNumber(`{"x":${inString},"y":${isPlain ? number : 1},"id":"${ID}"}`)).toBe(false);
    }),
  );
});
