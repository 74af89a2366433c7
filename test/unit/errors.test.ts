import { describe, expect, it } from 'vitest';
import { toApiError } from '../../lib/api/envelope.ts';
import { ApiError, ERROR_CODES, refuse } from '../../lib/api/errors.ts';
import { isUnavailable } from '../../lib/table/failures.ts';

/** The contract's table, as it stands there. */
const CONTRACT = {
  OK: 200,
  InvalidParameter: 400,
  BadRequest: 400,
  InvalidContentType: 400,
  ResourceNotFound: 400,
  NoLicense: 400,
  ReferenceExist: 400,
  Unauthorized: 401,
  BalanceNotEnough: 402,
  AccessDenied: 403,
  RouteNotFound: 404,
  MethodNotAllowed: 405,
  UndonedOrderExist: 409,
  EntityTooLarge: 413,
  RequestLocked: 423,
  RequestVerifyRequired: 428,
  DangerousOperation: 428,
  RequestTooFrequently: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
};

const RESERVED = [
  'OK',
  'NoLicense',
  'ReferenceExist',
  'BalanceNotEnough',
  'UndonedOrderExist',
  'RequestLocked',
  'RequestVerifyRequired',
  'DangerousOperation',
];

describe('the table of error codes', () => {
  it('holds every code of the contract with its status, and no other', () => {
    const statuses = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status]);
    expect(Object.fromEntries(statuses)).toEqual(CONTRACT);
  });

  it('marks as reserved the codes that no operation here can produce', () => {
    const marked = Object.entries(ERROR_CODES).filter(([, entry]) => 'reserved' in entry);
    expect(marked.map(([code]) => code)).toEqual(RESERVED);
  });
});

const named = (name: string, more: object = {}) => Object.assign(new Error('secret-table-name'), { name, ...more });

describe('whatever was thrown', () => {
  it('is shown as it is when it is a refusal of ours', () => {
    const refusal = refuse('ResourceNotFound', 'rumResourceNotFound', undefined);
    expect(toApiError(refusal, isUnavailable)).toBe(refusal);
  });

  it.each([
    named('ProvisionedThroughputExceededException'),
    named('ThrottlingException'),
    named('RequestLimitExceeded'),
    named('InternalServerError'),
    named('TimeoutError'),
    named('AbortError'),
    named('Error', { code: 'ECONNREFUSED' }),
    named('Error', { code: 'ECONNRESET' }),
    named('Error', { code: 'ENOTFOUND' }),
    named('AggregateError', { errors: [named('Error', { code: 'ECONNREFUSED' })] }),
    named('Anything', { $metadata: { httpStatusCode: 502 } }),
    named('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
    }),
    new DOMException('too late', 'TimeoutError'),
  ])('is ServiceUnavailable with Retry-After when a dependency is down, throttled or slow: $name $code', (error) => {
    expect(toApiError(error, isUnavailable)).toMatchObject({
      code: 'ServiceUnavailable',
      headers: { 'Retry-After': '1' },
    });
  });

  it.each([
    named('ResourceNotFoundException', { $metadata: { httpStatusCode: 400 } }),
    named('ValidationException'),
    named('AccessDeniedException'),
    named('TransactionCanceledException', { CancellationReasons: [{ Code: 'ConditionalCheckFailed' }] }),
    new TypeError('x is not a function'),
    'a string',
    undefined,
    null,
  ])('is InternalError without any detail when it is a mistake of ours: %s', (error) => {
    expect(isUnavailable(error)).toBe(false);
    const shown = toApiError(error, isUnavailable);
    expect(shown).toBeInstanceOf(ApiError);
    expect(shown).toMatchObject({ code: 'InternalError', explanation: undefined, headers: {} });
    expect(shown.message).not.toContain('secret');
  });
});
