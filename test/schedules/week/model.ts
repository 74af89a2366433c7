/** The rows that the records of a week demand, whatever the order in which they came, and what merges, deletions and restores made of them. */
import type { IngestRecord } from '../../../lib/ingest/records.ts';
import { isBefore, orderAt } from '../../../lib/model/order.ts';
import { type Key, parseKey } from '../../../lib/table/keys.ts';
import type { Item } from '../../table-double/values.ts';
import type { Replayed } from './replay.ts';

export type Fields = Record<string, unknown>;
export type Model = Map<string, Fields>;

const FLAGS = ['authoritative', 'graph_available', 'snapshot_truncated', 'snapshot_degraded'];
const SNAPSHOT = ['received_at_ms', 'observed_at_ms', 'node_count', 'edge_count', ...FLAGS];
const EMPTY = { node_count: 0, edge_count: 0, ...Object.fromEntries(FLAGS.map((name) => [name, false])) };
const without = (row: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
const has = (fields: Fields, names: readonly string[]) => names.some((name) => fields[name] !== undefined);

/** A status after a report. */
function statusAfter(row: Fields, fields: Fields, atMs: number): Fields {
  if (!has(fields, SNAPSHOT)) return { ...EMPTY, ...without(row, ['reason_codes']), ...fields };
  const received = has(fields, ['observed_at_ms', 'node_count', 'edge_count']) && (fields.received_at_ms ?? atMs);
  const report = { ...EMPTY, ...without(fields, ['received_at_ms']), ...(received && { received_at_ms: received }) };
  return { ...without(row, ['reason_codes', ...SNAPSHOT]), ...report };
}

/** The rows by their kinds and ids. Those of alerts with a key have a judge of their own. */
export function modelOf(records: readonly IngestRecord[], replayed: Replayed): Model {
  const rows: Model = new Map();
  const ascending = records.toSorted((a, b) => Buffer.compare(a.order, b.order));
  for (const { sent, retired, atMs, order } of ascending) {
    const { kind, account_id: _account, host_id, ...fields } = sent;
    if (fields.alert_key !== undefined) continue;
    const { member_id, work_item_id, alert_id, incident_id } = fields;
    const name = `${kind} ${host_id ?? member_id ?? work_item_id ?? alert_id ?? incident_id ?? 'RESOURCE'}`;
    const row = rows.get(name) ?? {};
    if (retired) {
      for (const removed of [name, `host_status ${host_id}`]) rows.delete(removed);
      rows.set(`retirement ${host_id}`, { row_order: Uint8Array.from(order) });
    } else if (kind === 'host_status') rows.set(name, statusAfter(row, fields, atMs));
    else if (kind === 'alert') rows.set(name, without(fields, ['incident_id', 'incident_at_ms']));
    else if (kind !== 'work_item' || fields.deleted_at_ms !== undefined || !row.deleted_at_ms) rows.set(name, fields);
  }
  const places = ascending.flatMap(({ sent: { alert_id, incident_id, incident_at_ms }, atMs, order }) =>
    alert_id && incident_id ? [{ alert_id, incident_id, order: orderAt(Number(incident_at_ms ?? atMs), order) }] : [],
  );
  for (const { alert_id, incident_id } of places.sort((a, b) => Buffer.compare(a.order, b.order)))
    Object.assign(rows.get(`alert ${alert_id}`) ?? {}, { incident_id });
  for (const [alertId, { to }] of replayed.placeOf)
    Object.assign(rows.get(`alert ${alertId}`) ?? {}, { incident_id: to });
  for (const [incidentId, given] of replayed.given) {
    const last = ascending.findLast(({ sent }) => sent.kind === 'incident' && sent.incident_id === incidentId);
    for (const [name, { value, order }] of Object.entries(given))
      if (!last || !isBefore(order, last.order))
        Object.assign(rows.get(`incident ${incidentId}`) ?? {}, { [name]: value });
  }
  return rows;
}

const SHOWN = ['host', 'host_status', 'retirement', 'member', 'rum_resource', 'work_item', 'incident', 'alert'];
/** What only this table says, or what orders records. */
const OMITTED = /^(pk|sk|ttl|moved_from|moved_sequence|feed_\w+|title_by|owner_by|.*_order)$/;

/** The rows of a table by the names of the model, without what orders them. */
export const shownRows = (items: readonly Item[]): Model =>
  new Map(
    items.flatMap((row) => {
      const { kind = '', account } = parseKey(row as unknown as Key) ?? {};
      const name = kind.replace(/[A-Z]/, (capital) => `_${capital.toLowerCase()}`);
      if (account === undefined || !SHOWN.includes(name) || row.alert_key !== undefined) return [];
      const isOmitted = (field: string) => OMITTED.test(field) && !(name === 'retirement' && field === 'row_order');
      const fields = Object.entries(row).filter(([field]) => !isOmitted(field));
      return [[`${name} ${row.sk}`, Object.fromEntries(fields)] as const];
    }),
  );

/** In the form of JSON, but with bytes: without undefined fields. */
export const plain = (model: Model) =>
  Object.fromEntries(
    [...model].map(([name, row]) => [
      name,
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)),
    ]),
  );
