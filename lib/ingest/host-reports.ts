/**
 * Merges reports of a host into its status row. A report has some of the fields, and reports arrive in any order. So the row stores, for each
 * field, the order (see `order.ts`) of the report that the value comes from. Fields that are usually reported together form a group, with
 * one attribute for their order. A field that the group's latest report lacks keeps its order in an attribute of its own, `<field>_order`.
 */

import { STATUS_SCHEMA } from '../operations/browse-fleet/host.ts';
import type { Int64 } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { all, attribute, type Expression, expression, is, isBelow, set, updateOf } from '../table/expression.ts';
import type { keys } from '../table/keys.ts';
import { updateRow } from '../table/write.ts';
import { timeOf } from './order.ts';
import type { FeedRecord } from './records.ts';

/**
 * DynamoDB removes the rows of a retired host after this time. Until then, records from before the retirement change nothing, and a later
 * one brings the host back.
 */
const RETENTION_DAYS = 30;

/** When DynamoDB removes the rows of a host that was retired at this time: the value of their attribute `ttl`, in Unix seconds. */
export const removalTime = (retiredAtMs: number): number => Math.ceil(retiredAtMs / 1000) + RETENTION_DAYS * 24 * 3600;

const { host_id: _key, ...STATUS_FIELDS } = STATUS_SCHEMA.properties;
type Field = keyof typeof STATUS_FIELDS | 'ttl';

/** The latest known value of a field, and the order of its report. */
interface Cell {
  /** undefined if the report removes the field. */
  value: unknown;
  order: bigint;
}
export type Cells = Map<Field, Cell>;

const SNAPSHOT_FIELDS: readonly Field[] = [
  'received_at_ms',
  'observed_at_ms',
  'node_count',
  'edge_count',
  'authoritative',
  'graph_available',
  'snapshot_truncated',
  'snapshot_degraded',
];

/**
 * The fields of each group, by the attribute that stores the group's order. `feed_order` is the order of the retirement that set `ttl`, or of
 * the record that cancelled it.
 */
const GROUPS = Object.entries({
  feed_order: ['ttl'],
  snapshot_order: SNAPSHOT_FIELDS,
  health_order: ['health_at_ms'],
  reasons_order: ['reason_codes'],
} as const satisfies Record<string, readonly Field[]>) as [string, readonly Field[]][];

const ownOrder = (field: Field) => `${field}_order`;

/** All attributes of a status row that store orders. */
export const REPORT_ORDERS = [...GROUPS.map(([group]) => group), ...SNAPSHOT_FIELDS.map(ownOrder)];

/** Values of required fields that were never reported or were removed. */
const DEFAULTS: Readonly<Partial<Record<Field, unknown>>> = Object.fromEntries(
  STATUS_SCHEMA.required
    .filter((name) => name !== 'host_id')
    .map((name) => [name, STATUS_FIELDS[name].type === 'boolean' ? false : 0]),
);

/**
 * The latest value of each field in these reports and retirements of one host. A retirement removes all fields and sets the row's time to
 * live, which counts from the latest of the records, since the agent of a retired host may go on reporting.
 */
export function cellsOf(records: readonly FeedRecord[]): Cells {
  const cells: Cells = new Map();
  for (const { entity, order, atMs, retired } of records) {
    const reported: Readonly<Record<string, unknown>> = retired
      ? { ...Object.fromEntries(Object.keys(STATUS_FIELDS).map((name) => [name, null])), ttl: removalTime(atMs) }
      : entity;
    for (const [, fields] of GROUPS)
      for (const field of fields) {
        const value = reported[field];
        if (value === undefined) continue;
        const known = cells.get(field);
        if (!known || known.order < order) cells.set(field, { value: value ?? DEFAULTS[field], order });
      }
  }
  const removal = cells.get('ttl');
  if (removal) removal.value = removalTimeAfter([...cells.values()].map(({ order }) => order));
  return cells;
}

/** The time to live, in Unix seconds, counted from the time of the highest of these orders. */
const removalTimeAfter = (orders: readonly bigint[]) =>
  removalTime(timeOf(orders.reduce((highest, order) => (order > highest ? order : highest), 0n)));

/** The orders and the time to live of a stored row. */
type StoredOrders = Readonly<Record<string, unknown>>;

/** The order of the report that a stored field is from; 0 if it was never reported. */
const storedOrder = (row: StoredOrders, group: string, field: Field) =>
  (row[ownOrder(field)] ?? row[group] ?? 0) as Int64;

/**
 * Writes each field whose report is later than that of the stored field. The first attempt is one write without a read: it succeeds if all
 * fields are later than the orders of their groups, and the host is not retired. Otherwise the failed condition returns the row, from which
 * the next attempt chooses the fields.
 * @returns whether anything was written
 */
