/** The status as figures and tables, which the command prints and the console shows. */
import { SEVERITIES } from '../../../lib/model/alert.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { OpenAlerts } from '../incidents/alert-counts.ts';
import { OPEN_ALERTS } from '../tables/alerts.ts';
import { PENDING_MERGES } from '../tables/merges.ts';
import { type Column, type Listing, type Table, tableOf } from '../text/table.ts';
import { type Alarm, type OperationFigures, type RefusedKey, WINDOW_MINUTES } from './measured.ts';
import { EXPIRY_WARNING_DAYS, type ExpiringKey, known, type Reading, type Status, withAttempt } from './status.ts';

/** Accounts whose open alerts are listed: those with the most critical ones. */
const ACCOUNTS_LISTED = 20;

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

/** @returns makes the figure of what was read, or says why it is missing. @param errorText says why it could not be read */
export const figureMaker =
  (errorText: (error: Error) => string) =>
  <Content>(
    name: string,
    read: Reading<Content> | undefined,
    show: (content: Content) => Omit<Figure, 'name'> | undefined,
  ): Figure => {
    if (read && 'error' in read) return { name, value: 'cannot be read', note: errorText(read.error), isBad: true };
    const shown = read && show(read.value);
    return { name, ...(shown ?? { value: 'unknown', note: 'known only with npm start or --stack', isBad: false }) };
  };

/** A count that should be zero. */
const badUnlessZero = (count: number) => ({ value: count.toLocaleString('en'), isBad: count > 0 });

/** @param errorText as in {@link figureMaker} */
export function figuresOf(status: Status, errorText: (error: Error) => string): Figure[] {
  const { service, default_url, table_ms, measured, dead_letters, pending, accounts, open_alerts } = status;
  const figure = figureMaker(errorText);
  const { dynamodb, alarms } = known(measured) ?? {};
  const averages = Object.entries(dynamodb?.latency_ms ?? {}).map(([name, average]) => `${name} ${average} ms`);
  return [
    service && 'error' in service
      ? { name: 'Service', value: 'down', note: service.error.message, isBad: true }
      : figure('Service', service, (ms) => ({ value: 'answers', note: `in ${ms} ms`, isBad: false })),
    ...(default_url ? [{ name: 'Default address', value: default_url, isBad: false }] : []),
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
      const note = 'of the merge queue: see DeadLetters in docs/runbook.md';
      return count === undefined ? undefined : { ...badUnlessZero(count), ...(count > 0 && { note }) };
    }),
    figure('Open alerts', open_alerts, (found) => {
      const totals = totalsOf(found);
      const value = totals.reduce((sum, { count }) => sum + count, 0).toLocaleString('en');
      const note = totals.map(({ severity, count }) => `${count.toLocaleString('en')} ${severity}`).join(', ');
      return { value, note, isBad: false };
    }),
    figure('Accounts', accounts, ({ count }) => ({ value: count.toLocaleString('en'), isBad: false })),
    ...accountFigures(status),
  ];
}

/** The open alerts of all accounts, by the severities that occur. */
const totalsOf = (found: readonly OpenAlerts[]) =>
  SEVERITIES.map((severity) => ({ severity, count: found.reduce((sum, counts) => sum + counts[severity], 0) })).filter(
    ({ count }) => count > 0,
  );

function accountFigures({ accounts }: Status): Figure[] {
  const { without_gateway_key = [], over_quota = [] } = known(accounts) ?? {};
  const figure = (name: string, found: NonNullable<Figure['accounts']>) =>
    found.length > 0 ? [{ name, ...badUnlessZero(found.length), accounts: found }] : [];
  return [
    ...figure(
      'Without a gateway key',
      without_gateway_key.map((id) => ({ id, text: `account ${id}` })),
    ),
    ...figure(
      'Over a RUM quota',
      over_quota.map(({ account_id: id, quota }) => ({ id, text: `account ${id} (${quota})` })),
    ),
  ];
}

const ALARMS: Listing<Alarm> = {
  title: 'Raised alarms',
  columns: [
    { title: 'alarm', of: 'name' },
    { title: 'since', of: 'since_ms', as: 'time' },
    { title: 'what it means', of: 'what' },
  ],
  none: '',
};

const ACCOUNT: Column<{ readonly account_id: Int64 }> = {
  title: 'account',
  of: ({ account_id: account }) => ({ text: String(account), path: ['account'], account }),
};

const EXPIRING_KEYS: Listing<ExpiringKey> = {
  title: `Keys that expire within ${EXPIRY_WARNING_DAYS} days`,
  columns: [
    { title: 'expires', of: 'expires_ms', as: 'time' },
    ACCOUNT,
    { title: 'key', of: 'app_key_id' },
    { title: 'note', of: 'note' },
    {
      title: 'how to replace it',
      of: ({ app_key_id, account_id }) => ({ command: `app-key rotate ${app_key_id} --account ${account_id}` }),
    },
  ],
  none: '',
};

const REFUSED_KEYS: Listing<RefusedKey> = {
  title: `Keys refused in the last ${WINDOW_MINUTES} minutes`,
  columns: [
    { title: 'last refused', of: 'last_ms', as: 'time' },
    ACCOUNT,
    { title: 'key', of: 'app_key_id' },
    { title: 'why', of: ({ reason }) => (reason === 'suspended' ? 'account suspended' : reason) },
  ],
  none: '',
};

export const CALLS = {
  title: `Calls with a valid app key in the last ${WINDOW_MINUTES} minutes`,
  columns: [
    { title: 'operation', of: 'operation' },
    { title: 'calls', of: 'calls', as: 'count' },
    { title: 'failed (5xx)', of: 'failed', as: 'count' },
    { title: 'p99, ms', of: 'p99_ms', as: 'count' },
  ],
  none: 'Unknown: the figures are known only with npm start or --stack.',
} as const satisfies Listing<OperationFigures>;

/** The tables of what needs attention, those without rows left out. */
export function tablesOf({ measured, pending, accounts, open_alerts }: Status): Table[] {
  const figures = known(measured);
  const merges = (known(pending) ?? []).map((merge) => withAttempt(merge, figures));
  return [
    tableOf(ALARMS, figures?.alarms ?? []),
    tableOf(PENDING_MERGES, merges),
    tableOf(OPEN_ALERTS, (known(open_alerts) ?? []).slice(0, ACCOUNTS_LISTED)),
    tableOf(REFUSED_KEYS, figures?.refused_keys ?? []),
    tableOf(EXPIRING_KEYS, known(accounts)?.expiring_keys ?? []),
  ].filter(({ rows }) => rows.length > 0);
}

export const callsTable = ({ measured }: Status): Table => tableOf(CALLS, known(measured)?.operations ?? []);
