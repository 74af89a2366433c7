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
  /**
   * What is written in its place where a merge's value stays: what the feed said last. It stays where the row has `endedBy`, or else the
   * order attribute of this.
   */
  readonly kept?: Pick<Part, 'orderAttribute' | 'fields'>;
  /** The part in whose place this one is written. */
  readonly instead?: Part;
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

/** What is to be written of parts: those that are later than the stored ones, or what is kept beside a merge's value. */
export const laterParts = (stored: Row, parts: readonly Part[]): Part[] =>
  parts.flatMap((part) => {
    const { orderAttribute, order, endedBy, kept } = part;
    const isEnded = endedBy !== undefined && stored[endedBy] !== undefined;
    if (!isEnded && isBefore(stored[orderAttribute], order)) return [part];
    if (!kept || stored[endedBy ?? kept.orderAttribute] === undefined) return [];
    return isBefore(stored[kept.orderAttribute], order) ? [{ ...kept, order, instead: part }] : [];
  });

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
    const later = laterParts(stored, wanted);
    if (later.length === 0) return false;
    wanted = later.map((part) => part.instead ?? part);
    const isAsStored = all(areAsRead(stored, later), ...alsoRequired);
    if (!creation || later.every(({ orderAttribute }) => stored[orderAttribute] !== undefined)) {
      if ((await updateRow(table, key, updateOf(later), isAsStored)).done) return true;
      continue;
    }
    const [earliest = new Uint8Array()] = later.map(({ order }) => order).sort(Buffer.compare);
    const failed = await transact(table, [
      conditionCheck(creation.mark, isBelow('row_order', earliest)),
      updateAction(key, updateOf(later, creation.defaults), isAsStored),
    ]);
    if (failed === undefined) return true;
    // The host was retired later than that.
    if (failed === 0) wanted = wanted.filter(({ order }) => isBefore(earliest, order));
  }
  return false;
}

/** Condition: what decides whether these parts are later is as it was read. */
export function areAsRead(row: Row, parts: readonly Part[]): Expression {
  const namesOf = ({ orderAttribute, endedBy, instead }: Part): string[] => [
    orderAttribute,
    ...(endedBy ? [endedBy] : []),
    ...(instead ? namesOf(instead) : []),
  ];
  return all(...[...new Set(parts.flatMap(namesOf))].map((name) => is(name, row[name])));
}

export function updateOf(parts: readonly Part[], defaults: Row = {}) {
  const rows = parts.map(({ orderAttribute, order, fields }) => ({ ...fields, [orderAttribute]: order }));
  const written: Row = Object.assign({}, ...rows);
  return set(written, Object.fromEntries(Object.entries(defaults).filter(([name]) => !(name in written))));
}
