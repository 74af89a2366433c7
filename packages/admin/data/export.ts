import { actorAsGiven } from '../../../lib/ingest/entity-rows.ts';
import { SNAPSHOT_FIELDS } from '../../../lib/ingest/host-rows.ts';
import { type Entity, KINDS, type Kind } from '../../../lib/ingest/kinds.ts';
import { laterOrder, type Orders, timeOf } from '../../../lib/ingest/order.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { parseKey, partitions, type RowKind, type Stored } from '../../../lib/table/keys.ts';
import { queryAll } from '../../../lib/table/read.ts';
import type { AlertRow, WorkItemRow } from '../../../lib/table/rows.ts';
import { listAccounts, listAppKeys, readAccount } from '../accounts/accounts.ts';
import { readSnapshot } from '../incidents/snapshot.ts';
import { orderFields, ordersIn } from './exported-orders.ts';

const PARTITIONS = [
  partitions.member,
  partitions.host,
  partitions.hostStatus,
  partitions.rumResource,
  partitions.workItem,
];

/** The kind of entity that a row of this kind holds, such as `host_status` for `hostStatus`. */
const entityKindOf = (rowKind: RowKind): Kind | undefined => {
  const name = rowKind.replace(/[A-Z]/, (capital) => `_${capital.toLowerCase()}`);
  return KINDS.find((kind) => kind === name);
};

/** Attributes that mean something only beside the merges and keys of this table. A work item may have fields of most of these names. */
const ATTRIBUTES_OF_THE_TABLE = new Set([
  ...['ttl', 'moved_sequence', 'moved_from', 'feed_incident'],
  ...['title_by', 'owner_by', 'feed_title', 'feed_title_order', 'feed_owner_id', 'feed_owner_order'],
  ...['created_at_ms', 'open_partition', 'open_at', 'event'],
]);

/** The entity that a row holds, as import takes it. Its orders let an import overwrite nothing newer. */
function entityOf({ pk, sk, ...stored }: Stored<RowKind>): Entity {
  const parsed = parseKey({ pk, sk });
  const kind = parsed && entityKindOf(parsed.kind);
  if (!kind || parsed.account === undefined) throw new Error(`no data format for a row of kind ${parsed?.kind}`);
  const row = stored as Readonly<Record<string, unknown>>;
  const orders = { ...ordersIn(kind, row), ...(kind === 'alert' && incidentOrderOf(row)) };
  const { row_order, title_order, owner_order, snapshot_order, health_order, incident_order } = orders;
  const written = [row_order, title_order, owner_order, snapshot_order, health_order];
  const [earliest] = written.filter((order) => order !== undefined).sort(Buffer.compare);
  // Otherwise they would be a report of no snapshot.
  const omitted: readonly string[] = kind === 'host_status' && snapshot_order === undefined ? SNAPSHOT_FIELDS : [];
  const isExported = ([name]: [string, unknown]) =>
    !Object.hasOwn(orders, name) &&
    (kind === 'work_item' || !ATTRIBUTES_OF_THE_TABLE.has(name)) &&
    !omitted.includes(name);
  return {
    kind,
    account_id: parsed.account,
    ...(earliest !== undefined && { at_ms: timeOf(earliest) }),
    ...((kind === 'host' || kind === 'host_status') && { host_id: sk }),
    ...Object.fromEntries(Object.entries(row).filter(isExported)),
    ...(incident_order !== undefined && row.incident_id !== undefined && { incident_at_ms: timeOf(incident_order) }),
    ...(kind === 'alert' && statusOf(row)),
    ...(kind === 'work_item' && actorsOf(row)),
    ...orderFields(orders),
  };
}

/** The order of what an alert's row says of its incident: the record's that named it, or the later merge's. */
function incidentOrderOf({ moved_sequence, incident_order }: Partial<AlertRow>): Orders {
  return moved_sequence === undefined ? {} : { incident_order: laterOrder(moved_sequence, incident_order) };
}

/** The status of an alert with a key, as a record would say it. */
function statusOf({ alert_key, ended_at_ms, alert_severity }: Partial<AlertRow>): object {
  return alert_key === undefined ? {} : { alert_status: ended_at_ms === undefined ? alert_severity : 'Ok' };
}

/** Who deleted a work item, as a record would say it. */
function actorsOf({ deleted_by, undone_deletion }: Partial<Stored<'workItem'>>): Partial<WorkItemRow> {
  const { by } = undone_deletion ?? {};
  return {
    ...(deleted_by !== undefined && { deleted_by: actorAsGiven(deleted_by) }),
    ...(undone_deletion && by !== undefined && { undone_deletion: { ...undone_deletion, by: actorAsGiven(by) } }),
  };
}

/**
 * The data of accounts in the data format, in an order in which it can be imported. App keys are exported as hashes,
 * since the keys are not stored. A merge is exported in full or not at all. Histories, the log head, rate counts,
 * Idempotency-Keys and the audit trail are left out.
 * @param accounts absent: all
 * @throws Error naming an account that does not exist
 */
export async function* exportData(table: Table, accounts?: readonly Int64[]): AsyncGenerator<Entity> {
  for (const account of accounts ?? (await listAccounts(table))) {
    const row = await readAccount(table, account);
    if (!row && accounts) throw new Error(`there is no account ${account}`);
    if (!row || row.erased_at_ms !== undefined) continue; // listed, but its creation was interrupted, or its erasure begins
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
    for await (const stored of rowsOf(table, account)) yield entityOf(stored);
  }
}

async function* rowsOf(table: Table, account: Int64): AsyncGenerator<Stored<RowKind>> {
  for (const partition of PARTITIONS.flatMap((collection) => collection(account))) yield* queryAll(table, partition);
  const { incidents, alerts } = await readSnapshot(table, account);
  yield* incidents;
  yield* alerts;
}
