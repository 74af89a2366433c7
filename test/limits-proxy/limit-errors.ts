/** The errors by which DynamoDB refuses calls. */
import type { Side } from './capacity.ts';

const DYNAMODB = 'com.amazonaws.dynamodb.v20120810#';

/** Thrown to answer a call with an error of DynamoDB. @param fields of the error, besides its message */
export class Refusal extends Error {
  readonly type: string;
  readonly fields: object;
  constructor(type: string, message: string, fields: object = {}) {
    super(message);
    this.type = type;
    this.fields = fields;
  }
}

export const invalid = (message: string) => new Refusal('com.amazon.coral.validate#ValidationException', message);

const CAPACITY =
  'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html';

/** Why an item cancelled its transaction. */
export interface Reason {
  Code: string;
  Message?: string;
}

/** The reason that an on-demand table gives. Source: API Reference, `TransactionCanceledException`. */
export const THROTTLED: Reason = { Code: 'ThrottlingError', Message: CAPACITY };

/** Reasons: Developer Guide, "Diagnosing throttling". */
export function throttled(side: Side, table: string): Refusal {
  const reason = side === 'read' ? 'TableReadKeyRangeThroughputExceeded' : 'TableWriteKeyRangeThroughputExceeded';
  const resource = `arn:aws:dynamodb:local:000000000000:table/${table}`;
  return new Refusal('com.amazon.coral.availability#ThrottlingException', CAPACITY, {
    ThrottlingReasons: [{ reason, resource }],
  });
}

export const NO_REASON: Reason = { Code: 'None' };
export const CONFLICT: Reason = { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' };

/** Reasons in the order of the transaction's items. */
export const cancelled = (reasons: readonly Reason[]) =>
  new Refusal(
    `${DYNAMODB}TransactionCanceledException`,
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons.map(({ Code }) => Code).join(', ')}]`,
    { CancellationReasons: reasons },
  );

export const conflict = () =>
  new Refusal(`${DYNAMODB}TransactionConflictException`, 'Transaction is ongoing for the item');
