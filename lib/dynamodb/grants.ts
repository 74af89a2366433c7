/** What a Lambda function may do with rows of the table. */

/** A kind of partition key, named after the rows stored under it. */
export type KeyKind =
  | 'accounts'
  | 'account'
  | 'appKey'
  | 'hosts'
  | 'hostStatuses'
  | 'retirements'
  | 'rum'
  | 'workItems'
  | 'incidents'
  | 'alerts'
  | 'members'
  | 'feed'
  | 'merges'
  | 'log'
  | 'idempotency'
  | 'rate';

type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

/** One statement: actions on partition keys of some kinds. */
export interface Grant {
  readonly actions: readonly TableAction[];
  readonly on: readonly KeyKind[];
  /** The only attributes that requests may name, besides the key attributes; absent: any. */
  readonly attributes?: readonly string[];
}
