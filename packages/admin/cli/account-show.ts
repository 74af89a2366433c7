import ms from 'ms';
import type { Int64 } from '../../../lib/shared/json.ts';
import { partitions } from '../../../lib/table/keys.ts';
import { queryRows } from '../../../lib/table/read.ts';
import { listAppKeys, readLastRecords } from '../accounts/accounts.ts';
import { ACCOUNTS, KEYS, LAST_RECORDS, MEMBERS, shownAccount, shownKeys } from '../tables/accounts.ts';
import { fieldsOf, tableOf } from '../text/table.ts';
import { type ReadResult, requireAccount, type Session } from './command.ts';
import { stateText } from './erase-command.ts';

/** Members that the text shows; the JSON has all. */
const MAX_MEMBERS = 50;

export async function showAccount({ io, table }: Session, id: Int64): Promise<ReadResult> {
  const row = await requireAccount(table, id, true);
  const { erased_at_ms, erasure_ended_at_ms } = row;
  if (erased_at_ms !== undefined) {
    const state = erasure_ended_at_ms === undefined ? 'being erased' : 'erased';
    return { json: { account_id: id, state, erased_at_ms, erasure_ended_at_ms }, show: stateText(row) };
  }
  const [listedKeys, members, last_records] = await Promise.all([
    listAppKeys(table, row),
    queryRows(table, partitions.member(id), { attributes: ['member_id', 'name'] }),
    readLastRecords(table, id),
  ]);
  const keys = shownKeys(listedKeys, io.now());
  const shown = shownAccount(row);
  const ago = (sentMs: number) => ms(Math.max(0, io.now() - sentMs), { long: true });
  const lastRecords = {
    ...LAST_RECORDS,
    columns: [...LAST_RECORDS.columns, { title: 'ago', of: ({ sent_at_ms }: LastRecord) => ago(sent_at_ms) }],
  };
  return {
    json: { ...shown, keys, members, last_records },
    show: [
      fieldsOf(ACCOUNTS.columns, shown),
      tableOf(KEYS, keys),
      tableOf(MEMBERS, members.slice(0, MAX_MEMBERS)),
      ...(members.length > MAX_MEMBERS ? [`and ${members.length - MAX_MEMBERS} more: --json shows all`] : []),
      tableOf(lastRecords, last_records),
    ],
  };
}

type LastRecord = { kind: string; sent_at_ms: number };
