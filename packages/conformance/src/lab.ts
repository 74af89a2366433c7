/** The environment of the checks: a service, callers, data, and what only a local service offers. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Failure } from '../../local/failing-table.ts';
import type { Caller, Turns } from './callers.ts';
import type { Entities } from './data.ts';

/** An account whose table is accessible, to read what a call wrote. */
export interface Stored {
  readonly table: Table;
  readonly account: Int64;
}

/** An account whose RUM record may be changed during the checks. */
export type Changing = Stored & { readonly caller: Caller };

/** A service with a failing part. */
export type Impaired = Failure | 'no service map';

export interface Lab {
  readonly url: string;
  /** Whose data the sentences are about. */
  readonly main: Caller;
  /** Callers with the same fleet, to browse by turns. */
  readonly turns: Turns;
  /** Absent: only sentences that need no data are shown. */
  readonly entities?: Entities;
  /** A caller of an account without the permission for the fleet. */
  readonly otherAccount?: Caller | undefined;
  readonly expired?: Caller | undefined;
  /** Callers whose quota may be used up, each by one sentence; absent: those sentences use the main caller's. */
  readonly spare?: { readonly minute: Caller; readonly second: Caller; readonly burst: Caller };
  /** For one sentence each. */
  readonly changing?: { readonly record: Changing; readonly usage: Changing };
  readonly stored?: Stored;
  /** URL of a service impaired in this way. */
  readonly impaired?: (how: Impaired) => Promise<string>;
}
