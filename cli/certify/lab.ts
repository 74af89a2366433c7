/** What the checks of a certificate work with: a service, callers, data, and what can only be had on this machine. */

import type { Int64 } from '../../lib/json.ts';
import type { Table } from '../../lib/table/client.ts';
import type { Caller, Turns } from './callers.ts';
import type { Entities } from './data.ts';

/** An account whose table can be reached: what a call wrote is looked at there. */
export interface Stored {
  readonly table: Table;
  readonly account: Int64;
}

/** An account whose RUM record may be changed while it is read. */
export type Changing = Stored & { readonly caller: Caller };

/** A service that cannot do all of its work. */
export type Impaired = 'live-status' | 'inventory' | 'table' | 'no service map';

export interface Lab {
  readonly url: string;
  /** Whose data the sentences are about. */
  readonly main: Caller;
  /** Callers with the same fleet, to browse by turns. */
  readonly turns: Turns;
  /** Absent: only what needs no data is shown. */
  readonly entities?: Entities;
  /** Of an account without the permission that the fleet needs. */
  readonly stranger?: Caller;
  readonly expired?: Caller;
  /** Callers whose quota may be used up, each by one sentence; absent: those sentences use the main caller's. */
  readonly spare?: { readonly minute: Caller; readonly second: Caller; readonly burst: Caller };
  /** For one sentence each. */
  readonly changing?: { readonly record: Changing; readonly usage: Changing };
  readonly stored?: Stored;
  /** Where a service runs that is impaired so. */
  readonly impaired?: (how: Impaired) => Promise<string>;
}
