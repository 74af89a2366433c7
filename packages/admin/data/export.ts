import { REPORT_ORDERS } from '../../../lib/ingest/host-reports.ts';
import { type Entity, KINDS, type Kind } from '../../../lib/ingest/kinds.ts';
import { timeOf } from '../../../lib/ingest/order.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { collections, parseKey, type RowKind, type Stored } from '../../../lib/table/keys.ts';
import { queryAll } from '../../../lib/table/read.ts';
import { listAccounts, listAppKeys, readAccount } from '../accounts/accounts.ts';
import { readSnapshot } from '../incidents/snapshot.ts';

const PARTITIONS = [
  collections.members,
  collections.hosts,
  collections.hostStatuses,
  collections.rum,
  collections.workItems,
];

/** The kind of entity that a row of this kind holds, such as `host_status` for `hostStatus`. */
const entityKindOf = (rowKind: RowKind): Kind | undefined => {
  const name = rowKind.replace(/[A-Z]/, (capital) => `_${capital.toLowerCase()}`);
  return KINDS.find((kind) => kind === name);
};

/** Attributes that mean something only beside the merges and reports of this table. A work item may have fields of these names. */
const ATTRIBUTES_OF_THE_TABLE = new Set([
  ...REPORT_ORDERS,
  ...['moved_sequence', 'moved_from', 'previous_sequence', 'last_change'],
]);
/** With one of these fields, a report is a snapshot. */
const COUNTS = new Set(['node_count', 'edge_count']);

/** The entity that a row holds, as import takes it; undefined: none to export. */
function entityOf({ pk, sk, ...stored }: Stored<RowKind>): Entity | undefined {
  const { feed_order, deletion_order = feed_order, ...fields } = stored as Record<string, unknown>;
  // A retired host is left out: its row is kept only for comparison with late records.
  if (fields.ttl !== undefined) return undefined;
  const parsed = parseKey({ pk, sk });
  const kind = parsed && entityKindOf(parsed.kind);
  if (!kind || parsed.account === undefined) throw new Error(`no data format for a row of kind ${parsed?.kind}`);
  const hasNoSnapshot = kind === 'host_status' && fields.received_at_ms === undefined;
  const isOmitted = (name: string) =>
    (kind !== 'work_item' && ATTRIBUTES_OF_THE_TABLE.has(name)) || (hasNoSnapshot && COUNTS.has(name));
  const exported = Object.entries(fields).filter(([name]) => !isOmitted(name));
  // The orders of a status row are those of its reports.
  const order = kind === 'host_status' ? (fields.snapshot_order ?? fields.health_order) : deletion_order;
  const time = order === undefined ? {} : { at_ms: timeOf(order as bigint) };
  const host = kind === 'host' || kind === 'host_status' ? { host_id: sk } : {};
  return { kind, account_id: parsed.account, ...time, ...host, ...Object.fromEntries(exported) };
}

/**
 * The data of accounts in the data format, in an order in which it can be imported. App keys are exported as hashes,
 * since the keys are not stored. A merge is exported in full or not at all. Feeds, the merge order, rate counts,
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
    for await (const stored of rowsOf(table, account)) {
      const entity = entityOf(stored);
      if (entity) yield entity;
    }
  }
}

async function* rowsOf(table: Table, account: Int64): AsyncGenerator<Stored<RowKind>> {
  for (const partition of PARTITIONS.flatMap((collection) => collection(account))) yield* queryAll(table, partition);
  const { incidents, alerts } = await readSnapshot(table, account);
  yield* incidents;
  yield* alerts;
}
