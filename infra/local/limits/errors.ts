/** How DynamoDB says no. */
import type { Limits, Side } from './capacity.ts';

const DYNAMODB = 'com.amazonaws.dynamodb.v20120810#';

/** Ends a call with an error of DynamoDB's. */
export class Refusal extends Error {
  readonly type: string;
  readonly more: object;
  constructor(type: string, message: string, more: object = {}) {
    super(message);
    this.type = type;
    this.more = more;
  }
}

export const invalid = (message: string) => new Refusal('com.amazon.coral.validate#ValidationException', message);

/** Texts and codes: API Reference, `TransactionCanceledException`; the same come with single calls and PartiQL batches. */
const THROTTLED = {
  'on-demand': {
    type: 'com.amazon.coral.availability#ThrottlingException',
    code: 'ThrottlingError',
    message:
      'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html',
  },
  provisioned: {
    type: `${DYNAMODB}ProvisionedThroughputExceededException`,
    code: 'ProvisionedThroughputExceeded',
    message:
      'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
  },
} as const;

/** Of one member of a batch, or one item of a cancelled transaction. */
export interface Reason {
  Code: string;
  Message?: string;
}

export function throttledReason({ capacityMode }: Limits): Reason {
  const { code, message } = THROTTLED[capacityMode];
  return { Code: code, Message: message };
}

/** Reasons: Developer Guide, "Diagnosing throttling"; a key range is throttled in both capacity modes. */
export function throttled({ capacityMode }: Limits, side: Side, table: string): Refusal {
  const { type, message } = THROTTLED[capacityMode];
  const reason = side === 'read' ? 'TableReadKeyRangeThroughputExceeded' : 'TableWriteKeyRangeThroughputExceeded';
  const resource = `arn:aws:dynamodb:local:000000000000:table/${table}`;
  return new Refusal(type, message, { ThrottlingReasons: [{ reason, resource }] });
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
