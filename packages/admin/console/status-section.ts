/** The service at a glance, above the list of accounts. */
import type { Int64 } from '../../../lib/shared/json.ts';
import { progressText } from '../incidents/pending-merges.ts';
import { WINDOW_MINUTES } from '../status/measured.ts';
import { EXPIRY_WARNING_DAYS, known, type Part, readStatus, type Status, withAttempt } from '../status/status.ts';
import { countText } from '../text/count-text.ts';
import { facts, type Html, href, html, link, section, when } from './html.ts';
import { command, type View } from './view.ts';

type FrontView = Omit<View, 'account'>;

export async function statusSection(view: FrontView): Promise<Html> {
  const { table, nowMs, measure, deadLetters } = view;
  const url = view.url();
  const status = await readStatus({
    ...{ table, url, deadLetters, now: () => nowMs },
    measure: async () => (await measure()) ?? NOTHING,
  });
  const figures = known(status.measured);
  const accountLink = (id: Int64) => link(href([id, 'account']), id);
  const found = known(status.accounts);
  return html`
${facts(
  [
    ['service', said(status.service, (ms) => `answers in ${ms} ms at ${url}`)],
    ['table', said(status.table_ms, (ms) => `a read takes ${ms} ms from here`)],
    figures?.dynamodb && ['DynamoDB', dynamoDbText(figures.dynamodb)],
    [
      'alarms',
      said(status.measured, ({ alarms }) =>
        alarms ? countText(alarms.length, 'raised alarm') : 'only a stack has alarms',
      ),
    ],
    ['dead letters', deadLettersText(status.dead_letters)],
    found && [
      'accounts without a gateway key',
      found.withoutGatewayKey.length === 0 ? 'none' : found.withoutGatewayKey.map((id) => html`${accountLink(id)} `),
    ],
    found && [
      'accounts over a RUM quota',
      found.overQuota.length === 0
        ? 'none'
        : found.overQuota.map(({ account_id, quota }) => html`${accountLink(account_id)} (${quota}) `),
    ],
    ...('error' in status.accounts ? [['accounts', said(status.accounts, () => '')]] : []),
  ].filter((row) => row !== undefined),
)}
${
  figures?.alarms &&
  figures.alarms.length > 0 &&
  section('Raised alarms', {
    head: ['alarm', 'since', 'what it means'],
    rows: figures.alarms.map(({ name, since_ms, what }) => [name, when(since_ms, nowMs), what]),
    none: '',
  })
}
${
  figures &&
  figures !== NOTHING &&
  section(`Calls of the last ${WINDOW_MINUTES} minutes`, {
    head: ['operation', 'calls', 'failed (5xx)', 'p99'],
    rows: figures.operations.map(({ operation, calls, failed, p99_ms }) => [
      operation,
      calls.toLocaleString('en'),
      failed.toLocaleString('en'),
      p99_ms === undefined ? 'no calls' : `${p99_ms} ms`,
    ]),
    none: '',
  })
}
${section('Pending merges', pendingTable(view, status))}
${section(`Keys that expire within ${EXPIRY_WARNING_DAYS} days`, {
  head: ['expires', 'account', 'key', 'note', 'how to replace it'],
  rows: (found?.expiringKeys ?? []).map(({ account_id, app_key_id, expires_ms, note }) => [
    when(expires_ms, nowMs),
    accountLink(account_id),
    app_key_id,
    note,
    command(view, `app-key rotate ${app_key_id} --account ${account_id}`),
  ]),
  none: found ? 'None.' : 'The accounts cannot be read.',
})}`;
}

/** In place of figures, where there are none. */
const NOTHING = { operations: [], attempts: [] };

const said = <Value>(part: Part<Value> | undefined, text: (value: Value) => string): string =>
  part === undefined
    ? 'unknown: the console knows its address only with npm start or --stack'
    : 'value' in part
      ? text(part.value)
      : part.error.name === 'Error'
        ? part.error.message
        : `${part.error.name}: ${part.error.message}`;

function deadLettersText(letters: Part<number | undefined>): string {
  return said(letters, (count) => {
    if (count === undefined) return 'unknown: the console finds the merge queue only with npm start or --stack';
    return count === 0 ? '0' : `${countText(count, 'message')} of the merge queue: see DeadLetters in docs/operate.md`;
  });
}

const dynamoDbText = ({ latency_ms, throttled }: { latency_ms: Readonly<Record<string, number>>; throttled: number }) =>
  [
    ...Object.entries(latency_ms).map(([name, average]) => `${name} ${average} ms`),
    `${throttled} reads and writes throttled`,
  ].join(', ');

function pendingTable(view: FrontView, { pending, measured }: Status) {
  const figures = known(measured);
  return {
    head: ['since', 'account', 'incident', 'progress', 'last attempt', 'how to finish it'],
    rows: (known(pending) ?? []).map((merge) => {
      const { account_id, incident_id, sequence, at_ms = sequence, last } = withAttempt(merge, figures);
      const next = last?.next_ms !== undefined && html`; next ${when(last.next_ms, view.nowMs)}`;
      return [
        when(at_ms, view.nowMs),
        link(href([account_id, 'health']), account_id),
        link(href([account_id, 'incident', incident_id]), incident_id),
        progressText(merge),
        last ? html`${when(last.at_ms, view.nowMs)}: ${last.error}${next}` : 'none failed lately',
        command(view, `merge finish ${incident_id} ${sequence} --account ${account_id}`),
      ];
    }),
    none: 'error' in pending ? `They cannot be read: ${pending.error.name}` : 'None: every merge is finished.',
  };
}
