import { isCurrent, type Moment, momentOf } from '../../../lib/http/app-keys.ts';
import { ACCOUNT_MS } from '../../../lib/ingest/accounts.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { readAccount, requireNotErased } from './accounts.ts';

const CLOCKS = { now: Date.now, monotonicNow: performance.now.bind(performance) };

/**
 * Watches accounts for a command that writes for long: an erasure waits for as long as a look-up counts, and a row that is written later would
 * stay.
 * @returns throws AccountError if the account is erased; looks that up every 30 s
 */
export function createErasureWatch(table: Table, clocks = CLOCKS) {
  const lookUps = new Map<Int64, { since: Moment; lookUp: Promise<void> }>();
  return function requireStillThere(account: Int64): Promise<void> {
    const last = lookUps.get(account);
    if (last && isCurrent(last.since, ACCOUNT_MS, clocks)) return last.lookUp;
    const lookUp = readAccount(table, account).then(requireNotErased);
    lookUps.set(account, { since: momentOf(clocks), lookUp });
    return lookUp;
  };
}
