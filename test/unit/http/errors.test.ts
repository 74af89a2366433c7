import { describe, expect, it } from 'vitest';
import { toApiError } from '../../../lib/http/call.ts';
import { ApiError, ERROR_CODES, refusal } from '../../../lib/http/errors.ts';
import { isUnavailable } from '../../../lib/shared/concurrency.ts';
import { CODES } from '../../../packages/conformance/src/contract.ts';

it('the table of error codes holds every code of the contract with its status, and no other', () => {
  const statuses = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status]);
  expect(Object.fromEntries(statuses)).toEqual(CODES);
});

const named = (name: string, more: object = {}) => Object.assign(new Error('secret-table-name'), { name, ...more });

describe('the answer to a thrown error', () => {
  it('is the error itself if it is an ApiError', () => {
    const error = refusal('rumResourceNotFound');
    expect(toApiError(error)).toBe(error);
  });

  it('is ServiceUnavailable with Retry-After when a dependency is down, throttled or slow', () => {
    expect(toApiError(named('TimeoutError'))).toMatchObject({
      code: 'ServiceUnavailable',
      headers: { 'Retry-After': '1' },
    });
  });

  it.each([
    named('ResourceNotFoundException', { $metadata: { httpStatusCode: 400 } }),
    named('TransactionCanceledException', { CancellationReasons: [{ Code: 'ConditionalCheckFailed' }] }),
    'a string',
    undefined,
    null,
  ])('is InternalError without any detail for a bug: %s', (error) => {
    expect(isUnavailable(error)).toBe(false);
    const answered = toApiError(error);
    expect(answered).toBeInstanceOf(ApiError);
    expect(answered).toMatchObject({ code: 'InternalError', explanation: undefined, headers: {} });
    expect(answered.message).not.toContain('secret');
  });
});
