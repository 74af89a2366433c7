import { describe, expect, it } from 'vitest';
import { causeOf, isRowTooLarge, isThrottled, isUnavailable } from '../../lib/dynamodb/failures.ts';

describe('a failure of DynamoDB', () => {
  const named = (name: string, more: object = {}) => Object.assign(new Error('message'), { name, ...more });
  const cancelled = (...codes: (string | undefined)[]) =>
    named('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
  const OTHERS = [
    ...['LimitExceededException', 'InternalServerError', 'ServiceUnavailable', 'TransactionConflictException'],
    ...['TransactionInProgressException', 'ReplicatedWriteConflictException', 'AbortError', 'TimeoutError'],
  ];
  const CODES = [
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  ];
  const THROTTLES = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];

  it.each([
    ...[...THROTTLES, ...OTHERS].map((name) => named(name)),
    ...CODES.map((code) => named('Error', { code })),
    ...['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'].map((code) =>
      cancelled('None', code),
    ),
    named('X', { $metadata: { httpStatusCode: 500 } }),
    new DOMException('too late', 'TimeoutError'),
    named('AggregateError', { errors: [named('X'), named('X', { code: 'EPIPE' })] }),
  ])('$name $code is unavailability', (error) => expect(isUnavailable(error)).toBe(true));

  it.each([
    named(''),
    named('X', { code: '' }),
    named('X', { $metadata: {} }),
    named('X', { $metadata: { httpStatusCode: 499 } }),
    named('X', { errors: [named('X')] }),
    named('X', { CancellationReasons: [{ Code: 'TransactionConflict' }] }),
    named('TransactionCanceledException'),
    cancelled(undefined, 'None', 'ConditionalCheckFailed', ''),
  ])('$name is a bug', (error) => expect(isUnavailable(error)).toBe(false));

  it('is throttling or is not', () => {
    for (const name of THROTTLES) expect(isThrottled(named(name))).toBe(true);
    for (const error of [named('InternalServerError'), named(''), { name: 'ThrottlingException' }, undefined])
      expect(isThrottled(error)).toBe(false);
  });
});

/** What the SDK adds to the error of a call that it sent. */
const sent = { $metadata: {} };

it.each([
  [true, 'an error with a code, of a call that was sent', { ...sent, code: 'EANY' }],
  [true, 'an answer without a name', { ...sent, name: 'Unknown' }],
  [true, 'an answer that is not JSON', { ...sent, name: 'SyntaxError' }],
  [false, 'a refusal that DynamoDB names', { ...sent, name: 'ValidationException' }],
  [false, 'JSON of our own that is malformed', { name: 'SyntaxError' }],
  [false, 'an error with a code, of nothing that was sent', { code: 'ERR_INVALID_ARG' }],
  [true, 'rows that cannot be read yet', { name: 'EntryUnreadableError' }],
])('isUnavailable is %s of %s', (expected, _what, error) => {
  expect(isUnavailable(error)).toBe(expected);
});

const SIZE = 'Item size has exceeded the maximum allowed size';

it.each([
  [true, 'a write', { name: 'ValidationException', message: SIZE }],
  [false, 'a write for another reason', { name: 'ValidationException', message: 'One or more values are invalid' }],
  [false, 'another error with such a text', { name: 'Error', message: SIZE }],
  [false, 'a write without a text', { name: 'ValidationException' }],
  [
    true,
    'one write of a transaction',
    { name: 'TransactionCanceledException', CancellationReasons: [{ Code: 'None' }, { Message: SIZE }] },
  ],
  [false, 'a transaction for another reason', { name: 'TransactionCanceledException', CancellationReasons: [{}] }],
])('isRowTooLarge is %s of the refusal of %s', (expected, _what, error) => {
  expect(isRowTooLarge(error)).toBe(expected);
});

it.each([
  ['throttled', { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } }],
  ['throttled', { name: 'TransactionCanceledException', CancellationReasons: [{ Code: 'ThrottlingError' }] }],
  [
    'throttled',
    {
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ProvisionedThroughputExceeded' }],
    },
  ],
  ['no reply', { name: 'TimeoutError' }],
  ['no reply', { name: 'Unknown', $metadata: { attempts: 3 } }],
  ['no reply', { name: 'AbortError' }],
  ['no reply', { name: 'Error', code: 'ECONNREFUSED' }],
  ['DynamoDB error', { name: 'InternalServerError', $metadata: { httpStatusCode: 500 } }],
  ['DynamoDB error', { name: 'TransactionCanceledException', CancellationReasons: [{ Code: 'TransactionConflict' }] }],
  ['bug', { name: 'ValidationException', $metadata: { httpStatusCode: 400 } }],
  ['bug', new TypeError('x is undefined')],
])('the cause %s is that of %o', (cause, error) => {
  expect(causeOf(error)).toBe(cause);
});
