import { appKeyIdOf } from '../../../lib/http/app-keys.ts';
import type { AccountRow } from '../../../lib/model/account.ts';
import { MAX_NOTE_LENGTH } from '../../../lib/model/app-key.ts';
import type { Table } from '../../../lib/table/client.ts';
import { appKeyState, type ListedAppKey, listAppKeys } from '../accounts/accounts.ts';
import { identityOfAppKey, newAppKey, putAppKey, revokeAppKey, rotateAppKey } from '../accounts/app-key-admin.ts';
import { KEYS, shownKeys } from '../tables/accounts.ts';
import { timeText } from '../text/printable.ts';
import { tableOf } from '../text/table.ts';
import { duration, type Lifetime, lifetime, textOfLength } from './arguments.ts';
import type { AccountOptions, AdminCommand, ReadResult, Session, WriteResult, WritingSession } from './command.ts';
import { CliError, type Io, say } from './io.ts';

type IssueOptions = AccountOptions & { expires?: Lifetime; note?: string };
type RotateOptions = AccountOptions & { expires?: Lifetime; overlap: number };

const ACCOUNT_DESCRIPTION = 'account of the key';
/** A shorter beginning of an id could be that of the wrong key. */
const ID_ARGUMENT = [
  '<app-key-id>',
  'id from `app-key list`, or at least its first 8 characters',
  textOfLength(8, 64),
] as const;

export function addAppKeyCommands(program: AdminCommand): void {
  const group = program.command('app-key').explain('Manage app keys', 'app-key list --account 42');

  group
    .command('issue')
    .explain(
      'Issue a key. It is printed only once; what is stored is its hash.',
      'app-key issue --account 42 --expires 90d --note "deploy pipeline"',
    )
    .ofAccount(ACCOUNT_DESCRIPTION)
    .option('--expires <duration>', 'how long it is valid, such as 90d (default: until it is revoked)', lifetime)
    .option('--note <text>', 'what it is for', textOfLength(0, MAX_NOTE_LENGTH))
    .writes(issue);

  group
    .command('list')
    .explain('List the keys of an account, without the keys themselves', 'app-key list --account 42')
    .ofAccount(ACCOUNT_DESCRIPTION)
    .shows(list);

  group
    .command('revoke')
    .explain(
      'Revoke a key. Within 30 s, all calls with it are refused.',
      'app-key revoke 1f3a77c0d2b4e6f8 --account 42',
    )
    .argument(...ID_ARGUMENT)
    .ofAccount(ACCOUNT_DESCRIPTION)
    .writes(revoke);

  group
    .command('rotate')
    .explain(
      'Replace a key with a new one, which is printed only once. The old one stays valid for a while.',
      'app-key rotate 1f3a77c0d2b4e6f8 --account 42 --overlap 24h',
    )
    .argument(...ID_ARGUMENT)
    .ofAccount(ACCOUNT_DESCRIPTION)
    .optionWithDefault('--overlap <duration>', 'how long the old key stays valid', duration, '24h')
    .option(
      '--expires <duration>',
      'how long the new key is valid, or never (default: the lifetime of the old one)',
      lifetime,
    )
    .writes(rotate);
}

async function issue(session: WritingSession<IssueOptions>): Promise<WriteResult> {
  const { io, table, account, options, dryRun, audit } = session;
  if (dryRun)
    return { text: `A key of account ${options.account} would be issued.`, json: { account_id: account.account_id } };
  const made = makeKey(io, options);
  const { app_key_id, identity, details } = made;
  await audit.inTransaction(
    options.account,
    `key ${app_key_id}`,
    (extraActions) => putAppKey(table, account, identity, details, extraActions),
    { event: 'AppKeyIssued', event_detail: { app_key_id } },
  );
  return issuedResult(io, made);
}

async function list({ io, table, account }: Session<AccountOptions>): Promise<ReadResult> {
  const shown = shownKeys(await listAppKeys(table, account), io.now());
  return { json: shown, show: tableOf(KEYS, shown) };
}

