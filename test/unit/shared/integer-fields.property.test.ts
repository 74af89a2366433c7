/** Numbers in every notation of JSON in every integer field of the operations. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compilable } from '../../../infra/generate/validators.ts';
import { bodyMiddleware, type Validator, validateMiddleware } from '../../../lib/http/body.ts';
import { ApiError, type FieldSchema } from '../../../lib/http/errors.ts';
import type { ApiRequest } from '../../../lib/http/operation.ts';
import { sentRecordOf } from '../../../lib/ingest/check-line.ts';
import { operations } from '../../../lib/operations/index.ts';
import { integerOf, numbers } from './numbers.ts';

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** The validators by the names of their operations. */
const VALIDATORS = new Map<string, Validator>(
  await Promise.all(
    operations.map(async ({ name }) => {
      const { default: validate } = await import(`../../../lib/operations/${name}/validate-${name}.ts`);
      return [name, validate] as const;
    }),
  ),
);
const PARAMETERS = operations.flatMap(({ name, request, example }) =>
  Object.entries(request.properties as Record<string, FieldSchema>).flatMap(([field, schema]) =>
    schema.type === 'integer' ? { name, request, example, field, schema } : [],
  ),
);

/** A field of a body after all checks, as text, or the code of its refusal. */
function outcomeOf(number: string, { name, request, example, field }: (typeof PARAMETERS)[number]): string {
  const validate = VALIDATORS.get(name) ?? expect.unreachable();
  // A text that looks like a number is none.
  const text = JSON.stringify({ ...example.request, other: '1.5', [field]: '?' }).replace('"?"', `${number} `);
  const call = { event: { headers: { 'Content-Type': 'application/json' }, body: text } } as unknown as ApiRequest;
  try {
    bodyMiddleware({ maxBodyBytes: 2 ** 20 }).before?.(call);
    validateMiddleware({ request }, validate).before?.(call);
    return String((call.event.body as unknown as Record<string, unknown>)[field]);
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

it.each(PARAMETERS)(
  '$name $field takes any number whose exact value is an integer of its range, and no other',
  (parameter) => {
    const min = BigInt(parameter.schema.minimum ?? INT64.min);
    const max = BigInt(parameter.schema['x-maximum'] ?? parameter.schema.maximum ?? INT64.max);
    const expectExact = (number: string) => {
      const exact = integerOf(number);
      const isInRange = exact !== undefined && exact >= min && exact <= max;
      expect([number, outcomeOf(number, parameter)]).toEqual([number, isInRange ? String(exact) : 'InvalidParameter']);
    };
    for (const exact of [min - 1n, min, max, max + 1n]) expectExact(String(exact));
    fc.assert(fc.property(numbers, expectExact), { numRuns: 50 });
  },
);

it('an integer without bounds is refused when its validator is generated', () => {
  const request = { properties: { count: { type: 'integer', minimum: 1 } } };
  expect(() => compilable(request)).toThrow('The integer count needs a maximum, or the format int64: {"type":');
});

it('a work item may have the version after the last deletable one only if it is deleted', () => {
  const problemsOf = (version: bigint, end = '}') =>
    sentRecordOf(`{"kind":"work_item","account_id":1,"work_item_id":"w","title":"t","version":${version}${end}`)
      .problems;
  expect(problemsOf(INT64.max)).toHaveLength(1);
  expect([problemsOf(INT64.max - 1n), problemsOf(INT64.max, ',"deleted_at_ms":1795000000000}')]).toEqual([[], []]);
});
