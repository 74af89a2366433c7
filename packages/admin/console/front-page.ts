/** The front page: the status of the service, what needs an operator, and the accounts. */
import type { Int64 } from '../../../lib/shared/json.ts';
import { readAccounts } from '../accounts/accounts.ts';
import { type FeedCounts, readFeedStatus } from '../feed/feed-status.ts';
import { type MergeProgress, progressText } from '../incidents/pending-merges.ts';
import { type Alarm, type Measured, type OperationFigures, WINDOW_MINUTES } from '../status/measured.ts';
import {
  EXPIRY_WARNING_DAYS,
  type ExpiringKey,
  known,
  type Part,
  part,
  readStatus,
  type Status,
  withAttempt,
} from '../status/status.ts';
import { badge, type Html, href, html, link, moreLink, section, tableOf, type Value, when } from './html.ts';
import { command, type View } from './view.ts';

type FrontView = Omit<View, 'account'>;

const ACCOUNTS_LISTED = 50;

export async function frontPage(view: FrontView): Promise<Html> {
  const { table, query } = view;
  // Only the first page of accounts shows the status, too.
  const [status, operations] = query.after === undefined ? await statusOf(view) : [undefined, []];
  const { accounts, next } = await readAccounts(table, { limit: ACCOUNTS_LISTED, after: query.after });
  const rows = accounts.map(({ account_id: id, name, permissions, suspended }) => [
    link(href([id, 'fleet']), name),
    String(id),
    permissions.join(' ') || 'none',
    suspended && badge('suspended'),
  ]);
  const none = 'The table has no accounts.';
  const list = tableOf({ head: ['name', 'account', 'permissions', 'state'], rows, none });
  return html`${status}
<div class="columns">
${section('Accounts', html`${list}${moreLink(next && href([], { after: next }), 'Further accounts')}`)}
${operations.length > 0 && section(`Calls of the last ${WINDOW_MINUTES} minutes`, callRows(operations))}
</div>`;
}

async function statusOf(view: FrontView): Promise<[Html, readonly OperationFigures[]]> {
  const { table, nowMs, measure, deadLetters, url, feed } = view;
  const [status, feedStatus] = await Promise.all([
    readStatus({
      table,
      url,
      deadLetters,
      now: () => nowMs,
      measure: async () => (await measure()) ?? NO_FIGURES,
    }),
    feed && part(() => readFeedStatus(feed)),
  ]);
  const { alarms = [], operations = [] } = known(status.measured) ?? {};
  const { expiringKeys = [] } = known(status.accounts) ?? {};
  const pending = known(status.pending) ?? [];
  const tiles = [...serviceTiles(status), feedTile(feedStatus), ...accountTiles(status)];
  const shown = html`
<ul class="tiles">${tiles.sort((a, b) => Number(b.isBad) - Number(a.isBad)).map(tileOf)}</ul>
${alarms.length > 0 && section('Raised alarms', alarmRows(view, alarms))}
${pending.length > 0 && section('Pending merges', pendingRows(view, status, pending))}
${expiringKeys.length > 0 && section(`Keys that expire within ${EXPIRY_WARNING_DAYS} days`, keyRows(view, expiringKeys))}`;
  return [shown, operations];
}

/** Figures for a service that has none. */
const NO_FIGURES: Measured = { operations: [], attempts: [] };

interface Tile {
  readonly name: string;
  readonly value: Value;
  readonly note?: Value;
  /** Whether it needs attention, and so comes first. */
  readonly isBad: boolean;
}

const tileOf = ({ name, value, note, isBad }: Tile) =>
  html`<li${isBad && html` class="bad"`}><span>${name}</span> <strong>${value}</strong> <small>${note}</small></li>`;

/** A tile for a part of the status, or why that part is missing. */
function tile<Content>(
  name: string,
  statusPart: Part<Content> | undefined,
  show: (content: Content) => Omit<Tile, 'name'> | undefined,
): Tile {
  if (statusPart && 'error' in statusPart)
    return { name, value: 'cannot be read', note: errorText(statusPart.error), isBad: true };
  const shown = statusPart && show(statusPart.value);
  return {
    name,
    ...(shown ?? { value: 'unknown', note: 'The console knows it only with npm start or --stack.', isBad: false }),
  };
}

const errorText = ({ name, message }: Error) => (name === 'Error' ? message : `${name}: ${message}`);

