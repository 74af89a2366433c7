/** What an import changes of accounts and app keys: told before it is written, and recorded when it is. */
import { appKeyIdOf } from '../../../lib/http/app-keys.ts';
import type { AccountRow } from '../../../lib/model/account.ts';
import type { AppKeyRow } from '../../../lib/model/app-key.ts';
import type { SentRecord } from '../../../lib/model/kinds.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import type { CommandEvent } from '../../../lib/table/rows.ts';
import { readAccount } from '../accounts/accounts.ts';
import { countText, line, timeText } from '../text/printable.ts';
import { appKeyOf } from './check-lines.ts';

/** What a line changes of an app key. */
export interface KeyChange {
  readonly text: string;
  /** The event that reports it, if it lets somebody in or keeps somebody out. */
  readonly event?: CommandEvent['event'] & ('AppKeyIssued' | 'AppKeyRevoked');
}

type StoredKey = Pick<AppKeyRow, 'last_digits' | 'revoked_at' | 'expires_at' | 'note'>;

/** @returns undefined if the line changes nothing: a revocation stays, and an expiry never becomes later */
export function keyChangeOf(sent: SentRecord, stored: StoredKey | undefined): KeyChange | undefined {
  const { hash, lastDigits } = appKeyOf(sent);
  const { revoked, expires_at, note } = sent;
  const isRevoked = revoked === true && stored?.revoked_at === undefined;
  const expiry = expires_at !== undefined && Number(expires_at) < (stored?.expires_at ?? Number.POSITIVE_INFINITY);
  const isNoted = note !== stored?.note;
  if (stored && !isRevoked && !expiry && !isNoted) return undefined;
  const name = `${stored ? 'key' : 'new key'} ${appKeyIdOf(hash)} ...${stored?.last_digits ?? lastDigits}`;
  const noteText = isNoted ? (note === undefined ? ', without its note' : ` (${note})`) : '';
  const expiryText = expiry ? `, expires ${timeText(Number(expires_at) * 1_000)}` : '';
  const event = isRevoked ? stored && 'AppKeyRevoked' : stored ? undefined : 'AppKeyIssued';
  return { text: `${name}${noteText}${isRevoked ? ', revoked' : ''}${expiryText}`, ...(event && { event }) };
}

export const accountOf = ({ account_id, name, permissions, suspended }: SentRecord) => ({
  account_id,
  name: String(name),
  permissions: permissions as string[], // as the check of the line requires
  suspended: suspended === true,
});

export function accountChangesOf(
  { name, permissions, suspended }: ReturnType<typeof accountOf>,
  stored: AccountRow | undefined,
): string[] {
  const [wanted, had] = [new Set(permissions), new Set(stored?.permissions)];
  const [granted, lost] = [wanted.difference(had), had.difference(wanted)];
  return [
    ...(stored ? [] : ['new account']),
    ...(stored && stored.name !== name ? [`was named ${stored.name}`] : []),
    ...(granted.size > 0 ? [`new permissions ${[...granted].join(', ')}`] : []),
    ...(lost.size > 0 ? [`loses the permissions ${[...lost].join(', ')}`] : []),
    ...(suspended && !stored?.suspended ? ['is suspended'] : []),
  ];
}

/**
 * For each account of a file, how many lines are its own, and what they change of it and its keys.
 * Of several lines of one account or key the last one decides, but for what none takes back: suspension, revocation and the earliest expiry.
 */
export async function accessChangesOf(table: Table, records: readonly SentRecord[]): Promise<string[]> {
  const byAccount = Map.groupBy(records, ({ account_id }) => account_id);
  const hashes = new Set(records.flatMap((sent) => (sent.kind === 'app_key' ? [appKeyOf(sent).hash] : [])));
  const { rows } = await batchGet(table, [...hashes].map(keys.appKey));
  const texts: string[] = [];
  for (const [id, ofAccount] of byAccount) {
    const account = lastOf(ofAccount.filter(({ kind }) => kind === 'account'));
    const accountChanges = account ? accountChangesOf(accountOf(account), await readAccount(table, id)) : [];
    const appKeys = ofAccount.filter(({ kind }) => kind === 'app_key');
    const keyChanges = [...Map.groupBy(appKeys, (sent) => appKeyOf(sent).hash)].flatMap(
      ([hash, lines]) => keyChangeOf(lastOf(lines) as SentRecord, rows.of(keys.appKey(hash)))?.text ?? [],
    );
    const what = [countText(ofAccount.length, 'line'), ...accountChanges, ...keyChanges].join('; ');
    texts.push(line`Account ${id}${account ? ` ${account.name}` : ''}: ${what}`);
  }
  return texts;
}

function lastOf(lines: readonly SentRecord[]): SentRecord | undefined {
  const last = lines.at(-1);
  const expiries = lines.flatMap(({ expires_at }) => (expires_at === undefined ? [] : [Number(expires_at)]));
  const has = (name: string) => lines.some((sent) => sent[name] === true);
  return (
    last && {
      ...last,
      ...(has('suspended') && { suspended: true }),
      ...(has('revoked') && { revoked: true }),
      ...(expiries.length > 0 && { expires_at: Math.min(...expiries) }),
    }
  );
}
