/** The faults that the simulation injects. */
import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import type { Key, KeysAndAttributes, Request } from './requests.ts';
import type { Call } from './run.ts';

/** A fault of a call to the table, or of the process that makes it. */
export type Fault =
  /** The process dies. Writes that it has sent may arrive later. */
  | 'dies'
  /** The SDK sends the call again. */
  | 'is applied, its reply lost, and sent again'
  /** Also the replies to the SDK's further attempts are lost. */
  | 'is applied, and all its replies lost'
  /** No attempt gets a reply. A write may arrive later. */
  | 'gets no reply'
  /** All attempts of the SDK are refused. */
  | 'is throttled'
  /** All attempts of the SDK are refused. */
  | 'conflicts with another transaction'
  /** The next timer of the process ends. */
  | 'runs out of time'
  /** The message that started the process is delivered twice. */
  | 'is delivered twice'
  /** The SDK's second attempt is told that the transaction is in progress. It may be applied later. */
  | 'is in progress'
  /** The same, after the transaction was applied. */
  | 'is applied, but reported as in progress'
  /** The transaction is applied, but not answered yet: the next Query, BatchGetItem or Scan of a row still sees it as it was before. */
  | 'shows a row late'
  /** One half of a batch of reads is done, the other is left unprocessed. */
  | 'is done in part'
  /** The call is executed before one that its process has sent earlier. */
  | 'overtakes';

/** A fault of a call; for some the index of the row, or of the half of a batch, that it affects. */
type CallFault = readonly [fault: Fault, part?: number];

/** The faults that a call may meet. */
export function faultsOf({ request, accesses, writes }: Call): CallFault[] {
  if (!request) return [];
  const faults: CallFault[] = [['gets no reply'], ['is throttled']];
  if (writes)
    faults.push(
      ['is applied, its reply lost, and sent again'],
      ['is applied, and all its replies lost'],
      ['conflicts with another transaction'],
    );
  if (request.name === 'TransactWriteCommand') {
    faults.push(['is in progress'], ['is applied, but reported as in progress']);
    for (const [index, { write }] of accesses.entries()) if (write) faults.push(['shows a row late', index]);
  }
  if (request.name === 'BatchGetCommand' && accesses.length > 1)
    faults.push(['is done in part', 0], ['is done in part', 1]);
  return faults;
}

/** Faults after which the SDK or the code sends the call again, since it has not got the first reply. */
export const SENT_AGAIN = new Set<Fault>([
  'shows a row late',
  'is applied, its reply lost, and sent again',
  'is in progress',
  'is applied, but reported as in progress',
]);

/** Refusals after which the code sends a transaction again if there is time. They may make any other call fail. */
const REFUSED = new Set<Fault>(['is throttled', 'conflicts with another transaction', 'is in progress']);

/**
 * Whether an operation may fail because of the fault.
 * @param isHurried the operation has no time for another attempt
 */
export const excusesFailure = (fault: Fault, { name }: Request, isHurried: boolean): boolean =>
  fault === 'gets no reply' ||
  (isHurried && fault === 'is done in part') ||
  (REFUSED.has(fault) && (isHurried || name !== 'TransactWriteCommand'));

/** A batch of reads as two requests, each for one half of its keys. */
export function halvesOf({ name, input }: Request): [Request, Request] {
  const [[table, keysAndAttributes]] = Object.entries(input.RequestItems) as [[string, KeysAndAttributes]];
  const withKeys = (Keys: readonly Key[]): Request => ({
    name,
    input: { ...input, RequestItems: { [table]: { ...keysAndAttributes, Keys } } },
  });
  const { Keys: keys } = keysAndAttributes;
  const middle = Math.ceil(keys.length / 2);
  return [withKeys(keys.slice(0, middle)), withKeys(keys.slice(middle))];
}

/** The error or reply that the code gets in place of the result. */
export function refusal(fault: Fault, { name, input }: Request): { reply?: unknown; error?: unknown } {
  const $metadata = { httpStatusCode: 400 };
  const canceled = (Code: string) =>
    new TransactionCanceledException({
      message: Code,
      $metadata,
      CancellationReasons: input.TransactItems.map(() => ({ Code })),
    });
  if (fault === 'gets no reply' || fault === 'is applied, and all its replies lost')
    return { error: Object.assign(new Error('no reply'), { name: 'TimeoutError' }) };
  if (fault.includes('in progress'))
    return { error: new TransactionInProgressException({ message: fault, $metadata }) };
  if (fault === 'conflicts with another transaction')
    return {
      error:
        name === 'TransactWriteCommand'
          ? canceled('TransactionConflict')
          : new TransactionConflictException({ message: fault, $metadata }),
    };
  if (name === 'TransactWriteCommand') return { error: canceled('ThrottlingError') };
  if (name === 'BatchGetCommand') return { reply: { Responses: {}, UnprocessedKeys: input.RequestItems } };
  return { error: new ProvisionedThroughputExceededException({ message: fault, $metadata }) };
}
