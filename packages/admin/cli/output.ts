import Table from 'cli-table3';
import { printable } from '../text/printable.ts';

/** The parts of a border: without any of them, cli-table3 prints no line between rows. */
const BORDER = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const RULES = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];
const NO_BORDER = { ...Object.fromEntries([...BORDER, ...RULES].map((part) => [part, ''])), middle: '  ' };

/** A text, or one of our own that may hold escape sequences: that is printed as it is. */
type Cell = string | { readonly painted: string };

/** Rows in aligned columns without borders. Stored text is escaped. */
export function plainTable(rows: readonly (readonly Cell[])[], head: readonly Cell[] = []): string {
  const shown = (cells: readonly Cell[]) =>
    cells.map((cell) => (typeof cell === 'string' ? printable(cell) : cell.painted));
  const table = new Table({
    head: shown(head),
    chars: NO_BORDER,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push(shown(row));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Records in rows, with the names of their columns as the head. */
export const recordsTable = <Name extends string>(
  records: readonly Readonly<Record<Name, unknown>>[],
  columns: readonly Name[],
): string =>
  plainTable(
    records.map((record) => columns.map((column) => String(record[column]))),
    columns,
  );
