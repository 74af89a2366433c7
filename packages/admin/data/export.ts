import type { Table } from '../../../lib/dynamodb/client.ts';
import { collections, parseKey, type RowKind, type Stored } from '../../../lib/dynamodb/keys.ts';
import { queryAll } from '../../../lib/dynamodb/query.ts';
import { REPORT_ORDERS } from '../../../lib/ingest/host-reports.ts';
import { type Entity, KINDS, type Kind } from '../../../lib/ingest/kinds.ts';
import { timeOf } from '../../../lib/ingest/order.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { listAccounts, listAppKeys, readAccount } from '../accounts/accounts.ts';
import { readSnapshot } from '../incidents/snapshot.ts';

const PARTITIONS = [
  collections.members,
  collections.hosts,
  collections.hostStatuses,
  collections.rum,
  collections.workItems,
];

/** The kind of the entities in rows of a kind: `host_status` of `hostStatus`. */
const kindOf = (rowKind: RowKind): Kind | undefined => {
  const name = rowKind.replace(/[A-Z]/, (capital) => `_${capital.toLowerCase()}`);
  return KINDS.find((kind) => kind === name);
};

/** Attributes of alerts and incidents that refer to the order of this table's merges. */
const PLACES = new Set([
  'moved_sequence',
  'moved_from',
  'previous_sequence',
  'stayed_sequence',
  'last_change',
  'loaded_after',
]);

const ORDERS = new Set(REPORT_ORDERS);
const NONE = new Set<string>();

/** The entity that a row holds: what {@link rowOf} in `rows.ts` makes a row of. */
function entityOf({ pk, sk, ...stored }: Stored<RowKind>): Entity | undefined {
  const { feed_order, deletion_order = feed_order, ...fields } = stored as Record<string, unknown>;
  // A retired host is left out: its row is kept only for comparison with late records.
  if (fields.ttl !== undefined) return undefined;
  const parsed = parseKey({ pk, sk });
  const kind = parsed && kindOf(parsed.kind);
  if (!kind || parsed.account === undefined) throw new Error(`no data format for a row of kind ${parsed?.kind}`);
  const isMerged = kind === 'alert' || kind === 'incident';
  const hidden = isMerged ? PLACES : kind === 'host_status' ? ORDERS : NONE;
  const own = Object.entries(fields).filter(([name]) => !hidden.has(name));
  const time = deletion_order === undefined ? {} : { at_ms: timeOf(deletion_order as bigint) };
  const host = kind === 'host' || kind === 'host_status' ? { host_id: sk } : {};
  return { kind, account_id: parsed.account, ...time, ...host, ...Object.fromEntries(own) };
}

/**
 * All of some accounts in the data format, in an order that can be loaded as it comes. App keys are exported as hashes, since
 * the keys are not stored. A merge is exported in full or not at all. Feeds, the order of merges, rate counts, remembered
 * Idempotency-Keys and the audit trail are left out.
 * @param accounts absent: all
 * @throws Error naming an account that does not exist
 */
export async function* exportData(table: Table, accounts?: readonly Int64[]): AsyncGenerator<Entity> {
  for (const account of accounts ?? (await listAccounts(table))) {
    const row = await readAccount(table, account);
    if (!row && accounts) throw new Error(`there is no account ${account}`);
    if (!row) continue; // listed, but its creation was interrupted
    const { name, permissions, suspended } = row;
    yield { kind: 'account', account_id: account, name, permissions, ...(suspended && { suspended }) };
    for (const { hash, last_digits, created_at, expires_at, revoked_at, note } of await listAppKeys(table, row))
      yield {
        kind: 'app_key',
        account_id: account,
        app_key_hash: hash,
        last_digits,
        created_at,
        expires_at,
        revoked: revoked_at === undefined ? undefined : true,
        note,
      };
    for (const partition of PARTITIONS.flatMap((of) => of(account)))
      for await (const stored of queryAll(table, partition)) {
        const entity = entityOf(stored);
        if (entity) yield entity;
      }
    const { incidents, alerts } = await readSnapshot(table, account);
    for (const stored of [...incidents, ...alerts]) {
      const entity = entityOf(stored);
      if (entity) yield entity;
    }
  }
}
