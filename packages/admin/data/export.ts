import { actorAsGiven } from '../../../lib/ingest/record-rows.ts';
import type { AlertRow, alert } from '../../../lib/model/alert.ts';
import { defined, type NamesOf } from '../../../lib/model/fields.ts';
import { KINDS, type Kind, modelOf, type Orders, type SentRecord } from '../../../lib/model/kinds.ts';
import { laterOrder, timeOf } from '../../../lib/model/order.ts';
import { RESERVED_WORK_ITEM_FIELDS, type WorkItemRow } from '../../../lib/model/work-item.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { parseKey, partitions, type RowKind, type Stored } from '../../../lib/table/keys.ts';
import { queryAll } from '../../../lib/table/read.ts';
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

/** The kind of record that a row of this kind holds, such as `host_status` for `hostStatus`. */
const recordKindOf = (rowKind: RowKind): Kind | undefined => {
  const name = rowKind.replace(/[A-Z]/, (capital) => `_${capital.toLowerCase()}`);
  return KINDS.find((kind) => kind === name);
};

type Row = Readonly<Record<string, unknown>>;

/** What an export has of a row as it is stored: the declared fields but those of the service, and the own fields of a work item. */
function exportedFields(kind: Kind, row: Row): Row {
  const { fields, groups, open } = modelOf(kind);
  const isExported = (name: string) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) return open === true && !RESERVED_WORK_ITEM_FIELDS.includes(name);
    if (field.stored === false || field.by === 'service') return false;
    // Without the order of its group, a default is no value: a report would have no snapshot.
    return field.default === undefined || row[groups[field.stored]?.order as string] !== undefined;
  };
  const names = new Set([...Object.keys(fields), ...Object.keys(row)]);
  return Object.fromEntries(
    [...names].filter((name) => name in row && isExported(name)).map((name) => [name, row[name]]),
  );
}

/** The record that a row holds, as import takes it. Its orders let an import overwrite nothing newer. */
function recordOf({ pk, sk, ...stored }: Stored<RowKind>): SentRecord {
  const parsed = parseKey({ pk, sk });
  const kind = parsed && recordKindOf(parsed.kind);
  if (!kind || parsed.account === undefined) throw new Error(`no data format for a row of kind ${parsed?.kind}`);
  const row = stored as Row;
  const orders = { ...ordersIn(kind, row), ...(kind === 'alert' && incidentOrderOf(row)) };
  const [earliest] = Object.values(orders).sort(Buffer.compare);
  const changedAt = orders.row_order ?? earliest;
  return {
    kind,
    account_id: parsed.account,
    ...(changedAt !== undefined && { at_ms: timeOf(changedAt) }),
    ...((kind === 'host' || kind === 'host_status') && { host_id: sk }),
    ...exportedFields(kind, row),
    ...(kind === 'alert' && unstoredOf(row, orders)),
    ...(kind === 'work_item' && actorsOf(row)),
    ...orderFields(orders),
  };
}

/** The order of what an alert's row says of its incident: the record's that named it, or the later merge's. */
function incidentOrderOf({ moved_sequence, incident_order }: Partial<AlertRow>): Orders {
  return moved_sequence === undefined ? {} : { incident_order: laterOrder(moved_sequence, incident_order) };
}

/** What a record says of an alert and no attribute stores. */
function unstoredOf({ alert_key, ended_at_ms, alert_severity, incident_id }: Partial<AlertRow>, orders: Orders) {
  const fields: { [Name in NamesOf<typeof alert.fields, { stored: false }>]: unknown } = {
    alert_status: alert_key && (ended_at_ms === undefined ? alert_severity : 'Ok'),
    incident_at_ms: incident_id && orders.incident_order && timeOf(orders.incident_order),
  };
  return defined(fields);
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
export async function* exportData(table: Table, accounts?: readonly Int64[]): AsyncGenerator<SentRecord> {
  for (const account of accounts ?? (await listAccounts(table))) {
    const row = await readAccount(table, account);
    if (!row && accounts) throw new Error(`there is no account ${account}`);
    if (!row || row.erased_at_ms !== undefined) continue; // listed, but its creation was interrupted, or its erasure begins
    yield { kind: 'account', account_id: account, ...exportedFields('account', { ...row }) };
    for (const { hash: app_key_hash, ...key } of await listAppKeys(table, row)) {
      const revoked = key.revoked_at === undefined ? undefined : true;
      yield { kind: 'app_key', account_id: account, app_key_hash, ...exportedFields('app_key', { ...key }), revoked };
    }
    for await (const stored of rowsOf(table, account)) yield recordOf(stored);
  }
}

async function* rowsOf(table: Table, account: Int64): AsyncGenerator<Stored<RowKind>> {
  for (const partition of PARTITIONS.flatMap((collection) => collection(account))) yield* queryAll(table, partition);
  const { incidents, alerts } = await readSnapshot(table, account);
  yield* incidents;
  yield* alerts;
}
