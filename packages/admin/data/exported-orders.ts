/**
 * The orders of a row in its line. Export writes them whole: with its time alone, an imported line would count as later than the records of
 * the same millisecond, and overwrite what they wrote. No sender may set them.
 */
import { AT_MS } from '../../../lib/ingest/alert-fields.ts';
import { KINDS, type Kind } from '../../../lib/ingest/kinds.ts';
import { type Order, type Orders, timeOf } from '../../../lib/ingest/order.ts';

type OrderName = keyof Orders;

const ONE: readonly OrderName[] = ['row_order'];
/** The orders of each kind's row. A work item may have fields of its own with the other names. */
const ORDERS_OF: Readonly<Record<Kind, readonly OrderName[]>> = {
  account: [],
  app_key: [],
  member: ONE,
  host: ONE,
  host_status: ['row_order', 'snapshot_order', 'health_order'],
  rum_resource: ONE,
  rum_usage: ONE,
  work_item: ['row_order', 'deletion_order'],
  incident: ['title_order', 'owner_order'],
  alert: ['row_order', 'incident_order', 'key_order'],
};

/** The orders in a row of a kind. */
export function ordersIn(kind: Kind, row: Readonly<Record<string, unknown>>): Orders {
  const found = ORDERS_OF[kind].filter((name) => row[name] instanceof Uint8Array);
  return Object.fromEntries(found.map((name) => [name, row[name] as Order]));
}

/** Orders as the fields of a line. */
export const orderFields = (orders: Orders): Record<string, string> =>
  Object.fromEntries(Object.entries(orders).map(([name, order]) => [name, Buffer.from(order).toString('hex')]));

/** In hexadecimal: a time of 6 bytes, which may be all of an order that a merge wrote, and up to 18 bytes more. */
const ORDER = /^(?:[0-9a-f]{2}){6,24}$/;
/** The parts of a host are kept for some time after their record was sent, which is told by the bytes after the time. */
const WHOLE_ORDER = /^(?:[0-9a-f]{2}){16,24}$/;
const MAY_BE_TIMES: readonly OrderName[] = ['title_order', 'owner_order', 'incident_order'];

/**
 * Takes the orders out of a parsed line.
 * @returns the line without them; and the orders, if an export has written the line
 */
export function takeOrders(parsed: unknown): { line: unknown; orders?: Orders; problems: string[] } {
  const problems: string[] = [];
  const kind = KINDS.find((each) => each === (parsed as { kind?: unknown } | null)?.kind);
  if (kind === undefined) return { line: parsed, problems };
  const line: Record<string, unknown> = { ...(parsed as object) };
  const orders: Record<string, Order> = {};
  for (const name of ORDERS_OF[kind]) {
    const text = line[name];
    delete line[name];
    if (text === undefined) continue;
    const pattern = MAY_BE_TIMES.includes(name) ? ORDER : WHOLE_ORDER;
    const order = typeof text === 'string' && pattern.test(text) ? Buffer.from(text, 'hex') : undefined;
    if (order && timeOf(order) >= AT_MS.minimum && timeOf(order) <= AT_MS.maximum) orders[name] = order;
    else problems.push(`${name} must be as export writes it, or left out`);
  }
  return { line, problems, ...(Object.keys(orders).length > 0 && { orders }) };
}
