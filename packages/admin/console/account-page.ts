/** The page of an account: permissions, app keys, last records, members, rate limits, quotas and the audit trail. */
import { randomUUID } from 'node:crypto';
import { createRateLimiter } from '../../../lib/http/rate-limit.ts';
import { operations } from '../../../lib/operations/index.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { keys, partitions } from '../../../lib/table/keys.ts';
import { batchGet, queryPage } from '../../../lib/table/read.ts';
import type { AuditEntry } from '../../../lib/table/rows.ts';
import { appKeyState, type ListedAppKey, listAppKeys, readLastRecords } from '../accounts/accounts.ts';
import {
  badge,
  bar,
  duration,
  facts,
  type Html,
  href,
  html,
  moreLink,
  section,
  type TableContent,
  tableOf,
  when,
} from './html.ts';
import type { View } from './view.ts';

const AUDIT_ROWS = 50;
const MEMBERS = 50;

export async function accountPage(view: View): Promise<Html> {
  const { table, account, query } = view;
  const id = account.account_id;
  const [appKeys, lastRecords, members, rum, audit, windows] = await Promise.all([
    listAppKeys(table, account),
    readLastRecords(table, id),
    queryPage(table, partitions.member(id), { limit: MEMBERS, after: query.members }),
    batchGet(table, [keys.rumResource(id), keys.rumUsage(id)]),
    queryPage(table, partitions.audit(id), { limit: AUDIT_ROWS, after: query.audit, descending: true }),
    rateWindows(view),
  ]);
  return html`
<section>
${facts([
  ['permissions', account.permissions.join(' ') || 'none'],
  ['state', account.suspended ? html`${badge('suspended')} all calls are refused` : badge('active')],
  ['gateway key', account.gateway_key === undefined ? 'none' : 'attached'],
])}
</section>
${section('Keys', tableOf(keyTable(view, appKeys)))}
<div class="columns">
${section('Last records', tableOf(lastRecordTable(view, lastRecords)))}
${section('Members', tableOf(memberTable(members.rows)))}
</div>
${moreLink(members.next && href([id, 'account'], { members: members.next }), 'More members')}
<div class="columns">
${section('RUM quotas', tableOf(quotas(rum.rows.of(keys.rumResource(id)), rum.rows.of(keys.rumUsage(id)))))}
${section('Rate windows', tableOf(windows))}
</div>
${section('Audit trail', tableOf(auditTable(view, audit.rows)))}
${moreLink(audit.next && href([id, 'account'], { audit: audit.next }), 'Earlier commands')}`;
}

const keyTable = ({ nowMs }: View, appKeys: ListedAppKey[]): TableContent => ({
  head: ['key', 'ends with', 'state', 'note', 'created', 'expires', 'last used'],
  rows: appKeys
    .toSorted((a, b) => b.created_at - a.created_at)
    .map((key) => {
      const at = (seconds?: number) => seconds && when(seconds * 1000, nowMs);
      const state = badge(appKeyState(key, nowMs));
      const times = [at(key.created_at), at(key.expires_at) ?? 'never', at(key.last_used_at)];
      return [key.app_key_id, `…${key.last_digits}`, state, key.note, ...times];
    }),
  none: 'The account has no keys.',
});

const lastRecordTable = ({ nowMs }: View, records: Awaited<ReturnType<typeof readLastRecords>>): TableContent => ({
  head: ['kind', 'last record'],
  rows: records.map(({ kind, sent_at_ms }) => [kind, when(sent_at_ms, nowMs)]),
  none: 'The account has sent no records to the feed.',
});

const memberTable = (members: readonly { member_id: Int64; name: string }[]): TableContent => ({
  head: ['member', 'name'],
  rows: members.map(({ member_id, name }) => [String(member_id), name]),
  none: 'The account has no members.',
});

const auditTable = ({ nowMs }: View, entries: AuditEntry[]): TableContent => ({
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

async function rateWindows({ table, account, nowMs }: View): Promise<TableContent> {
  const rows = [];
  for (const operation of operations) {
    if (!('rateWindows' in operation)) continue;
    const limiter = createRateLimiter(operation, { table, now: () => nowMs, newId: randomUUID });
    for (const { window, remaining, endsMs } of await limiter.peek(account.account_id)) {
      const usedText = usage(window.limit - remaining, window.limit);
      rows.push([operation.name, html`${usedText} calls a ${window.name} that ends in ${duration(endsMs - nowMs)}`]);
    }
  }
  return { head: ['operation', 'used'], rows, none: 'No operation has an exact limit.' };
}

const usage = (used: number, limit: number) =>
  html`${bar(Math.min(used, limit), limit)} ${used.toLocaleString('en')} of ${limit.toLocaleString('en')}`;

type Row = Readonly<Record<string, unknown>>;

const quotas = (resource: Row | undefined, used: Row = {}): TableContent => ({
  head: ['quota', 'used'],
  rows: resource
    ? [
        ...['session_investigate', 'session_measure', 'session_replay'].map((name) => [
          name,
          usage(Number(used[`${name}.used_cnt`] ?? 0), Number(resource[`${name}.free_cnt`] ?? 0)),
        ]),
        ...(used.session_limit_reached === true ? [['limit of sessions', badge('reached')]] : []),
      ]
    : [],
  none: 'The account has no RUM resource.',
});