function serviceTiles({ service, table_ms, measured, dead_letters, pending }: Status): Tile[] {
  const { dynamodb, alarms } = known(measured) ?? {};
  const failed = known(measured)?.operations.reduce((sum, operation) => sum + operation.failed, 0) ?? 0;
  const averages = Object.entries(dynamodb?.latency_ms ?? {}).map(([name, average]) => `${name} ${average} ms`);
  return [
    service && 'error' in service
      ? { name: 'Service', value: 'down', note: service.error.message, isBad: true }
      : tile('Service', service, (ms) => ({ value: 'answers', note: `in ${ms} ms`, isBad: false })),
    tile('Failed calls', measured, ({ operations }) =>
      operations.length === 0
        ? undefined
        : { ...badUnlessZero(failed), note: `5xx, of the last ${WINDOW_MINUTES} minutes` },
    ),
    tile('Table', table_ms, (ms) => ({ value: `${ms} ms`, note: 'a read, from here', isBad: false })),
    ...(dynamodb ? [{ name: 'Throttled', ...badUnlessZero(dynamodb.throttled), note: averages.join(', ') }] : []),
    ...(alarms ? [{ name: 'Raised alarms', ...badUnlessZero(alarms.length) }] : []),
    tile('Pending merges', pending, ({ length }) => badUnlessZero(length)),
    tile('Dead letters', dead_letters, (count) =>
      count === undefined
        ? undefined
        : { ...badUnlessZero(count), note: count > 0 && 'of the merge queue: see DeadLetters in docs/operate.md' },
    ),
  ];
}

/** The value of a tile for a count that should be zero. */
const badUnlessZero = (count: number) => ({ value: count.toLocaleString('en'), isBad: count > 0 });

const feedTile = (feed: Part<FeedCounts> | undefined): Tile =>
  tile('Feed', feed, ({ feed: waiting, refused }) => {
    const isBad = refused.waiting > 0;
    const value = link('feed', `${waiting.waiting.toLocaleString('en')} waiting`);
    return { value, note: isBad ? `messages, ${refused.waiting} refused` : 'messages', isBad };
  });

function accountTiles({ accounts }: Status): Tile[] {
  if ('error' in accounts) return [tile('Accounts', accounts, () => undefined)];
  const { withoutGatewayKey, overQuota } = accounts.value;
  const accountLink = (id: Int64, text: string) => html`${link(href([id, 'account']), text)} `;
  const tiles = [
    { name: 'Without a gateway key', links: withoutGatewayKey.map((id) => accountLink(id, `account ${id}`)) },
    {
      name: 'Over a RUM quota',
      links: overQuota.map(({ account_id: id, quota }) => accountLink(id, `account ${id} (${quota})`)),
    },
  ];
  return tiles.flatMap(({ name, links }) =>
    links.length > 0 ? { name, ...badUnlessZero(links.length), note: links } : [],
  );
}

const alarmRows = ({ nowMs }: FrontView, alarms: readonly Alarm[]) =>
  tableOf({
    head: ['alarm', 'since', 'what it means'],
    rows: alarms.map(({ name, since_ms, what }) => [name, when(since_ms, nowMs), what]),
  });

const callRows = (operations: readonly OperationFigures[]) =>
  tableOf({
    head: ['operation', 'calls', 'failed (5xx)', 'p99, ms'],
    rows: operations.map(({ operation, calls, failed, p99_ms }) => [operation, calls, failed, p99_ms]),
  });

const keyRows = (view: FrontView, keys: readonly ExpiringKey[]) =>
  tableOf({
    head: ['expires', 'account', 'key', 'note', 'how to replace it'],
    rows: keys.map(({ account_id, app_key_id, expires_ms, note }) => [
      when(expires_ms, view.nowMs),
      link(href([account_id, 'account']), account_id),
      app_key_id,
      note,
      command(view, `app-key rotate ${app_key_id} --account ${account_id}`),
    ]),
  });

function pendingRows(view: FrontView, { measured }: Status, pending: readonly MergeProgress[]): Html {
  const rows = pending.map((merge) => {
    const { account_id, incident_id, sequence, at_ms = sequence, last } = withAttempt(merge, known(measured));
    const next = last?.next_ms !== undefined && html`; next ${when(last.next_ms, view.nowMs)}`;
    return [
      when(at_ms, view.nowMs),
      link(href([account_id, 'health']), account_id),
      link(href([account_id, 'incident', incident_id]), incident_id),
      progressText(merge),
      last ? html`${when(last.at_ms, view.nowMs)}: ${last.error}${next}` : 'none failed lately',
      command(view, `merge finish ${incident_id} ${sequence} --account ${account_id}`),
    ];
  });
  return tableOf({ head: ['since', 'account', 'incident', 'progress', 'last attempt', 'how to finish it'], rows });
}
