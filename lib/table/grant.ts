import { ALERT_INDEX } from './alert-index.ts';
import { patterns, type RowKind } from './keys.ts';

type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

/** What a function may do with rows: one statement of actions on kinds of rows. */
export interface Grant {
  readonly actions: readonly TableAction[];
  /** `alertIndex` is the index, a resource of its own. */
  readonly on: readonly (RowKind | 'alertIndex')[];
  /** The only attributes that requests may name, besides the key attributes; absent: any. */
  readonly attributes?: readonly string[];
}

export const LEADING_KEYS = { ...patterns, alertIndex: ALERT_INDEX.pattern };

/** The values of `dynamodb:LeadingKeys` of a grant. */
export const leadingKeysOf = ({ on }: Grant): string[] => [...new Set(on.map((kind) => LEADING_KEYS[kind]))];
