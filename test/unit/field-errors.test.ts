import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../lib/http/call.ts';
import type { ApiError } from '../../lib/http/errors.ts';
import { validateMiddleware } from '../../lib/http/validate.ts';

describe('the fieldErrors of a body', () => {
  const LIST = { type: 'array', items: { type: 'string', maxLength: 3 } };
  const ITEM = LIST.items;

  /** The field errors of a body. @param paths of the errors that its validator finds */
  function errorsOf(paths: string[], body: object = {}): unknown {
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
    [['/list'], { schema: LIST }],
    [['/list/1'], { schema: ITEM, item: 1 }],
    [['/list/1', '/list/1'], { schema: ITEM, item: 1 }],
    [['/list/1', '/list/1', '/list/2', '/list/7', '/list/7'], { schema: ITEM, item: 1, moreItems: 2 }],
    [['/list/1', '/list'], { schema: ITEM, item: 1 }],
    [['/list', '/list/1', '/list/2'], { schema: LIST }],
  ])('combine the paths %j into one error of the field', (paths, problem) => {
    expect(errorsOf(paths)).toStrictEqual({ fieldErrors: [{ field: 'list', ...problem }] });
  });

  it('are empty for a valid body, and report strings with half a surrogate pair', () => {
    expect(errorsOf([], { list: ['abc'] })).toEqual([]);
    const item = { field: 'list', schema: ITEM, item: 0 };
    const illFormed = { fieldErrors: [{ ...item, illFormed: true }] };
    expect(errorsOf([], { list: ['\ud800', '\ud800'] })).toStrictEqual(illFormed);
    expect(errorsOf(['/list/0'], { list: ['\ud800abc'] })).toStrictEqual({ fieldErrors: [item] });
  });

  it('may come from a check that uses the caller', () => {
    const caller = { accountId: 1 };
    const asked: unknown[] = [];
    const validate = Object.assign(() => true, { errors: null });
    validateMiddleware({ properties: {} }, validate, (_body, _offending, callerOf) => {
      asked.push(callerOf());
      return [];
    }).before?.({ event: { body: {}, call: { caller } } } as unknown as ApiRequest);
    expect(asked).toEqual([caller]);
  });

  it('report a missing required field', () => {
    const errors = [{ instancePath: '', params: { missingProperty: 'list' } }];
    const validate = Object.assign(() => false, { errors });
    const check = () =>
      validateMiddleware({ properties: { list: LIST } }, validate).before?.({
        event: { body: {} },
      } as unknown as ApiRequest);
    const fieldErrors = [{ field: 'list', schema: LIST, missing: true }];
    expect(check).toThrow(expect.objectContaining({ explanation: { name: 'invalidFields', values: { fieldErrors } } }));
  });
});