export async function writeReports(
  table: Table,
  key: ReturnType<typeof keys.hostStatus>,
  cells: Cells,
): Promise<boolean> {
  let stored: StoredOrders | undefined;
  for (;;) {
    const row = stored;
    const laterCells = row
      ? new Map([...cells].filter(([field, { order }]) => order > storedOrder(row, groupOf(field), field)))
      : cells;
    if (laterCells.size === 0) return false;
    const { update, condition } = row ? writeToReadRow(row, laterCells) : writeToUnreadRow(laterCells);
    const { done, row: found } = await updateRow(table, key, update, condition, {
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    if (done) return true;
    stored = (found ?? {}) as StoredOrders;
  }
}

const groupOf = (field: Field) => GROUPS.find(([, fields]) => fields.includes(field))?.[0] as string;

interface Write {
  update: Expression;
  condition: Expression;
}

/** Removes the time to live of a status row, since the record with this order has brought its retired host back. */
export async function cancelRemoval(
  table: Table,
  key: ReturnType<typeof keys.hostStatus>,
  order: number | bigint,
): Promise<void> {
  const isRetired = all(expression`attribute_exists(${attribute('ttl')})`, isBelow('feed_order', order));
  await updateRow(table, key, set({ feed_order: order, ttl: undefined }), isRetired);
}

/** A write without reading the row first, on condition that all cells are later than the orders of their groups. */
function writeToUnreadRow(cells: Cells): Write {
  const changes = createChanges();
  const conditions: Expression[] = cells.has('ttl') ? [] : [is('ttl', undefined)];
  for (const [group, fields] of GROUPS) {
    const orders = fields.flatMap((field) => cells.get(field)?.order ?? []);
    if (orders.length === 0) {
      for (const field of fields) changes.setDefault(field);
      continue;
    }
    const [lowest, highest] = orders.reduce(
      ([low, high], order) => [order < low ? order : low, order > high ? order : high],
      [orders[0], orders[0]] as [bigint, bigint],
    );
    conditions.push(isBelow(group, lowest));
    changes.set(group, highest);
    for (const field of fields) {
      const cell = cells.get(field);
      if (cell) changes.setCell(field, cell, highest, fields.length > 1);
      else {
        // Gives the stored field an order of its own, since the group's new order does not apply to it. In a row without reports it is 0.
        const fieldOrder = attribute(ownOrder(field));
        const oldGroupOrder = expression`if_not_exists(${attribute(group)}, ${0})`;
        changes.add(expression`${fieldOrder} = if_not_exists(${fieldOrder}, ${oldGroupOrder})`);
        changes.setDefault(field);
      }
    }
  }
  return { update: changes.update(), condition: all(...conditions) };
}

/** A write on condition that the row still has the time to live and the orders that were read: those that it changes or counts from. */
function writeToReadRow(row: StoredOrders, laterCells: Cells): Write {
  const changes = createChanges();
  const conditions: Expression[] = [is('ttl', row.ttl)];
  const cells = new Map(laterCells);
  const removal =
    laterCells.get('ttl') ??
    (row.ttl === undefined ? undefined : { order: BigInt(storedOrder(row, 'feed_order', 'ttl')) });
  if (removal) {
    const orders = GROUPS.flatMap(([group, fields]) =>
      fields.map((field) => laterCells.get(field)?.order ?? BigInt(storedOrder(row, group, field))),
    );
    cells.set('ttl', { value: removalTimeAfter(orders), order: removal.order });
  }
  for (const [group, fields] of GROUPS) {
    const isTouched = fields.some((field) => cells.has(field));
    // The time to live counts from all orders.
    const isRead = isTouched || removal !== undefined;
    if (isRead) conditions.push(is(group, row[group]));
    const orders = fields.map((field) => BigInt(cells.get(field)?.order ?? storedOrder(row, group, field)));
    const highest = orders.reduce((high, order) => (order > high ? order : high), 0n);
    if (isTouched) changes.set(group, highest);
    for (const [index, field] of fields.entries()) {
      const cell = cells.get(field);
      if (isRead && fields.length > 1) conditions.push(is(ownOrder(field), row[ownOrder(field)]));
      if (cell) changes.setCell(field, cell, highest, fields.length > 1);
      else {
        if (isTouched && orders[index] !== highest) changes.set(ownOrder(field), orders[index]);
        changes.setDefault(field);
      }
    }
  }
  return { update: changes.update(), condition: all(...conditions) };
}

/** Collects the assignments and removals of an update. */
function createChanges() {
  const sets: Expression[] = [];
  const removed: Expression[] = [];
  const assign = (name: string, value: unknown) => void sets.push(is(name, value));
  return {
    add: (change: Expression) => void sets.push(change),
    set: assign,
    /**
     * Writes a field and, if its order differs from that of the group, that order.
     * @param isOneOfMany whether the group has more fields, so that this one may have an order of its own
     */
    setCell(field: Field, { value, order }: Cell, groupOrder: bigint, isOneOfMany: boolean) {
      if (value === undefined) removed.push(attribute(field));
      else assign(field, value);
      if (order !== groupOrder) assign(ownOrder(field), order);
      else if (isOneOfMany) removed.push(attribute(ownOrder(field)));
    },
    /** Gives a required field its default, unless the row has it. */
    setDefault(field: Field) {
      const value = DEFAULTS[field];
      if (value !== undefined)
        sets.push(expression`${attribute(field)} = if_not_exists(${attribute(field)}, ${value})`);
    },
    update: () => updateOf(sets, removed),
  };
}
