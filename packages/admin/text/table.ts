/** Tables of JSON values, as plain data: the commands print them, and the console shows them. */
import { type Int64, stringifyJson } from '../../../lib/shared/json.ts';

/** Where the console shows a thing. */
export interface Address {
  /** The parts of the path below that of the account. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** Id of the element of the page to show. */
  readonly part?: string;
  /** Absent: the account of the page. */
  readonly account?: Int64;
}

/** What a cell shows. A number is a count; an id is a text. */
export type Cell =
  | string
  | number
  | undefined
  | readonly Cell[]
  /** A time in Unix milliseconds. */
  | { readonly atMs: number }
  | { readonly durationMs: number }
  /** A word that stands out; the console gives it the colour of the state. */
  | { readonly state: string; readonly text?: string }
  /** A thing, by its id and, where the text is its title, by both. */
  | ({ readonly id?: string; readonly text: string } & Address)
  /** A text to copy. */
  | { readonly copy: string }
  /** A text, and a few words that stand for it where room is short. */
  | { readonly brief: string; readonly text: string }
  /** The address of another site. */
  | { readonly url: string }
  /** An admin command to paste; `last` is its last argument, a stored text. */
  | { readonly command: string; readonly last?: string | undefined };

const KINDS = {
  id: (value: unknown) => String(value),
  count: (value: unknown) => Number(value),
  time: (value: unknown) => ({ atMs: Number(value) }),
  /** A time in Unix seconds; 0 stands for none. */
  seconds: (value: unknown) => (Number(value) === 0 ? undefined : { atMs: Number(value) * 1_000 }),
  state: (value: unknown) => ({ state: String(value) }),
} as const satisfies Record<string, (value: unknown) => Cell>;

/** A column of a table of such rows. `Special` is what only one of those that show tables can show. */
export interface Column<Row, Special = never> {
  readonly title: string;
  /** The field of the row that it shows, or what it shows of the row. */
  readonly of: (keyof Row & string) | ((row: Row) => Cell | Special);
  /** How the field is shown; absent: as its text. */
  readonly as?: keyof typeof KINDS;
}

/** How rows are listed. */
export interface Listing<Row, Special = never> {
  readonly title?: string;
  readonly columns: readonly Column<Row, Special>[];
  /** What is said if there are no rows. */
  readonly none: string;
}

/** A table to show: its cells, row by row. */
export interface Table<Special = never> extends Pick<Listing<never>, 'title' | 'none'> {
  readonly head: readonly string[];
  readonly rows: readonly (readonly (Cell | Special)[])[];
}

/** The fields of one thing to show, by their names. */
export interface Fields<Special = never> {
  readonly title?: string;
  readonly fields: readonly (readonly [name: string, value: Cell | Special])[];
}

export const isList = (cell: object): cell is readonly Cell[] => Array.isArray(cell);
const isEmpty = (cell: unknown) => cell === undefined || cell === '' || (Array.isArray(cell) && cell.length === 0);

function cellOf<Row, Special>(row: Row, { of, as = 'id' }: Column<Row, Special>): Cell | Special {
  if (typeof of === 'function') return of(row);
  const value = row[of];
  return value === undefined || value === null ? undefined : KINDS[as](value);
}

/** A table of the rows, without the columns that are empty in all of them. */
export function tableOf<Row, Special = never>(
  { columns, ...listing }: Listing<Row, Special>,
  rows: readonly Row[],
): Table<Special> {
  const all = rows.map((row) => columns.map((column) => cellOf(row, column)));
  const isShown = (_column: unknown, index: number) => !all.every((cells) => isEmpty(cells[index]));
  const head = columns.map(({ title }) => title);
  return { ...listing, head: head.filter(isShown), rows: all.map((cells) => cells.filter(isShown)) };
}

/** The fields of a thing that are not empty. */
export const fieldsOf = <Row, Special = never>(
  columns: readonly Column<Row, Special>[],
  row: Row,
): Fields<Special> => ({
  fields: columns.map((column) => [column.title, cellOf(row, column)] as const).filter(([, cell]) => !isEmpty(cell)),
});

/**
 * Columns for all fields of a row, by their names. Other systems write some rows, so a value may have any type.
 * @param special what is shown of some of the fields
 */
export const columnsOf = <Row extends object>(
  row: Row,
  special: Readonly<Record<string, (row: Row) => Cell>> = {},
): Column<Row>[] =>
  Object.entries(row).map(([name, value]) => ({
    title: name.replace(/_ms$/, '').replaceAll('_', ' '),
    of: special[name] ?? (() => fieldCell(name, value)),
  }));

function fieldCell(name: string, value: unknown): Cell {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (isNumber && name.endsWith('interval_ms')) return { durationMs: Number(value) };
  if (isNumber && name.endsWith('_ms')) return KINDS.time(value);
  if (isNumber && /_(time|at)$/.test(name)) return KINDS.seconds(value);
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  return typeof value === 'object' ? stringifyJson(value) : String(value);
}
