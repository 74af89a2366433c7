/** The status as figures and tables, which the command prints and the console shows. */
import type { Int64 } from '../../../lib/shared/json.ts';
import { type MergeProgress, progressText } from '../incidents/pending-merges.ts';
import { type Measured, WINDOW_MINUTES } from './measured.ts';
import { EXPIRY_WARNING_DAYS, known, type Part, type Status, withAttempt } from './status.ts';

/** What is known of one thing. */
export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** The accounts that it counts, each with a text. */
  readonly accounts?: readonly { readonly id: Int64; readonly text: string }[];
  /** Whether it needs attention. */
  readonly isBad: boolean;
}

/** A text, a number, a time in Unix milliseconds, what the console links to the page at a path, or the words of an admin command. */
export type Cell =
  | string
  | number
  | undefined
  | { readonly atMs: number }
  | { readonly text: string; readonly path: readonly (string | Int64)[] }
  | { readonly command: string };

export interface StatusTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** The figure of a part, or why that part is missing. */
export function figureOf<Content>(
  name: string,
  read: Part<Content> | undefined,
  errorText: (error: Error) => string,
  show: (content: Content) => Omit<Figure, 'name'> | undefined,
): Figure {
  if (read && 'error' in read) return { name, value: 'cannot be read', note: errorText(read.error), isBad: true };
  const shown = read && show(read.value);
  return { name, ...(shown ?? { value: 'unknown', note: 'known only with npm start or --stack', isBad: false }) };
}

/** A count that should be zero. */
const badUnlessZero = (count: number) => ({ value: count.toLocaleString('en'), isBad: count > 0 });

/** @param errorText says why a part could not be read */
export function figuresOf(status: Status, errorText: (error: Error) => string): Figure[] {
  const { service, table_ms, measured, dead_letters, pending, accounts } = status;
  const figure = <Content>(
    name: string,
    read: Part<Content> | undefined,
    show: (content: Content) => Omit<Figure, 'name'> | undefined,
  ) => figureOf(name, read, errorText, show);
  const { dynamodb, alarms } = known(measured) ?? {};
  const averages = Object.entries(dynamodb?.latency_ms ?? {}).map(([name, average]) => `${name} ${average} ms`);
  return [
    service && 'error' in service
      ? { name: 'Service', value: 'down', note: service.error.message, isBad: true }
      : figure('Service', service, (ms) => ({ value: 'answers', note: `in ${ms} ms`, isBad: false })),
    figure('Failed calls', measured, ({ operations }) => {
      const failed = operations.reduce((sum, operation) => sum + operation.failed, 0);
      const note = `5xx, of the last ${WINDOW_MINUTES} minutes`;
      return operations.length === 0 ? undefined : { ...badUnlessZero(failed), note };
    }),
    figure('Table', table_ms, (ms) => ({ value: `${ms} ms`, note: 'a read, from here', isBad: false })),
    ...(dynamodb ? [{ name: 'Throttled', ...badUnlessZero(dynamodb.throttled), note: averages.join(', ') }] : []),
    ...(alarms ? [{ name: 'Raised alarms', ...badUnlessZero(alarms.length) }] : []),
    figure('Pending merges', pending, ({ length }) => badUnlessZero(length)),
    figure('Dead letters', dead_letters, (count) => {
      const note = 'of the merge queue: see DeadLetters in docs/operate.md';
      return count === undefined ? undefined : { ...badUnlessZero(count), ...(count > 0 && { note }) };
    }),
    figure('Accounts', accounts, ({ count }) => ({ value: count.toLocaleString('en'), isBad: false })),
    ...accountFigures(status),
  ];
}

function accountFigures({ accounts }: Status): Figure[] {
  const { withoutGatewayKey = [], overQuota = [] } = known(accounts) ?? {};
  const figure = (name: string, found: NonNullable<Figure['accounts']>) =>
    found.length > 0 ? [{ name, ...badUnlessZero(found.length), accounts: found }] : [];
  return [
    ...figure(
      'Without a gateway key',
      withoutGatewayKey.map((id) => ({ id, text: `account ${id}` })),
    ),
    ...figure(
      'Over a RUM quota',
      overQuota.map(({ account_id: id, quota }) => ({ id, text: `account ${id} (${quota})` })),
    ),
  ];
}

/** The tables of what needs attention, those without rows left out. */
export function tablesOf({ measured, pending, accounts }: Status): StatusTable[] {
  const { alarms = [] } = known(measured) ?? {};
  const { expiringKeys = [] } = known(accounts) ?? {};
  const tables: StatusTable[] = [
    {
      title: 'Raised alarms',
      head: ['alarm', 'since', 'what it means'],
      rows: alarms.map(({ name, since_ms, what }) => [name, { atMs: since_ms }, what]),
    },
    {
      title: 'Pending merges',
      head: ['since', 'account', 'incident', 'progress', 'last attempt', 'its error', 'next', 'how to finish it'],
      rows: (known(pending) ?? []).map((merge) => mergeRow(merge, known(measured))),
    },
    {
      title: `Keys that expire within ${EXPIRY_WARNING_DAYS} days`,
      head: ['expires', 'account', 'key', 'note', 'how to replace it'],
      rows: expiringKeys.map(({ account_id, app_key_id, expires_ms, note }) => [
        { atMs: expires_ms },
        { text: String(account_id), path: [account_id, 'account'] },
        app_key_id,
        note,
        { command: `app-key rotate ${app_key_id} --account ${account_id}` },
      ]),
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

export const CALLS_TITLE = `Calls with a valid app key in the last ${WINDOW_MINUTES} minutes`;

export const callsTable = ({ measured }: Status): StatusTable => ({
  title: CALLS_TITLE,
  head: ['operation', 'calls', 'failed (5xx)', 'p99, ms'],
  rows: (known(measured)?.operations ?? []).map(({ operation, calls, failed, p99_ms }) => [
    ...[operation, calls, failed],
    p99_ms,
  ]),
});

function mergeRow(merge: MergeProgress, measured: Measured | undefined): Cell[] {
  const { account_id, incident_id, sequence, at_ms = sequence, last } = withAttempt(merge, measured);
  return [
    { atMs: at_ms },
    { text: String(account_id), path: [account_id, 'health'] },
    { text: incident_id, path: [account_id, 'incident', incident_id] },
    progressText(merge),
    last && { atMs: last.at_ms },
    last?.error ?? 'none failed lately',
    last?.next_ms === undefined ? undefined : { atMs: last.next_ms },
    { command: `merge finish ${incident_id} ${sequence} --account ${account_id}` },
  ];
}
