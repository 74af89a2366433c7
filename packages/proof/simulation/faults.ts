/** What can go wrong. */
import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import type { Request } from './table-double.ts';

/** The faults of a call, or of the process that makes it. */
export const FAULTS = {
  dies: 'the process dies; what it has sent may arrive later',
  'is applied, its reply lost, and sent again': 'by the SDK',
  'is applied, and all its replies lost': 'also those to the attempts of the SDK',
  'gets no reply': 'not to any attempt; it may arrive later',
  'is throttled': 'past the attempts of the SDK',
  'meets another transaction': 'past the attempts of the SDK',
  'runs out of time': 'the next of the timers of its process ends',
  'comes twice': 'the message that began the process',
  'is in progress': 'a transaction, to its own second attempt; it may be applied later',
  'is applied, and in progress to its second attempt': 'all of one request of the SDK',
  'shows a row late': 'a transaction: the next Query, BatchGetItem or Scan of that row still sees it as it was',
  'is done in part': 'a batch; the rest is left unprocessed',
  overtakes: 'a call that its process has sent before it',
} as const;
export type Fault = keyof typeof FAULTS;

/**
 * Whether the fault allows an operation to fail.
 * @param isHurried it has no time for another attempt
 */
export const mayFail = (fault: Fault, { name }: Request, isHurried: boolean): boolean =>
  fault === 'gets no reply' ||
  (isHurried && fault === 'is done in part') ||
  (/^(is throttled|meets another transaction|is in progress)$/.test(fault) &&
    (isHurried || name !== 'TransactWriteCommand'));

/** The two halves of a batch, and the request for each. */
export function halvesOf({ name, input }: Request): [Request, Request] {
  const [[table, asked]] = Object.entries(input.RequestItems) as [[string, { Keys: object[] } | object[]]];
  const all = Array.isArray(asked) ? asked : asked.Keys;
  const of = (some: object[]): Request => ({
    name,
    input: { ...input, RequestItems: { [table]: Array.isArray(asked) ? some : { ...asked, Keys: some } } },
  });
  const middle = Math.ceil(all.length / 2);
  return [of(all.slice(0, middle)), of(all.slice(middle))];
}

/** The errors with which DynamoDB refuses a call. */
export function refusal(fault: Fault, { name, input }: Request): { reply?: unknown; error?: unknown } {
  const $metadata = { httpStatusCode: 400 };
  const canceled = (Code: string) =>
    new TransactionCanceledException({
      message: Code,
      $metadata,
      CancellationReasons: input.TransactItems.map(() => ({ Code })),
    });
  if (/repl/.test(fault)) return { error: Object.assign(new Error('no reply'), { name: 'TimeoutError' }) };
  if (fault.includes('in progress'))
    return { error: new TransactionInProgressException({ message: fault, $metadata }) };
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
