import Table from 'cli-table3';
import { printable } from '../lib/printable.ts';
import type { Painted } from './io.ts';

const NO_BORDER = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

export type Cell = string | Painted;

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
