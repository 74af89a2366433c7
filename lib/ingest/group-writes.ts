/** Writes rows whose groups of attributes have orders of their own: a record writes those groups for which it is later than the last one. */
import { isBefore, type Order } from '../model/order.ts';
import type { Table } from '../table/client.ts';
import { all, attribute, type Expression, expression, is, isBelow, set } from '../table/expression.ts';
import type { KeyOf, RowKind } from '../table/keys.ts';
import { conditionCheck, RETURN_STORED, transactNamed, updateAction, updateRow } from '../table/write.ts';
import type { Found, Row } from './record-rows.ts';

/** What a record writes of a group. */
export interface GroupWrite {
  /** The attribute that stores the order of the latest record that wrote the group. */
  readonly orderName: string;
  readonly order: Order;
  /** A field without a value is removed. */
  readonly fields: Row;
  /** An attribute whose presence ends all writing of the group by records. */
  readonly lockedBy?: string;
  /**
   * What is written instead while the stored value comes from a merge: what the feed said last. It comes from a merge if the row has the
   * attribute `lockedBy` or, for a group without that, the attribute `besideMerge.orderName`.
   */
  readonly besideMerge?: Pick<GroupWrite, 'orderName' | 'fields'>;
  /** The write in whose place this one came. */
  readonly original?: GroupWrite;
}

/** For rows that a retirement deletes. */
interface Creation {
  /** The key of the retirement's mark. A record that is not later than the mark creates no group. */
  mark: KeyOf<'retirement'>;
  /** Values of required fields that no group has. */
  defaults: Row;
}

/** What must hold of the stored row, or nothing is written. */
interface Requirement {
  condition: Expression;
  holds(stored: Row): boolean;
}

/** Of the writes of the same group, the latest. */
export const latestWrites = (writes: readonly GroupWrite[]): GroupWrite[] =>
  writes
    .toSorted((a, b) => Buffer.compare(b.order, a.order))
    .filter(({ orderName }, index, all) => all.findIndex((write) => write.orderName === orderName) === index);

/** The writes that are later than what is stored, or what is written in their place beside a merge's value. */
export const laterWrites = (stored: Row, writes: readonly GroupWrite[]): GroupWrite[] =>
  writes.flatMap((write) => {
    const { orderName, order, lockedBy, besideMerge } = write;
    const isLocked = lockedBy !== undefined && stored[lockedBy] !== undefined;
    if (!isLocked && isBefore(stored[orderName], order)) return [write];
    if (!besideMerge || stored[lockedBy ?? besideMerge.orderName] === undefined) return [];
    return isBefore(stored[besideMerge.orderName], order) ? [{ ...besideMerge, order, original: write }] : [];
  });

/**
 * Writes the groups that are later than the stored ones. Unless the caller has read the row, the first attempt is one write without a read:
 * it succeeds if all are later and, where creation is to be checked, the row already has these groups.
 * @param options `initial`: attributes of no group, which a row that lacks them gets; `found`: the row as the caller has read it
 * @returns whether anything was written
 */
export async function writeGroups(
  table: Table,
  key: KeyOf<RowKind>,
  writes: readonly GroupWrite[],
  {
    creation,
    required,
    initial,
    found,
  }: { creation?: Creation; required?: Requirement; initial?: Row; found?: Found | undefined } = {},
): Promise<boolean> {
  let read = found;
  for (let wanted = writes; wanted.length > 0; read = undefined) {
    const inOrder = wanted.flatMap(({ orderName, order, lockedBy }) => [
      creation ? expression`${attribute(orderName)} < ${order}` : isBelow(orderName, order),
      ...(lockedBy === undefined ? [] : [is(lockedBy, undefined)]),
    ]);
    const alsoRequired = required ? [required.condition] : [];
    let stored: Row = { ...read?.row };
    if (!read) {
      const condition = all(...inOrder, ...alsoRequired);
      const { done, row } = await updateRow(table, key, updateOf(wanted, initial), condition, RETURN_STORED);
      if (done) return true;
      stored = { ...row };
    }
    if (required && !required.holds(stored)) return false;
    const later = laterWrites(stored, wanted);
    if (later.length === 0) return false;
    wanted = later.map((write) => write.original ?? write);
    const isAsStored = all(areAsRead(stored, later), ...alsoRequired);
    if (!creation || later.every(({ orderName }) => stored[orderName] !== undefined)) {
      if ((await updateRow(table, key, updateOf(later, initial), isAsStored)).done) return true;
      continue;
    }
    const [earliest = new Uint8Array()] = later.map(({ order }) => order).sort(Buffer.compare);
    const failed = await transactNamed(table, {
      retirement: conditionCheck(creation.mark, isBelow('row_order', earliest)),
      row: updateAction(key, updateOf(later, creation.defaults), isAsStored),
    });
    if (!failed) return true;
    // The host was retired later than that.
    if (failed === 'retirement') wanted = wanted.filter(({ order }) => isBefore(earliest, order));
  }
  return false;
}

/** Condition: what decides whether these writes are later is as it was read. */
export function areAsRead(row: Row, writes: readonly GroupWrite[]): Expression {
  const decidingNames = ({ orderName, lockedBy, original }: GroupWrite): string[] => [
    orderName,
    ...(lockedBy ? [lockedBy] : []),
    ...(original ? decidingNames(original) : []),
  ];
  return all(...[...new Set(writes.flatMap(decidingNames))].map((name) => is(name, row[name])));
}

export function updateOf(writes: readonly GroupWrite[], defaults: Row = {}) {
  const rows = writes.map(({ orderName, order, fields }) => ({ ...fields, [orderName]: order }));
  const written: Row = Object.assign({}, ...rows);
  return set(written, Object.fromEntries(Object.entries(defaults).filter(([name]) => !(name in written))));
}
