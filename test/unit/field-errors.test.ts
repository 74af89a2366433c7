import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../lib/api/call.ts';
import type { ApiError } from '../../lib/api/errors.ts';
import { type FieldSchema, ruleOf } from '../../lib/api/field-errors.ts';
import { validateMiddleware } from '../../lib/api/validate.ts';

describe('what a field must be', () => {
  it.each<[FieldSchema, object]>([
    [{}, { is: 'anything' }],
    [{ type: 'object' }, { is: 'anything' }],
    [{ type: 'boolean' }, { is: 'boolean' }],
    [
      { type: 'string', enum: ['a', 'b'] },
      { is: 'oneOf', values: ['a', 'b'] },
    ],
    [{ type: 'integer' }, { is: 'integer' }],
    [
      { type: 'integer', minimum: 0, maximum: 5 },
      { is: 'integer', min: 0, max: 5 },
    ],
    [{ type: 'integer', format: 'int64' }, { is: 'int64' }],
    [
      { type: 'integer', format: 'int64', minimum: 1, maximum: 9 },
      { is: 'int64', min: 1, max: 9 },
    ],
    [
      { type: 'integer', format: 'int64', maximum: 9, 'x-maximum': '8' },
      { is: 'int64', max: '8' },
    ],
    [{ type: 'string' }, { is: 'string' }],
    [
      { type: 'string', minLength: 0, maxLength: 5 },
      { is: 'string', min: 0, max: 5 },
    ],
    [{ type: 'string', format: 'objectid', minLength: 24 }, { is: 'objectId' }],
    [{ type: 'array' }, { is: 'array', items: { is: 'anything' } }],
    [
      { type: 'array', minItems: 1, items: { type: 'boolean' } },
      { is: 'array', min: 1, items: { is: 'boolean' } },
    ],
  ])('by the schema %j is %j', (schema, rule) => expect(ruleOf(schema)).toStrictEqual(rule));
});

describe('the fieldErrors of a body', () => {
  const LIST = { type: 'array', items: { type: 'string', maxLength: 3 } };
  const ITEM = { is: 'string', max: 3 };
  const WHOLE = { is: 'array', items: ITEM };

  /** What is told of a body in whose field `list` a validator finds this. */
  function told(paths: string[], body: object = {}): unknown {
    const validate = Object.assign(() => false, {
      errors: paths.map((instancePath) => ({ instancePath, params: {} })),
    });
    try {
      validateMiddleware({ properties: { list: LIST } }, validate).before?.({
        event: { body },
      } as unknown as ApiRequest);
      return [];
    } catch (error) {
      return (error as ApiError).explanation?.values;
    }
  }

  it.each([
    [['/list'], { must: WHOLE }],
    [['/list/1'], { must: ITEM, item: 1 }],
    [['/list/1', '/list/1'], { must: ITEM, item: 1 }],
    [['/list/1', '/list/2', '/list/1', '/list/7'], { must: ITEM, item: 1, moreItems: 2 }],
    [['/list/1', '/list'], { must: ITEM, item: 1 }],
    [['/list', '/list/1', '/list/2'], { must: WHOLE }],
  ])('at %j are one of the field', (paths, problem) => {
    expect(told(paths)).toStrictEqual({ fieldErrors: [{ field: 'list', ...problem }] });
  });

  it('are none where there is nothing wrong, and strings of half a character count once', () => {
    expect(told([], { list: ['abc'] })).toEqual([]);
    const fieldErrors = [{ field: 'list', must: ITEM, item: 0 }];
    expect(told([], { list: ['\ud800', '\ud800'] })).toStrictEqual({ fieldErrors });
    expect(told(['/list/0'], { list: ['\ud800abc'] })).toStrictEqual({ fieldErrors });
  });

  it('name what is required and missing', () => {
    const errors = [{ instancePath: '', params: { missingProperty: 'list' } }];
    const validate = Object.assign(() => false, { errors });
    const check = () =>
      validateMiddleware({ properties: { list: LIST } }, validate).before?.({
        event: { body: {} },
      } as unknown as ApiRequest);
    const fieldErrors = [{ field: 'list', must: WHOLE, missing: true }];
    expect(check).toThrow(expect.objectContaining({ explanation: { name: 'invalidFields', values: { fieldErrors } } }));
  });
});
