/** What a function may do with rows of the table. `infra/grants.ts` makes IAM statements of it. */

/** A kind of partition keys. */
export type KeyKind =
  | 'accounts'
  | 'account'
  | 'appKey'
  | 'hosts'
  | 'hostStatuses'
  | 'rum'
  | 'workItems'
  | 'incidents'
  | 'alerts'
  | 'members'
  | 'feed'
  | 'merges'
  | 'idempotency'
  | 'rate';

type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'ConditionCheckItem';

/** One statement: actions on partition keys of some kinds. */
export interface Grant {
  readonly actions: readonly TableAction[];
  readonly on: readonly KeyKind[];
  /** The only attributes that it names, besides those of the key; absent: any. */
  readonly attributes?: readonly string[];
  /** Of these, what only the previous release uses: both releases serve calls during an update. */
  readonly previous?: readonly `${TableAction} on ${KeyKind}`[];
}
