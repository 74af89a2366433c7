/**
 * The orders of a row in its line. Export writes them whole: with its time alone, an imported line would count as later than the records of
 * the same millisecond, and overwrite what they wrote. No sender may set them.
 */
import { AT_MS, ordersOf } from '../../../lib/model/fields.ts';
import { KINDS, type Kind, modelOf, type OrderName, type Orders } from '../../../lib/model/kinds.ts';
import { type Order, timeOf } from '../../../lib/model/order.ts';

/** The orders of a kind's row. A work item may have fields of its own with the names of others. */
const orderNamesOf = (kind: Kind) => ordersOf(modelOf(kind).groups) as OrderName[];

/** The orders in a row of a kind. */
export function ordersIn(kind: Kind, row: Readonly<Record<string, unknown>>): Orders {
  const found = orderNamesOf(kind).filter((name) => row[name] instanceof Uint8Array);
  return Object.fromEntries(found.map((name) => [name, row[name] as Order]));
}

/** Orders as the fields of a line. */
export const orderFields = (orders: Orders): Record<string, string> =>
  Object.fromEntries(Object.entries(orders).map(([name, order]) => [name, Buffer.from(order).toString('hex')]));

/** In hexadecimal: a time of 6 bytes, which may be all of an order that a merge wrote, and up to 18 bytes more. */
const ORDER = /^(?:[0-9a-f]{2}){6,24}$/;
/** What is known of a host is kept for some time after their record was sent, which is told by the bytes after the time. */
const WHOLE_ORDER = /^(?:[0-9a-f]{2}){16,24}$/;

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
  for (const { order: name, byMerges } of Object.values(modelOf(kind).groups)) {
    if (name === undefined) continue;
    const text = line[name];
    delete line[name];
    if (text === undefined) continue;
    const pattern = byMerges ? ORDER : WHOLE_ORDER;
    const order = typeof text === 'string' && pattern.test(text) ? Buffer.from(text, 'hex') : undefined;
    if (order && timeOf(order) >= AT_MS.minimum && timeOf(order) <= AT_MS.maximum) orders[name] = order;
    else problems.push(`${name} must be as export writes it, or left out`);
  }
  return { line, problems, ...(Object.keys(orders).length > 0 && { orders }) };
}
