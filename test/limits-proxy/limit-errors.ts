/** The errors by which DynamoDB refuses calls. */
const DYNAMODB = 'com.amazonaws.dynamodb.v20120810#';

/** Thrown to answer a call with an error of DynamoDB. @param fields of the error, besides its message */
export class Refusal extends Error {
  readonly type: string;
  readonly fields: object;
  constructor(type: string, fields: object = {}) {
    super('a planted fault');
    this.type = type;
    this.fields = fields;
  }
}

/** Why an item cancelled its transaction. */
export interface Reason {
  Code: string;
}

export const NO_REASON: Reason = { Code: 'None' };
export const CONFLICT: Reason = { Code: 'TransactionConflict' };
/** The reason that an on-demand table gives. Source: API Reference, `TransactionCanceledException`. */
export const THROTTLED: Reason = { Code: 'ThrottlingError' };

export const invalid = () => new Refusal('com.amazon.coral.validate#ValidationException');
export const throttled = () => new Refusal('com.amazon.coral.availability#ThrottlingException');
export const conflict = () => new Refusal(`${DYNAMODB}TransactionConflictException`);
/** Reasons in the order of the transaction's items. */
export const cancelled = (CancellationReasons: readonly Reason[]) =>
  new Refusal(`${DYNAMODB}TransactionCanceledException`, { CancellationReasons });