async function revoke(session: WritingSession<AccountOptions>, id: string): Promise<WriteResult> {
  const { io, table, account, dryRun, audit } = session;
  const { account_id } = account;
  const { app_key_id, hash } = await findKey(table, account, id);
  if (dryRun) return { text: `Key ${app_key_id} would be revoked.`, json: { app_key_id } };
  await audit.inTransaction(
    account_id,
    `key ${app_key_id}`,
    (extraActions) => revokeAppKey(table, account_id, hash, secondsOf(io.now()), extraActions),
    { event: 'AppKeyRevoked', event_detail: { app_key_id } },
  );
  return { text: `Key ${app_key_id} revoked.`, json: { app_key_id } };
}

async function rotate(session: WritingSession<RotateOptions>, id: string): Promise<WriteResult> {
  const { io, table, account, options, dryRun, audit } = session;
  const old = await findKey(table, account, id);
  const overlapEnd = secondsOf(io.now() + options.overlap);
  const oldExpiresAt = Math.min(overlapEnd, old.expires_at ?? overlapEnd);
  const state = appKeyState(old, io.now());
  if (state !== 'valid')
    throw new CliError(`Key ${old.app_key_id} is ${state}: issue a new one with \`app-key issue\`.`);
  if (dryRun)
    return {
      text: `Key ${old.app_key_id} would expire ${timeText(oldExpiresAt * 1000)}, and a new key would be issued.`,
      json: { old_app_key_id: old.app_key_id },
    };
  const made = makeKey(io, {
    expires: options.expires ?? (old.lifetime === undefined ? 'never' : old.lifetime * 1000),
    note: old.note,
  });
  const { app_key_id } = made;
  await audit.inTransaction(
    options.account,
    `key ${old.app_key_id} to key ${app_key_id}`,
    (extraActions) => rotateAppKey(table, account, old, made, oldExpiresAt, extraActions),
    { event: 'AppKeyIssued', event_detail: { app_key_id } },
  );
  const { text, json } = issuedResult(io, made);
  say(io, `The old key ${old.app_key_id} expires ${timeText(oldExpiresAt * 1000)}.`);
  return { text, json: { ...json, old_app_key_id: old.app_key_id } };
}

const secondsOf = (milliseconds: number) => Math.floor(milliseconds / 1000);

/** A new key, with what is stored of it. */
function makeKey(io: Io, { expires = 'never', note }: { expires?: Lifetime; note?: string | undefined }) {
  const key = newAppKey();
  const identity = identityOfAppKey(key);
  const details = {
    created_at: secondsOf(io.now()),
    ...(expires !== 'never' && { expires_at: secondsOf(io.now() + expires) }),
    ...(note !== undefined && { note }),
  };
  return { key, app_key_id: appKeyIdOf(identity.hash), identity, details };
}

/** The result of a command that issues a key. Only the key goes to standard output, so that a script can capture it. */
function issuedResult(io: Io, { key, app_key_id, details }: ReturnType<typeof makeKey>): WriteResult {
  const { expires_at } = details;
  const until = expires_at === undefined ? 'does not expire' : `expires ${timeText(expires_at * 1000)}`;
  say(io, `The key is shown only once. Its id is ${app_key_id}; it ${until}.`);
  return { text: key, json: { app_key: key, app_key_id, ...(expires_at !== undefined && { expires_at }) } };
}

/**
 * The key with this id, or whose id begins with it.
 * @throws CliError unless there is exactly one
 */
async function findKey(table: Table, account: AccountRow, id: string): Promise<ListedAppKey> {
  const found = (await listAppKeys(table, account)).filter(({ hash }) => hash.startsWith(id.toLowerCase()));
  const [key, ...others] = found;
  if (!key) throw new CliError(`Account ${account.account_id} has no key ${id}: \`app-key list\` shows the ids.`);
  if (others.length > 0) throw new CliError(`${found.length} keys begin with ${id}: give more characters.`);
  return key;
}
