/** `admin account show`. */
import ms from 'ms';
import type { AccountRow } from '../../../lib/model/account.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { partitions } from '../../../lib/table/keys.ts';
import { queryRows } from '../../../lib/table/read.ts';
import { listAppKeys, readLastRecords } from '../accounts/accounts.ts';
import { timeText } from '../text/printable.ts';
import { KEY_COLUMNS, shownKeys } from './app-keys-command.ts';
import { type ReadResult, requireAccount, type Session } from './command.ts';
import { stateText } from './erase-command.ts';
import { plainTable, recordsTable } from './output.ts';

export function shownAccount(row: AccountRow) {
  return {
    account_id: row.account_id,
    name: row.name,
    permissions: row.permissions.join(' '),
    state: row.suspended ? 'suspended' : 'active',
    gateway_key: row.gateway_key === undefined ? 'none' : 'attached',
    app_keys: row.app_keys?.size ?? 0,
  };
}

/** Members that the text shows; the JSON has all. */
const MAX_MEMBERS = 50;

/** A table with its title, or what is said if it has no rows. */
const part = <Name extends string>(
  title: string,
  ifEmpty: string,
  rows: readonly Readonly<Record<Name, unknown>>[],
  columns: readonly Name[],
  width: number | undefined,
): string[] => ['', ...(rows.length === 0 ? [ifEmpty] : [title, recordsTable(rows, columns, width)])];

export async function showAccount({ io, table }: Session, id: Int64): Promise<ReadResult> {
  const row = await requireAccount(table, id, true);
  const { erased_at_ms, erasure_ended_at_ms } = row;
  if (erased_at_ms !== undefined) {
    const state = erasure_ended_at_ms === undefined ? 'being erased' : 'erased';
    return { json: { account_id: id, state, erased_at_ms, erasure_ended_at_ms }, text: () => stateText(row) };
  }
  const [listedKeys, members, lastRecords] = await Promise.all([
    listAppKeys(table, row),
    queryRows(table, partitions.member(id), { attributes: ['member_id', 'name'] }),
    readLastRecords(table, id),
  ]);
  const keys = shownKeys(listedKeys, io.now());
  const shown = shownAccount(row);
  const ages = lastRecords.map(({ kind, sent_at_ms }) => {
    return { kind, last_record: timeText(sent_at_ms), ago: ms(Math.max(0, io.now() - sent_at_ms), { long: true }) };
  });
  const more = members.length > MAX_MEMBERS ? [`and ${members.length - MAX_MEMBERS} more: --json shows all`] : [];
  return {
    json: { ...shown, keys, members, last_records: lastRecords },
    text: (width) =>
      [
        plainTable(Object.entries(shown).map(([field, value]) => [field, String(value)])),
        ...part('Keys', 'It has no keys.', keys, KEY_COLUMNS, width),
        ...part('Members', 'It has no members.', members.slice(0, MAX_MEMBERS), ['member_id', 'name'], width),
        ...more,
        ...part('Last records', 'It has sent no records to the feed.', ages, ['kind', 'last_record', 'ago'], width),
      ].join('\n'),
  };
}
