/** Numbers in every notation of JSON in every integer field of the operations. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bodyMiddleware, type Validator, validateMiddleware } from '../../../lib/http/body.ts';
import { ApiError, type FieldSchema } from '../../../lib/http/errors.ts';
import type { ApiRequest } from '../../../lib/http/operation.ts';
import { sentRecordOf } from '../../../lib/ingest/check-line.ts';
import { KINDS } from '../../../lib/model/kinds.ts';
import validateBrowse from '../../../lib/operations/browse-fleet/validate-browse-fleet.ts';
import validateDelete from '../../../lib/operations/delete-work-item/validate-delete-work-item.ts';
import { operations } from '../../../lib/operations/index.ts';
import validateList from '../../../lib/operations/list-alerts/validate-list-alerts.ts';
import validateMerge from '../../../lib/operations/merge-alerts/validate-merge-alerts.ts';
import { integerOf, numbers } from './numbers.ts';

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const ID = 'a'.repeat(24);

/** The validator and a valid body of each operation that has integers. */
const VALIDATED: Readonly<Record<string, [validate: Validator, body: object]>> = {
  'browse-fleet': [validateBrowse, {}],
  'delete-work-item': [validateDelete, { work_item_id: '1.5', version: 1 }],
  'list-alerts': [validateList, {}],
  'merge-alerts': [validateMerge, { alert_ids: [ID], incident_id: ID }],
};
const PARAMETERS = operations.flatMap(({ name, request }) =>
  Object.entries(request.properties as Record<string, FieldSchema>).flatMap(([field, schema]) =>
    schema.type === 'integer' ? { name, request, field, schema } : [],
  ),
);

/** A field of a body after all checks, as text, or the code of its refusal. */
function outcomeOf(number: string, { name, request, field }: (typeof PARAMETERS)[number]): string {
  const [validate, body] = VALIDATED[name] ?? expect.unreachable(`${name} has no validator here`);
  const text = JSON.stringify({ ...body, [field]: '?' }).replace('"?"', `${number} `);
  const call = { event: { headers: { 'Content-Type': 'application/json' }, body: text } } as unknown as ApiRequest;
  try {
    bodyMiddleware({ maxBodyBytes: 2 ** 20 }).before?.(call);
    validateMiddleware(request, validate).before?.(call);
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

it('a work item may have the version after the last deletable one only if it is deleted', () => {
  const line = `{"kind":"work_item","account_id":1,"work_item_id":"w","title":"t","version":${INT64.max}`;
  const problems = ['}', ',"deleted_at_ms":1795000000000}'].map(
    (end) => sentRecordOf(line + end, KINDS).problems.length,
  );
  expect(problems).toEqual([1, 0]);
});
