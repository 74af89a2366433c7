import ms from 'ms';
import stringWidth from 'string-width';
import { commandText, printable, timeText } from '../text/printable.ts';
import { type Cell, type Fields, isList, type Table } from '../text/table.ts';
import { type Io, say } from './io.ts';

/** What a command prints: a sentence, a table or the fields of one thing. */
export type Part = string | Table | Fields;

const GAP = '  ';
/** A column is not made wider than this for the sake of a few long values, each of which then takes more room in its row. */
const MAX_PADDING = 48;
/** A column is not made narrower than this. */
const MIN_WIDTH = 8;

const graphemes = new Intl.Segmenter();

/** The beginning of a text in so many columns, with `…` at its end. */
function cut(text: string, width: number): string {
  let [kept, used] = ['', 1];
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The widths of a column: of its widest cell, and of its widest cell that is not cut. */
interface Column {
  readonly widest: number;
  readonly least: number;
}

const widthOf = ({ widest, least }: Column, most: number) => Math.max(least, Math.min(widest, most));

/** The largest width such that columns of at most this width fit. */
function mostOf(columns: readonly Column[], available: number): number {
  let most = Math.max(...columns.map(({ widest }) => widest));
  while (most > MIN_WIDTH && columns.reduce((sum, column) => sum + widthOf(column, most), 0) > available) most -= 1;
  return most;
}

/** The text of a cell, escaped. */
function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'string') return printable(cell);
  if (typeof cell === 'number') return cell.toLocaleString('en');
  if (isList(cell)) return cell.map(cellText).join('; ');
  if ('atMs' in cell) return timeText(cell.atMs);
  if ('durationMs' in cell) return ms(cell.durationMs, { long: true });
  if ('command' in cell) return commandText(`admin ${cell.command}`, { last: cell.last });
  if ('copy' in cell) return printable(cell.copy);
  if ('url' in cell) return printable(cell.url);
  if ('state' in cell) return printable(cell.text ?? cell.state);
  return printable('id' in cell && cell.id !== cell.text ? `${cell.id} ${cell.text}` : cell.text);
}

/**
 * Cells in aligned columns without borders.
 * @param width of the terminal, where the widest columns are cut, but no commands; absent: all is shown
 */
function aligned(rows: readonly (readonly Cell[])[], width?: number): string {
  const lines = rows.map((cells) =>
    cells.map((cell) => {
      const text = cellText(cell);
      return { text, width: stringWidth(text), isWhole: typeof cell === 'object' && 'command' in cell };
    }),
  );
  const columns = (lines[0] ?? []).map((_cell, index): Column => {
    const cells = lines.flatMap((line) => line[index] ?? []);
    const widestOf = (some: typeof cells) => Math.max(0, ...some.map((cell) => cell.width));
    return { widest: widestOf(cells), least: widestOf(cells.filter(({ isWhole }) => isWhole)) };
  });
  const most = width === undefined ? MAX_PADDING : mostOf(columns, width - GAP.length * (columns.length - 1));
  const shown = lines.map((cells) =>
    cells.map((cell, index) => {
      const padded = widthOf(columns[index] as Column, most);
      const text = width !== undefined && cell.width > padded ? cut(cell.text, padded) : cell.text;
      return text + ' '.repeat(Math.max(0, padded - stringWidth(text)));
    }),
  );
  return shown.map((cells) => cells.join(GAP).trimEnd()).join('\n');
}

/** What a command prints of a part. @param width of the terminal, into which a table is to fit; absent: not a terminal */
export function textOf(part: Part, width?: number, isTitled = true): string {
  if (typeof part === 'string') return printable(part);
  const title = part.title === undefined || !isTitled ? '' : `${part.title}\n`;
  if ('fields' in part) {
    // A line for each value of a list, so that no stored text looks like another one.
    const linesOf = (value: Cell) => (typeof value === 'object' && isList(value) ? value : [value]);
    const rows = part.fields.flatMap(([name, value]) =>
      linesOf(value).map((each, index) => [index === 0 ? `  ${name}` : '', each]),
    );
    return title + aligned(rows);
  }
  return part.rows.length === 0 ? part.none : title + aligned([part.head, ...part.rows], width);
}

const LINE_EVERY_MS = 5_000;

/** Says now and then how far a long write is, with its rate and the time left. */
export function startProgress(io: Io, what: string, total: number) {
  const began = io.now();
  let saidAt = began;
  let done = 0;
  const rate = () => Math.round(done / Math.max(0.001, (io.now() - began) / 1000));
  const text = () => `${what}: ${done} of ${total}, ${rate()} a second`;
  return {
    add(count: number) {
      done += count;
      if (io.now() - saidAt < LINE_EVERY_MS || done === total) return;
      saidAt = io.now();
      say(io, `${text()}, ${Math.ceil((total - done) / Math.max(1, rate()))} s left`);
    },
    done: () => done,
    end() {
      if (done > 0) say(io, text());
    },
  };
}
