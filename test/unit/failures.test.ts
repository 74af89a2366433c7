import { expect, it } from 'vitest';
import { causeOf, isRowTooLarge, isUnavailable } from '../../lib/dynamodb/failures.ts';

const sent = { $metadata: {} };

it.each([
  ['an error with a code, of a call that was sent', { ...sent, code: 'EANY' }, true],
  ['an answer without a name', { ...sent, name: 'Unknown' }, true],
  ['an answer that is not JSON', { ...sent, name: 'SyntaxError' }, true],
  ['a refusal that DynamoDB names', { ...sent, name: 'ValidationException' }, false],
  ['JSON of our own that is malformed', { name: 'SyntaxError' }, false],
  ['an error with a code, of nothing that was sent', { code: 'ERR_INVALID_ARG' }, false],
  ['rows that cannot be read yet', { name: 'EntryUnreadableError' }, true],
])('%s is unavailability: or not', (_what, error, expected) => {
  expect(isUnavailable(error)).toBe(expected);
});

const SIZE = 'Item size has exceeded the maximum allowed size';

it.each([
  ['a write', { name: 'ValidationException', message: SIZE }, true],
  ['a write for another reason', { name: 'ValidationException', message: 'One or more values are invalid' }, false],
  ['another error with such a text', { name: 'Error', message: SIZE }, false],
  ['a write without a text', { name: 'ValidationException' }, false],
  [
    'one write of a transaction',
    { name: 'TransactionCanceledException', CancellationReasons: [{ Code: 'None' }, { Message: SIZE }] },
    true,
  ],
  ['a transaction for another reason', { name: 'TransactionCanceledException', CancellationReasons: [{}] }, false],
])('%s is refused for the size of its row: or not', (_what, error, expected) => {
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
