/**
 * Merges reports of a host into its status row. A report has some of the fields, and reports arrive in any order. So the row has for each
 * field the order (see `order.ts`) of the report that it is from. Fields that are usually reported together are a group, with one attribute
 * for their order. A field that the group's latest report lacks keeps its order in an attribute of its own, `<field>_order`.
 */
import type { Table } from '../dynamodb/client.ts';
import { all, attribute, type Expression, expression, is, isBelow, set, updateOf } from '../dynamodb/expression.ts';
import type { keys } from '../dynamodb/keys.ts';
import { updateRow } from '../dynamodb/row.ts';
import { STATUS_SCHEMA } from '../operations/browse-fleet/fleet-rows.ts';
import type { Int64 } from '../shared/json.ts';
import { timeOf } from './order.ts';
import type { FeedRecord } from './records.ts';

/** DynamoDB removes the rows of a retired host after this time. Until then older records change nothing, and a later one brings it back. */
const KEPT_DAYS = 30;

/** The time to live of the rows that a retirement leaves, in Unix seconds. */
export const removalTime = (retiredAtMs: number): number => Math.ceil(retiredAtMs / 1000) + KEPT_DAYS * 24 * 3600;

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

/** The fields of each group, by the attribute that stores the group's order. */
const GROUPS = Object.entries({
  feed_order: ['ttl'],
  snapshot_order: SNAPSHOT_FIELDS,
  health_order: ['health_at_ms'],
  reasons_order: ['reason_codes'],
} as const satisfies Record<string, readonly Field[]>) as [string, readonly Field[]][];

const ownOrder = (field: Field) => `${field}_order`;

/** All attributes of a status row that are orders. */
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

/** The time to live that counts from the latest of these orders, in Unix seconds. */
const removalTimeAfter = (orders: readonly bigint[]) =>
  removalTime(timeOf(orders.reduce((last, order) => (order > last ? order : last), 0n)));

/** The orders and the time to live of a stored row. */
type StoredOrders = Readonly<Record<string, unknown>>;

/** The order of the report that a stored field is from; 0 if it was never reported. */
const storedOrder = (row: StoredOrders, group: string, field: Field) =>
  (row[ownOrder(field)] ?? row[group] ?? 0) as Int64;

/**
 * Writes each field that is later than the stored one. The first attempt takes one write and no read: it succeeds if all fields are later
 * than the orders of their groups, and the host is not retired. Otherwise the failed condition returns the row, by which the next attempt
 * chooses the fields.
 * @returns whether anything was written
 */
export async function writeReports(
  table: Table,
  key: ReturnType<typeof keys.hostStatus>,
  cells: Cells,
): Promise<boolean> {
  let stored: StoredOrders | undefined;
  for (;;) {
    const known = stored;
    const later = known
      ? new Map([...cells].filter(([field, { order }]) => order > storedOrder(known, groupOf(field), field)))
      : cells;
    if (later.size === 0) return false;
    const { update, condition } = known ? writeAsRead(known, later) : writeUnread(later);
    const { done, row } = await updateRow(table, key, update, condition, {
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    if (done) return true;
    stored = (row ?? {}) as StoredOrders;
  }
}

const groupOf = (field: Field) => GROUPS.find(([, fields]) => fields.includes(field))?.[0] as string;

interface Write {
  update: Expression;
  condition: Expression;
}

/** Removes the time to live of a status row, since a record of this order has brought its retired host back. */
export async function cancelRemoval(
  table: Table,
  key: ReturnType<typeof keys.hostStatus>,
  order: number | bigint,
): Promise<void> {
  const isRetired = all(expression`attribute_exists(${attribute('ttl')})`, isBelow('feed_order', order));
  await updateRow(table, key, set({ feed_order: order, ttl: undefined }), isRetired);
}

/** The write of a row that was not read, on condition that all cells are later than the orders of their groups. */
function writeUnread(cells: Cells): Write {
  const changes = createChanges();
  const conditions: Expression[] = cells.has('ttl') ? [] : [is('ttl', undefined)];
  for (const [group, fields] of GROUPS) {
    const orders = fields.flatMap((field) => cells.get(field)?.order ?? []);
    if (orders.length === 0) {
      for (const field of fields) changes.setDefault(field);
      continue;
    }
    const [first, last] = orders.reduce(
      ([low, high], order) => [order < low ? order : low, order > high ? order : high],
      [orders[0], orders[0]] as [bigint, bigint],
    );
    conditions.push(isBelow(group, first));
    changes.set(group, last);
    for (const field of fields) {
      const cell = cells.get(field);
      if (cell) changes.cell(field, cell, last, fields.length > 1);
      else {
        // Keeps the order of the stored field, which the group's new order would replace; it is 0 in a row without reports.
        const own = attribute(ownOrder(field));
        const before = expression`if_not_exists(${attribute(group)}, ${0})`;
        changes.add(expression`${own} = if_not_exists(${own}, ${before})`);
        changes.setDefault(field);
      }
    }
  }
  return { update: changes.update(), condition: all(...conditions) };
}

/** The write on condition that the row still has the orders and the time to live that were read. */
function writeAsRead(row: StoredOrders, later: Cells): Write {
  const changes = createChanges();
  const conditions: Expression[] = [is('ttl', row.ttl)];
  const cells = new Map(later);
  const removal =
    later.get('ttl') ?? (row.ttl === undefined ? undefined : { order: BigInt(storedOrder(row, 'feed_order', 'ttl')) });
  if (removal) {
    const orders = GROUPS.flatMap(([group, fields]) =>
      fields.map((field) => later.get(field)?.order ?? BigInt(storedOrder(row, group, field))),
    );
    cells.set('ttl', { value: removalTimeAfter(orders), order: removal.order });
  }
  for (const [group, fields] of GROUPS) {
    const isTouched = fields.some((field) => cells.has(field));
    if (isTouched) conditions.push(is(group, row[group]));
    const orders = fields.map((field) => BigInt(cells.get(field)?.order ?? storedOrder(row, group, field)));
    const last = orders.reduce((high, order) => (order > high ? order : high), 0n);
    if (isTouched) changes.set(group, last);
    for (const [index, field] of fields.entries()) {
      const cell = cells.get(field);
      if (isTouched && fields.length > 1) conditions.push(is(ownOrder(field), row[ownOrder(field)]));
      if (cell) changes.cell(field, cell, last, fields.length > 1);
      else {
        if (isTouched && orders[index] !== last) changes.set(ownOrder(field), orders[index]);
        changes.setDefault(field);
      }
    }
  }
  return { update: changes.update(), condition: all(...conditions) };
}

/** Collects the changes of an update. */
function createChanges() {
  const sets: Expression[] = [];
  const removed: Expression[] = [];
  const assign = (name: string, value: unknown) => void sets.push(is(name, value));
  return {
    add: (change: Expression) => void sets.push(change),
    set: assign,
    /**
     * Writes a field and, if it differs from that of the group, its order.
     * @param last the order of the group
     * @param isOfMany whether the group has more fields, so that this one may have an order of its own
     */
    cell(field: Field, { value, order }: Cell, last: bigint, isOfMany: boolean) {
      if (value === undefined) removed.push(attribute(field));
      else assign(field, value);
      if (order !== last) assign(ownOrder(field), order);
      else if (isOfMany) removed.push(attribute(ownOrder(field)));
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
