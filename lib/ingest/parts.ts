/** Writes rows whose parts have orders of their own: a record writes those that it changes later than any before. */
import type { Table } from '../table/client.ts';
import { all, attribute, type Expression, expression, is, isBelow, set } from '../table/expression.ts';
import type { KeyOf, RowKind } from '../table/keys.ts';
import { conditionCheck, RETURN_STORED, transact, updateAction, updateRow } from '../table/write.ts';
import type { Found, Row } from './entity-rows.ts';
import { isBefore, type Order } from './order.ts';

/** Fields that are written together. */
export interface Part {
  /** The attribute that stores the order of the latest record that wrote the part. */
  readonly orderAttribute: string;
  readonly order: Order;
  /** A field without a value is removed. */
  readonly fields: Row;
  /** An attribute that ends all writing of this part. */
  readonly endedBy?: string;
}

/** For rows that a retirement deletes. */
interface Creation {
  /** The key of the retirement's mark. A record that is not later than the mark creates no part. */
  mark: KeyOf<'retirement'>;
  /** Values of required fields that no part has. */
  defaults: Row;
}

/** What must hold of the stored row, or nothing is written. */
interface Requirement {
  condition: Expression;
  holds(stored: Row): boolean;
}

/** Of the parts with the same attribute, the latest. */
export const latestParts = (parts: readonly Part[]): Part[] =>
  parts
    .toSorted((a, b) => Buffer.compare(b.order, a.order))
    .filter(({ orderAttribute: name }, index, all) => all.findIndex((part) => part.orderAttribute === name) === index);

export const isLater = (stored: Row, { orderAttribute, order, endedBy }: Part) =>
  isBefore(stored[orderAttribute], order) && (endedBy === undefined || stored[endedBy] === undefined);

/**
 * Writes the parts that are later than the stored ones. Unless the caller has read the row, the first attempt is one write without a read:
 * it succeeds if all are later and, where creation is to be checked, the row has them.
 * @returns whether anything was written
 */
export async function writeParts(
  table: Table,
  key: KeyOf<RowKind>,
  parts: readonly Part[],
  { creation, required, found }: { creation?: Creation; required?: Requirement; found?: Found | undefined } = {},
): Promise<boolean> {
  let read = found;
  for (let wanted = parts; wanted.length > 0; read = undefined) {
    const inOrder = wanted.flatMap(({ orderAttribute, order, endedBy }) => [
      creation ? expression`${attribute(orderAttribute)} < ${order}` : isBelow(orderAttribute, order),
      ...(endedBy === undefined ? [] : [is(endedBy, undefined)]),
    ]);
    const alsoRequired = required ? [required.condition] : [];
    let stored: Row = { ...read?.row };
    if (!read) {
      const condition = all(...inOrder, ...alsoRequired);
      const { done, row } = await updateRow(table, key, updateOf(wanted), condition, RETURN_STORED);
      if (done) return true;
      stored = { ...row };
    }
    if (required && !required.holds(stored)) return false;
    wanted = wanted.filter((part) => isLater(stored, part));
    if (wanted.length === 0) return false;
    const isAsStored = all(areAsRead(stored, wanted), ...alsoRequired);
    if (!creation || wanted.every(({ orderAttribute }) => stored[orderAttribute] !== undefined)) {
      if ((await updateRow(table, key, updateOf(wanted), isAsStored)).done) return true;
      continue;
    }
    const [earliest = new Uint8Array()] = wanted.map(({ order }) => order).sort(Buffer.compare);
    const failed = await transact(table, [
      conditionCheck(creation.mark, isBelow('row_order', earliest)),
      updateAction(key, updateOf(wanted, creation.defaults), isAsStored),
    ]);
    if (failed === undefined) return true;
    // The host was retired later than that.
    if (failed === 0) wanted = wanted.filter(({ order }) => isBefore(earliest, order));
  }
  return false;
}

/** Condition: what decides whether these parts are later is as it was read. */
export function areAsRead(row: Row, parts: readonly Part[]): Expression {
  const names = parts.flatMap(({ orderAttribute: name, endedBy }) => (endedBy ? [name, endedBy] : [name]));
  return all(...names.map((name) => is(name, row[name])));
}

export function updateOf(parts: readonly Part[], defaults: Row = {}) {
  const rows = parts.map(({ orderAttribute, order, fields }) => ({ ...fields, [orderAttribute]: order }));
  const written: Row = Object.assign({}, ...rows);
  return set(written, Object.fromEntries(Object.entries(defaults).filter(([name]) => !(name in written))));
}
