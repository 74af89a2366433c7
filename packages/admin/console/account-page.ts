/** The page of an account: permissions, app keys, last records, members, rate limits, quotas and the audit trail. */
import { randomUUID } from 'node:crypto';
import { createRateLimiter } from '../../../lib/http/rate-limit.ts';
import { operations } from '../../../lib/operations/index.ts';
import { keys, partitions } from '../../../lib/table/keys.ts';
import { batchGet, queryPage } from '../../../lib/table/read.ts';
import { listAppKeys, readLastRecords } from '../accounts/accounts.ts';
import { QUOTA_NAMES } from '../status/status.ts';
import { ACCOUNTS, AUDIT, KEYS, LAST_RECORDS, MEMBERS, shownAccount, shownKeys } from '../tables/accounts.ts';
import { fieldsOf, type Listing } from '../text/table.ts';
import { badge, bar, duration, type Html, href, html, moreLink } from './html.ts';
import { facts, listing } from './table.ts';
import type { View } from './view.ts';

const AUDIT_ROWS = 50;
const MEMBERS_LISTED = 50;
/** With its whole name, of which headings and the list of accounts show the beginning. */
const COLUMNS = ACCOUNTS.columns.map((column) =>
  column.title === 'name' ? { ...column, of: 'name' as const } : column,
);

export async function accountPage(view: View): Promise<Html> {
  const { table, account, query } = view;
  const id = account.account_id;
  const [appKeys, lastRecords, members, rum, audit, windows] = await Promise.all([
    listAppKeys(table, account),
    readLastRecords(table, id),
    queryPage(table, partitions.member(id), { limit: MEMBERS_LISTED, after: query.members }),
    batchGet(table, [keys.rumResource(id), keys.rumUsage(id)]),
    queryPage(table, partitions.audit(id), { limit: AUDIT_ROWS, after: query.audit, descending: true }),
    rateWindows(view),
  ]);
  return html`
<section>
${facts(view, fieldsOf(COLUMNS, shownAccount(account)))}
</section>
${listing(view, KEYS, shownKeys(appKeys, view.nowMs).reverse())}
<div class="columns">
${listing(view, LAST_RECORDS, lastRecords)}
${listing(view, MEMBERS, members.rows)}
</div>
${moreLink(members.next && href([id, 'account'], { members: members.next }), 'More members')}
<div class="columns">
${listing(view, QUOTAS, quotas(rum.rows.of(keys.rumResource(id)), rum.rows.of(keys.rumUsage(id))))}
${listing(view, RATE_WINDOWS, windows)}
</div>
${listing(view, { ...AUDIT, none: 'No operator has changed the account in the last 400 days.' }, audit.rows)}
${moreLink(audit.next && href([id, 'account'], { audit: audit.next }), 'Earlier commands')}`;
}

/** What is used of a limit. */
interface Used {
  name: string;
  used: Html;
}

const usedOf = (title: string, head: string, none: string): Listing<Used, Html> => ({
  title,
  columns: [
    { title: head, of: 'name' },
    { title: 'used', of: ({ used }) => used },
  ],
  none,
});
const RATE_WINDOWS = usedOf('Rate windows', 'operation', 'No operation has an exact limit.');
const QUOTAS = usedOf('RUM quotas', 'quota', 'The account has no RUM resource.');

async function rateWindows({ table, account, nowMs }: View): Promise<Used[]> {
  const rows: Used[] = [];
  for (const operation of operations) {
    if (!('rateWindows' in operation)) continue;
    const limiter = createRateLimiter(operation, { table, now: () => nowMs, newId: randomUUID });
    for (const { window, remaining, endsMs } of await limiter.peek(account.account_id)) {
      const usedText = usage(window.limit - remaining, window.limit);
      const used = html`${usedText} calls a ${window.name} <small>ends in ${duration(endsMs - nowMs)}</small>`;
      rows.push({ name: operation.name, used });
    }
  }
  return rows;
}

const usage = (used: number, limit: number) =>
  html`${bar(Math.min(used, limit), limit)} ${used.toLocaleString('en')} of ${limit.toLocaleString('en')}`;

type Row = Readonly<Record<string, unknown>>;

function quotas(resource: Row | undefined, used: Row = {}): Used[] {
  if (!resource) return [];
  const rows = QUOTA_NAMES.map((name) => ({
    name,
    used: usage(Number(used[`${name}.used_cnt`] ?? 0), Number(resource[`${name}.free_cnt`] ?? 0)),
  }));
  return used.session_limit_reached === true ? [...rows, { name: 'limit of sessions', used: badge('reached') }] : rows;
}
