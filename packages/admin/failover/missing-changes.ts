/** Compares two replicas of the table: what one has of recent changes, and the other has not, since it has not arrived yet or is lost. */
import { appKeyIdOf } from '../../../lib/http/app-keys.ts';
import type { AccountRow } from '../../../lib/model/account.ts';
import type { AppKeyRow } from '../../../lib/model/app-key.ts';
import { defined } from '../../../lib/model/fields.ts';
import { entryOf } from '../../../lib/operations/merge-alerts/entry.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type KeyOf, keys, parseKey, partitions, type Stored } from '../../../lib/table/keys.ts';
import { batchGet, queryRows } from '../../../lib/table/read.ts';
import { listAccounts, readAccount } from '../accounts/accounts.ts';
import { readAudit } from '../accounts/audit-rows.ts';

/** A change that a replica lacks. */
export interface MissingChange {
  readonly account_id: Int64;
  readonly kind: 'account' | 'app key' | 'merge' | 'merge_undone' | 'deletion' | 'command';
  /** The id of what was changed: of an app key, an incident or a work item; of a command, its name and target. */
  readonly id: string;
  /** Unix milliseconds; absent: the row does not tell. */
  readonly at_ms?: number;
  /** The id of the call. */
  readonly request_id?: string;
  readonly by?: string;
}

/**
 * The changes that `from` has and `to` lacks: all of accounts and app keys; merges, undos, deletions and operators' commands since a time. Costs
 * a read of every account, app key and work item in both. Records of the feed are not compared: they can be sent again.
 * @param sinceMs Unix milliseconds; deletions by records count by the time that the record says
 */
export async function* missingChanges(from: Table, to: Table, sinceMs: number): AsyncGenerator<MissingChange> {
  // An erased account is listed no more.
  const accounts = new Set([...(await listAccounts(from)), ...(await listAccounts(to))]);
  for (const account of accounts) {
    const ofAccount = (kind: MissingChange['kind'], id: string, fields: Partial<MissingChange> = {}) => ({
      account_id: account,
      kind,
      id,
      ...fields,
    });
    const [row, arrived] = [await readAccount(from, account), await readAccount(to, account)];
    if (row && row.revision > (arrived?.revision ?? 0)) yield ofAccount('account', stateOf(row));
    for (const appKey of row ? await appKeysAhead(from, to, row) : [])
      yield ofAccount('app key', appKeyIdOf(String(parseKey(appKey)?.values[0])));

    const pointers = await queryRows(from, partitions.logPointer(account), {
      from: keys.logPointer(account, sinceMs).sk,
    });
    const entryKeys = pointers.map(({ sk, incident_id }) => keys.historyEntry(account, incident_id, Number(sk)));
    for (const stored of await rowsAhead(from, to, entryKeys, (entry, other) => entry.merge_id !== other.merge_id)) {
      const { kind, incident_id, at_ms, request_id, by } = entryOf(stored).entry;
      yield ofAccount(kind, incident_id, { at_ms, request_id, by });
    }

    const items = await queryRows(from, partitions.workItem(account), { attributes: ['pk', 'sk', 'deleted_at_ms'] });
    const deleted = items.filter(({ deleted_at_ms: atMs = 0 }) => atMs >= sinceMs);
    const itemKeys = deleted.map(({ sk }) => keys.workItem(account, sk));
    for (const stored of await rowsAhead(from, to, itemKeys, (item, other) => item.version > other.version)) {
      const { work_item_id, deleted_at_ms: at_ms, deleted_by: by, deleted_request_id: request_id } = stored;
      yield ofAccount('deletion', work_item_id, defined({ at_ms, request_id, by }));
    }

    const results = new Map((await readAudit(to, account, sinceMs)).map(({ id, result }) => [id, result]));
    for (const { id, command, target = '', result, at_ms, by } of await readAudit(from, account, sinceMs)) {
      const other = results.get(id);
      if (other === undefined || (other === 'started' && result !== other))
        yield ofAccount('command', `${command} ${target}`.trimEnd(), { at_ms, by });
    }
  }
}

const stateOf = ({ erased_at_ms, suspended }: AccountRow) =>
  erased_at_ms === undefined ? (suspended ? 'suspended' : 'active') : 'erased';

type Compared = 'historyEntry' | 'workItem' | 'appKey';

/** Rows of `from` that `to` has not, or has in an earlier state. */
async function rowsAhead<Kind extends Compared>(
  from: Table,
  to: Table,
  rowKeys: readonly KeyOf<Kind>[],
  isAhead: (row: Stored<Kind>, other: Stored<Kind>) => boolean,
): Promise<Stored<Kind>[]> {
  const [stored, arrived] = [await batchGet(from, rowKeys), await batchGet(to, rowKeys)];
  return rowKeys.flatMap((key) => {
    const [row, other] = [stored.rows.of(key), arrived.rows.of(key)] as (Stored<Kind> | undefined)[];
    return row && (!other || isAhead(row, other)) ? [row] : [];
  });
}

/** The keys of an account that `from` has a later copy of the account in, or has ended earlier. */
const appKeysAhead = (from: Table, to: Table, { app_keys = new Set() }: AccountRow) =>
  rowsAhead(from, to, [...app_keys].map(keys.appKey), (row, other) => {
    const { account_revision: revision = 0 } = other;
    return (row.account_revision ?? 0) > revision || expiryOf(row) < expiryOf(other);
  });

/** Unix seconds from which a key is refused. */
const expiryOf = ({ revoked_at, expires_at = Number.POSITIVE_INFINITY }: AppKeyRow) =>
  revoked_at === undefined ? expires_at : 0;

/** Commands that also run on a standby, so that they do not tell what has arrived from the region that writes. */
const ON_STANDBY = /^(failover|gateway-keys)\b/;

/** When the latest merge, undo or operator's command was made that has arrived in a replica, about, in Unix milliseconds; 0: none since then. */
export async function lastArrival(table: Table, sinceMs: number): Promise<number> {
  let last = 0;
  for (const account of await listAccounts(table)) {
    const pointers = await queryRows(table, partitions.logPointer(account), {
      from: keys.logPointer(account, sinceMs).sk,
    });
    last = Math.max(last, Number(pointers.at(-1)?.sk ?? 0));
    for (const { at_ms, command } of await readAudit(table, account, sinceMs))
      if (!ON_STANDBY.test(command)) last = Math.max(last, at_ms);
  }
  return last;
}
