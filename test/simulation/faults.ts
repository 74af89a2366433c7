/** What can go wrong. */
import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { Request } from './table-double.ts';

/** What can go wrong with a call, or with the process that makes it. */
export const FAULTS = {
  dies: 'the process dies; what it has sent may arrive later',
  'is applied, its reply lost, and sent again': 'by the SDK',
  'is applied, and all its replies lost': 'also those to the attempts of the SDK',
  'gets no reply': 'not to any attempt; it may arrive later',
  'is throttled': 'past the attempts of the SDK',
  'meets another transaction': 'past the attempts of the SDK',
  'runs out of time': 'the next of the timers of its process ends',
  'comes twice': 'the message that began the process',
} as const;
export type Fault = keyof typeof FAULTS;

/** How DynamoDB refuses a call that it does not do. */
export function refusal(fault: Fault, { name, input }: Request): { reply?: unknown; error?: unknown } {
  const $metadata = { httpStatusCode: 400 };
  const canceled = (Code: string) =>
    new TransactionCanceledException({
      message: Code,
      $metadata,
      CancellationReasons: input.TransactItems.map(() => ({ Code })),
    });
  if (fault === 'meets another transaction')
    return {
      error:
        name === 'TransactWriteCommand'
          ? canceled('TransactionConflict')
          : new TransactionConflictException({ message: fault, $metadata }),
    };
  if (name === 'TransactWriteCommand') return { error: canceled('ThrottlingError') };
  if (name === 'BatchGetCommand') return { reply: { Responses: {}, UnprocessedKeys: input.RequestItems } };
  if (name === 'BatchWriteCommand') return { reply: { UnprocessedItems: input.RequestItems } };
  return { error: new ProvisionedThroughputExceededException({ message: fault, $metadata }) };
}
