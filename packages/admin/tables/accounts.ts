/** How operators see accounts, their app keys and members, and what was done to them. */
import type { AccountRow } from '../../../lib/model/account.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { AuditEntry } from '../../../lib/table/rows.ts';
import { appKeyState, type ListedAppKey } from '../accounts/accounts.ts';
import type { Listing } from '../text/table.ts';

export const shownAccount = (row: AccountRow) => ({
  account_id: row.account_id,
  name: row.name,
  permissions: row.permissions.join(' '),
  state: row.suspended ? 'suspended' : 'active',
  gateway_key: row.gateway_key === undefined ? 'none' : 'attached',
  app_keys: row.app_keys?.size ?? 0,
});

export const ACCOUNTS: Listing<ReturnType<typeof shownAccount>> = {
  columns: [
    { title: 'account', of: 'account_id' },
    { title: 'name', of: ({ account_id: account, name }) => ({ text: name, path: ['fleet'], account }) },
    { title: 'permissions', of: ({ permissions }) => permissions || 'none' },
    { title: 'state', of: 'state', as: 'state' },
    { title: 'gateway key', of: 'gateway_key' },
    { title: 'app keys', of: 'app_keys', as: 'count' },
  ],
  none: 'The table has no accounts: admin account create makes one.',
};

/** Keys without what only the service uses, oldest first. */
export const shownKeys = (rows: readonly ListedAppKey[], nowMs: number) =>
  rows
    .map((row) => {
      const { hash: _hash, lifetime: _lifetime, revoked_at: _revoked, ...key } = row;
      return { ...key, state: appKeyState(row, nowMs) };
    })
    .sort((a, b) => a.created_at - b.created_at);

export const KEYS: Listing<ReturnType<typeof shownKeys>[number]> = {
  title: 'Keys',
  columns: [
    { title: 'key', of: 'app_key_id' },
    { title: 'ends with', of: ({ last_digits }) => `…${last_digits}` },
    { title: 'state', of: 'state', as: 'state' },
    { title: 'note', of: 'note' },
    { title: 'created', of: 'created_at', as: 'seconds' },
    { title: 'expires', of: ({ expires_at: at }) => (at === undefined ? 'never' : { atMs: at * 1_000 }) },
    { title: 'last used', of: 'last_used_at', as: 'seconds' },
  ],
  none: 'The account has no app keys: admin app-key issue makes one.',
};

export const MEMBERS: Listing<{ member_id: Int64; name: string }> = {
  title: 'Members',
  columns: [
    { title: 'member', of: 'member_id' },
    { title: 'name', of: 'name' },
  ],
  none: 'The account has no members. The feed takes them: docs/feed.md.',
};

export const LAST_RECORDS: Listing<{ kind: string; sent_at_ms: number }> = {
  title: 'Last records',
  columns: [
    { title: 'kind', of: 'kind' },
    { title: 'last record', of: 'sent_at_ms', as: 'time' },
  ],
  none: 'The account has sent no records to the feed: docs/feed.md says how.',
};

export const AUDIT: Listing<AuditEntry> = {
  title: 'Audit trail',
  columns: [
    // Somebody may have replaced a row.
    { title: 'time', of: ({ at_ms }) => ({ atMs: at_ms }) },
    { title: 'by', of: 'by' },
    { title: 'command', of: ({ command = 'not an entry' }: Partial<AuditEntry>) => command },
    { title: 'target', of: 'target' },
    { title: 'result', of: 'result' },
    { title: 'detail', of: 'detail' },
  ],
  none: 'No operator has changed the account in that time.',
};
