import { describe, expect, it } from 'vitest';
import { isThrottled, isUnavailable } from '../../lib/dynamodb/failures.ts';
import { toApiError } from '../../lib/http/envelope.ts';
import { ApiError, ERROR_CODES, refuse } from '../../lib/http/errors.ts';

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
    const refusal = refuse('rumResourceNotFound');
    expect(toApiError(refusal, isUnavailable)).toBe(refusal);
  });

  it('is ServiceUnavailable with Retry-After when a dependency is down, throttled or slow', () => {
    expect(toApiError(named('TimeoutError'), isUnavailable)).toMatchObject({
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

describe('a failure of DynamoDB', () => {
  const cancelled = (...codes: (string | undefined)[]) =>
    named('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
  const THROTTLES = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];

  it.each([
    ...THROTTLES.map((name) => named(name)),
    ...['LimitExceededException', 'InternalServerError', 'ServiceUnavailable', 'TransactionConflictException'].map(
      (name) => named(name),
    ),
    ...['TransactionInProgressException', 'ReplicatedWriteConflictException', 'AbortError', 'TimeoutError'].map(
      (name) => named(name),
    ),
    ...[
      'ECONNREFUSED',
      'ECONNRESET',
      'EPIPE',
      'ETIMEDOUT',
      'ENOTFOUND',
      'EAI_AGAIN',
      'EHOSTUNREACH',
      'ENETUNREACH',
    ].map((code) => named('Error', { code })),
    ...['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'].map((code) =>
      cancelled('None', code),
    ),
    named('X', { $metadata: { httpStatusCode: 500 } }),
    new DOMException('too late', 'TimeoutError'),
    named('AggregateError', { errors: [named('X'), named('X', { code: 'EPIPE' })] }),
  ])('$name $code passes', (error) => expect(isUnavailable(error)).toBe(true));

  it.each([
    named(''),
    named('X', { code: '' }),
    named('X', { $metadata: {} }),
    named('X', { $metadata: { httpStatusCode: 499 } }),
    named('X', { errors: [named('X')] }),
    named('X', { CancellationReasons: [{ Code: 'TransactionConflict' }] }),
    named('TransactionCanceledException'),
    cancelled(undefined, 'None', 'ConditionalCheckFailed', ''),
  ])('$name is lasting', (error) => expect(isUnavailable(error)).toBe(false));

  it('asks for a slower pace or does not', () => {
    for (const name of THROTTLES) expect(isThrottled(named(name))).toBe(true);
    for (const error of [named('InternalServerError'), named(''), { name: 'ThrottlingException' }, undefined])
      expect(isThrottled(error)).toBe(false);
  });
});
