/** What a failed call of DynamoDB means for its caller. */
import { describe, expect, it } from 'vitest';
import { causeOf, isThrottled, isUnavailable } from '../../../lib/shared/concurrency.ts';
import { isRowTooLarge } from '../../../lib/table/write.ts';

const named = (name: string, more: object = {}) => Object.assign(new Error('message'), { name, ...more });
const cancelled = (...reasons: object[]) => ({ name: 'TransactionCanceledException', CancellationReasons: reasons });
/** What the SDK adds to the error of a call that it sent. */
const sent = { $metadata: {} };
const THROTTLES = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];

describe('a failure', () => {
  it.each([
    ...THROTTLES,
    ...['LimitExceededException', 'InternalServerError', 'ServiceUnavailable', 'TransactionConflictException'],
    ...['TransactionInProgressException', 'ReplicatedWriteConflictException', 'AbortError', 'TimeoutError'],
    'EntryMissingError',
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'].map((code) => named('Error', { code })),
    ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].map((code) => named('Error', { code })),
    ...['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'].map((Code) =>
      cancelled({ Code: 'None' }, { Code }),
    ),
    named('X', { $metadata: { httpStatusCode: 500 } }),
    new DOMException('too late', 'TimeoutError'),
    named('AggregateError', { errors: [named('X'), named('X', { code: 'EPIPE' })] }),
    { ...sent, code: 'EANY' },
    // An answer without a name, and one that is not JSON.
    { ...sent, name: 'Unknown' },
    { ...sent, name: 'SyntaxError' },
  ])('%o is unavailability', (error) =>
    expect(isUnavailable(typeof error === 'string' ? named(error) : error)).toBe(true),
  );

  it.each([
    named(''),
    named('X', { code: '' }),
    named('X', sent),
    named('X', { $metadata: { httpStatusCode: 499 }, errors: [named('X')] }),
    named('X', { CancellationReasons: [{ Code: 'TransactionConflict' }] }),
    named('TransactionCanceledException'),
    cancelled({}, { Code: 'None' }, { Code: 'ConditionalCheckFailed' }, { Code: '' }),
    { ...sent, name: 'ValidationException' },
    // Without $metadata: no call was sent.
    { name: 'SyntaxError' },
    { code: 'ERR_INVALID_ARG' },
  ])('%o is a bug', (error) => expect(isUnavailable(error)).toBe(false));

  it('counts as throttling by its name', () => {
    for (const name of THROTTLES) expect(isThrottled(named(name))).toBe(true);
    for (const error of [named('InternalServerError'), named(''), { name: 'ThrottlingException' }, undefined])
      expect(isThrottled(error)).toBe(false);
  });

  const message = 'Item size has exceeded the maximum allowed size';
  it.each([
    [true, { name: 'ValidationException', message }],
    [false, { name: 'ValidationException', message: 'One or more values are invalid' }],
    [false, { name: 'Error', message }],
    [true, cancelled({ Code: 'None' }, { Message: message })],
  ])('means that a row is too large: %s for %o', (expected, error) => {
    expect(isRowTooLarge(error)).toBe(expected);
  });

  it.each([
    ['throttled', { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } }],
    ['throttled', cancelled({ Code: 'None' }, { Code: 'ThrottlingError' })],
    ['no reply', { name: 'TimeoutError' }],
    ['no reply', { name: 'Unknown', $metadata: { attempts: 3 } }],
    ['no reply', { name: 'AbortError' }],
    ['DynamoDB error', { name: 'InternalServerError', $metadata: { httpStatusCode: 500 } }],
    ['DynamoDB error', cancelled({ Code: 'TransactionConflict' })],
    ['bug', { name: 'ValidationException', $metadata: { httpStatusCode: 400 } }],
  ])('is logged with the cause %s: %o', (cause, error) => {
    expect(causeOf(error)).toBe(cause);
  });
});
