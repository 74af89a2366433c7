/** What a failed call of DynamoDB means for its caller. */
import { expect, it } from 'vitest';
import { causeOf, isUnavailable } from '../../../lib/shared/concurrency.ts';
import { isRowTooLarge } from '../../../lib/table/write.ts';

const named = (name: string, more: object = {}) => Object.assign(new Error('message'), { name, ...more });
const coded = (code: string) => named('Error', { code });
const cancelled = (...reasons: object[]) => ({ name: 'TransactionCanceledException', CancellationReasons: reasons });
/** What the SDK adds to the error of a call that it sent, and to one that was answered. */
const sent = { $metadata: {} };
const answered = (httpStatusCode: number) => ({ $metadata: { httpStatusCode } });

const names = (...all: string[]) => all.map((name) => named(name, answered(400)));

it.each<[cause: ReturnType<typeof causeOf>, errors: unknown[]]>([
  [
    'throttled',
    [
      ...names('ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'),
      ...['ThrottlingError', 'ProvisionedThroughputExceeded'].map((Code) => cancelled({ Code: 'None' }, { Code })),
    ],
  ],
  [
    'no reply',
    [
      ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'].map(coded),
      ...['EHOSTUNREACH', 'ENETUNREACH'].map(coded),
      ...[named('AbortError'), new DOMException('too late', 'TimeoutError')],
      // Not from DynamoDB: an answer without a name, and one that is not JSON.
      ...[{ ...sent, name: 'Unknown' }, named('SyntaxError', sent), { ...sent, code: 'EANY' }],
    ],
  ],
  [
    'DynamoDB error',
    [
      ...names('LimitExceededException', 'InternalServerError', 'ServiceUnavailable', 'TransactionConflictException'),
      ...['TransactionInProgressException', 'ExpiredTokenException', 'CredentialsProviderError'].map((name) =>
        named(name),
      ),
      ...[named('X', answered(500)), cancelled({ Code: 'None' }, { Code: 'TransactionConflict' })],
      named('AggregateError', { errors: [named('X'), coded('EPIPE')] }),
    ],
  ],
  [
    'bug',
    [
      ...[undefined, null, 'TimeoutError', coded('ERR_INVALID_ARG'), named('X', sent), named('SyntaxError')],
      ...[named('ValidationException', answered(400)), named('X', { ...answered(499), errors: [named('X')] })],
      named('X', { CancellationReasons: [{ Code: 'TransactionConflict' }] }),
      cancelled({}, { Code: 'None' }, { Code: 'ConditionalCheckFailed' }),
    ],
  ],
])('the cause is "%s", and only a bug is not unavailability', (cause, errors) => {
  for (const error of errors)
    expect([error, causeOf(error), isUnavailable(error)]).toEqual([error, cause, cause !== 'bug']);
});
it('a row is too large if DynamoDB says so of a write or in a reason of a transaction', () => {
  const message = 'Item size has exceeded the maximum allowed size';
  const name = 'ValidationException';
  const tooLarge = [{ name, message }, cancelled({ Code: 'None' }, { Message: message })];
  const others = [
    { name, message: 'One or more values are invalid' },
    { name: 'Error', message },
  ];
  expect([...tooLarge, ...others].map(isRowTooLarge)).toEqual([true, true, false, false]);
});
