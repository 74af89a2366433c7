/** An account: what it may do, its keys, limits and quotas, its work items, and what operators did to it. */
import { randomUUID } from 'node:crypto';
import { batchGet } from '../../../lib/dynamodb/batch-get.ts';
import { collections, keys } from '../../../lib/dynamodb/keys.ts';
import { queryPage } from '../../../lib/dynamodb/query.ts';
import type { AuditEntry, WorkItemRow } from '../../../lib/dynamodb/rows.ts';
import { operations } from '../../../lib/http/operations.ts';
import { createRateLimiter } from '../../../lib/http/rate-limit.ts';
import { appKeyState, type ListedAppKey, listAppKeys, readAccounts } from '../accounts/accounts.ts';
import { timeText } from '../text/time-text.ts';
import { searchBox } from './find-page.ts';
import { bar, facts, further, type Html, href, html, link, section, type Table, when } from './html.ts';
import { statusSection } from './status-section.ts';
import { command, type View } from './view.ts';

const ROWS = 50;

export async function accountsPage(view: Omit<View, 'account'>): Promise<Html> {
  const { table, query } = view;
  const { accounts, next } = await readAccounts(table, { limit: ROWS, after: query.after });
  const rows = accounts.map(({ account_id: id, name, permissions, suspended }) => [
    link(href([id, 'fleet']), id),
    name,
    permissions.join(' ') || 'none',
    suspended ? 'suspended' : 'active',
  ]);
  // Of the first page only: the following ones are a list.
  const status = query.after === undefined && (await statusSection(view));
  return html`${searchBox()}${status}
${section('All accounts', { head: ['account', 'name', 'permissions', 'state'], rows, none: 'The table has no accounts.' })}
${further(next && href([], { after: next }), 'Further accounts')}`;
}

export async function accountPage(view: View): Promise<Html> {
  const { table, account, query } = view;
  const id = account.account_id;
  const [appKeys, rum, items, audit, limits] = await Promise.all([
    listAppKeys(table, account),
    batchGet(table, [keys.rumResource(id), keys.rumUsage(id)]),
    queryPage(table, collections.workItems(id), { limit: ROWS, after: query.items }),
    queryPage(table, collections.audit(id), { limit: ROWS, after: query.audit, descending: true }),
    windows(view),
  ]);
  return html`
${facts([
  ['permissions', account.permissions.join(' ') || 'none'],
  ['state', account.suspended ? 'suspended: all calls are refused' : 'active'],
  ['gateway key', account.gateway_key === undefined ? 'none' : 'attached'],
])}
${section('Keys', keyTable(view, appKeys))}
${section('Rate windows now', limits)}
${section('RUM quotas', quotas(rum.rows.of(keys.rumResource(id)), rum.rows.of(keys.rumUsage(id))))}
${section('Work items', itemTable(view, items.rows))}
${further(items.next && href([id, 'account'], { ...query, items: items.next }), 'Further work items')}
${section('Audit trail', auditTable(view, audit.rows))}
${further(audit.next && href([id, 'account'], { ...query, audit: audit.next }), 'Earlier commands')}`;
}

const keyTable = ({ nowMs }: View, appKeys: ListedAppKey[]): Table => ({
  head: ['id', 'ends with', 'state', 'created', 'expires', 'last used', 'note'],
  rows: appKeys
    .toSorted((one, other) => other.created_at - one.created_at)
    .map((key) => {
      const [created, expires] = [key.created_at, key.expires_at].map((seconds) => seconds && timeText(seconds * 1000));
      const used = key.last_used_at === undefined ? '' : when(key.last_used_at * 1000, nowMs);
      const state = appKeyState(key, nowMs);
      return [key.app_key_id, `…${key.last_digits}`, state, created, expires ?? 'never', used, key.note];
    }),
  none: 'The account has no keys.',
});

const itemTable = (view: View, items: WorkItemRow[]): Table => ({
  head: ['id', 'title', 'version', 'state', 'how to restore it'],
  rows: items.map(({ work_item_id: id, title, version, deleted_at_ms, deleted_by }) => {
    if (deleted_at_ms === undefined) return [id, title, version, 'active', 'not deleted'];
    const deletion = html`deleted ${when(deleted_at_ms, view.nowMs)} by key ${deleted_by}`;
    const restore = `work-item restore --account ${view.account.account_id}`;
    return [id, title, version, deletion, command(view, restore, id)];
  }),
  none: 'There are none.',
});

const auditTable = ({ nowMs }: View, entries: AuditEntry[]): Table => ({
  head: ['when', 'by', 'command', 'target', 'result'],
  rows: entries.map(({ at_ms, by, command: name, target, result, detail }) => [
    when(at_ms, nowMs),
    by,
    name,
    target,
    detail ? `${result}: ${detail}` : result,
  ]),
  none: 'No operator has changed this account.',
});

async function windows({ table, account, nowMs }: View): Promise<Table> {
  const rows = [];
  for (const operation of operations) {
    if (!('rateWindows' in operation)) continue;
    const limiter = createRateLimiter(operation, { table, now: () => nowMs, newId: randomUUID });
    for (const { window, remaining, endsMs } of await limiter.peek(account.account_id)) {
      const used = usage(window.limit - remaining, window.limit);
      rows.push([operation.name, `${window.limit} calls a ${window.name}`, used, when(endsMs, nowMs)]);
    }
  }
  return { head: ['operation', 'window', 'used', 'ends'], rows, none: 'No operation has an exact limit.' };
}

const usage = (used: number, of: number) =>
  html`${bar(Math.min(used, of), of)} ${used.toLocaleString('en')} of ${of.toLocaleString('en')}`;

type Row = Readonly<Record<string, unknown>>;

const quotas = (resource: Row | undefined, used: Row = {}): Table => ({
  head: ['quota', 'used'],
  rows: resource
    ? [
        ...['session_investigate', 'session_measure', 'session_replay'].map((name) => [
          name,
          usage(Number(used[`${name}.used_cnt`] ?? 0), Number(resource[`${name}.free_cnt`] ?? 0)),
        ]),
        ['limit of sessions', used.session_limit_reached === true ? 'reached' : 'not reached'],
        ['state', resource.deleted ? 'deleted' : `${resource.version}, ${resource.status}`],
      ]
    : [],
  none: 'The account has no RUM resource.',
});
