import { Presets, SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { printable, timeText } from '../text/printable.ts';
import { type Io, say } from './io.ts';

/** All parts of a border: cli-table3 prints lines between rows unless each of them is empty. */
const BORDER = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const RULES = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];
const NO_BORDER = { ...Object.fromEntries([...BORDER, ...RULES].map((part) => [part, ''])), middle: '  ' };

/** A text, which is escaped, or a text of our own with escape sequences for colours, which is printed as it is. */
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

/** The fields of a row, one a line; times also in readable form. */
export function fieldsText(row: object): string {
  const rows = Object.entries(row).map(([field, value]) => {
    const text = typeof value === 'object' ? stringifyJson(value) : String(value);
    return [
      `  ${field}`,
      /_ms$/.test(field) && !/interval/.test(field) ? `${text} (${timeText(Number(value))})` : text,
    ];
  });
  return plainTable(rows);
}

const LINE_EVERY_MS = 5_000;

/** Progress of a long write, with its rate and the time left: a bar on a terminal, otherwise a line now and then. */
export function startProgress(io: Io, what: string, total: number) {
  const began = io.now();
  let done = 0;
  const figures = () => {
    const rate = done / Math.max(0.001, (io.now() - began) / 1000);
    return { rate: Math.round(rate), left: Math.ceil((total - done) / Math.max(1, rate)) };
  };
  const { add, end } = io.stderr.isTTY ? inBar() : inLines();

  function inBar() {
    const format = `${what} {bar} {percentage} % | {value} of {total} | {rate} a second | {left} s left`;
    const stream = io.stderr as NodeJS.WriteStream;
    const bar = new SingleBar({ stream, format, hideCursor: true, gracefulExit: false }, Presets.shades_classic);
    bar.start(total, 0, figures());
    return { add: () => bar.update(done, figures()), end: () => bar.stop() };
  }

  function inLines() {
    let saidAt = began;
    const text = () => `${what}: ${done} of ${total}, ${figures().rate} a second`;
    const add = () => {
      if (io.now() - saidAt < LINE_EVERY_MS || done === total) return;
      saidAt = io.now();
      say(io, `${text()}, ${figures().left} s left`);
    };
    const end = () => {
      if (done > 0) say(io, text());
    };
    return { add, end };
  }

  return {
    add(count: number) {
      done += count;
      add();
    },
    done: () => done,
    end,
  };
}
