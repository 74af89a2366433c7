import { type Command, Option } from 'commander';
import { appKeyState, type ListedAppKey, listAppKeys } from '../lib/accounts/accounts.ts';
import { identityOfAppKey, newAppKey, putAppKey, revokeAppKey, rotateAppKey } from '../lib/accounts/app-key-admin.ts';
import { appKeyIdOf } from '../lib/auth/app-keys.ts';
import { LONGEST_NOTE } from '../lib/data/format.ts';
import type { Int64 } from '../lib/json.ts';
import { timeText } from '../lib/time-text.ts';
import { requireAccount } from './accounts.ts';
import { accountId, duration, type Lifetime, lifetime, text } from './arguments.ts';
import { dryRunOption, jsonOption, type Session, withHelp, withTarget } from './command.ts';
import { CliError, type Io, print, printJson, say } from './io.ts';
import { plainTable } from './output.ts';

export function addAppKeyCommands(program: Command, io: Io): void {
  const appKey = withHelp(program.command('app-key'), 'Manage app keys', 'app-key list --account 42');
  const ofAccount = ['--account <account>', 'account of the key', accountId] as const;

  withHelp(
    appKey
      .command('issue')
      .requiredOption(...ofAccount)
      .option('--expires <duration>', 'how long it is valid, such as 90d (default: until it is revoked)', lifetime)
      .option('--note <text>', 'what it is for', text(0, LONGEST_NOTE))
      .option(...dryRunOption),
    'Issue a key. It is printed only once; what is stored is its hash.',
    'app-key issue --account 42 --expires 90d --note "deploy pipeline"',
  ).action((options: { account: Int64; expires?: Lifetime; note?: string }, command: Command) =>
    withTarget(io, command, 'writes', async ({ target: { table }, dryRun, audit }) => {
      const account = await requireAccount(table, options.account);
      if (dryRun) return say(io, `A key of account ${options.account} would be issued.`);
      const key = newAppKey();
      const limits = limitsOf(io, options);
      const identity = identityOfAppKey(key);
      await audit.inTransaction(options.account, `key ${appKeyIdOf(identity.hash)}`, (also) =>
        putAppKey(table, account, identity, limits, also),
      );
      announce(io, key, limits);
    }),
  );

  withHelp(
    appKey
      .command('list')
      .requiredOption(...ofAccount)
      .option(...jsonOption),
    'List the keys of an account, without the keys themselves',
    'app-key list --account 42',
  ).action((options: { account: Int64; json?: boolean }, command: Command) =>
    withTarget(io, command, 'reads', async ({ target: { table } }) => {
      const found = await listAppKeys(table, await requireAccount(table, options.account));
      const shown = found
        .map((row) => shownKey(row, io.now()))
        .sort((one, other) => one.created_at.localeCompare(other.created_at));
      if (options.json) return printJson(io, shown);
      if (shown.length === 0) return say(io, `Account ${options.account} has no app keys.`);
      const columns = ['app_key_id', 'last_digits', 'state', 'created_at', 'expires_at', 'note'] as const;
      print(
        io,
        plainTable(
          shown.map((row) => columns.map((column) => row[column])),
          columns,
        ),
      );
    }),
  );

  const idArgument = ['<app-key-id>', 'id from `app-key list`, or at least its first 8 characters'] as const;
  withHelp(
    appKey
      .command('revoke')
      .argument(...idArgument)
      .requiredOption(...ofAccount)
      .option(...dryRunOption),
    'Revoke a key, within 30 s',
    'app-key revoke 1f3a77c0d2b4e6f8 --account 42',
  ).action((id: string, options: { account: Int64 }, command: Command) =>
    withTarget(io, command, 'writes', async ({ target: { table }, dryRun, audit }) => {
      const found = await find(table, options.account, id);
      if (dryRun) return say(io, `Key ${found.app_key_id} would be revoked.`);
      await audit.inTransaction(options.account, `key ${found.app_key_id}`, (also) =>
        revokeAppKey(table, options.account, found.hash, secondsOf(io.now()), also),
      );
      print(io, `Key ${found.app_key_id} revoked.`);
    }),
  );

  withHelp(
    appKey
      .command('rotate')
      .argument(...idArgument)
      .requiredOption(...ofAccount)
      .addOption(
        new Option('--overlap <duration>', 'how long the old key stays valid')
          .argParser(duration)
          .default(24 * 3_600_000, '24h'),
      )
      .option(
        '--expires <duration>',
        'how long the new key is valid, or never (default: the lifetime of the old one)',
        lifetime,
      )
      .option(...dryRunOption),
    'Replace a key with a new one, which is printed only once. The old one stays valid for a while.',
    'app-key rotate 1f3a77c0d2b4e6f8 --account 42 --overlap 24h',
  ).action((id: string, options: { account: Int64; overlap: number; expires?: Lifetime }, command: Command) =>
    withTarget(io, command, 'writes', async ({ target: { table }, dryRun, audit }) => {
      const account = await requireAccount(table, options.account);
      const old = await find(table, options.account, id);
      const ends = secondsOf(io.now() + options.overlap);
      if (appKeyState(old, io.now()) !== 'valid')
        throw new CliError(
          `Key ${old.app_key_id} is ${appKeyState(old, io.now())}: issue a new one with \`app-key issue\`.`,
        );
      if (dryRun)
        return say(io, `Key ${old.app_key_id} would expire ${timeText(ends * 1000)}, and a new key would be issued.`);
      const key = newAppKey();
      const limits = limitsOf(io, {
        expires: options.expires ?? (old.lifetime === undefined ? 'never' : old.lifetime * 1000),
        ...(old.note !== undefined && { note: old.note }),
      });
      const fresh = { identity: identityOfAppKey(key), limits };
      const what = `key ${old.app_key_id} to key ${appKeyIdOf(fresh.identity.hash)}`;
      await audit.inTransaction(options.account, what, (also) => rotateAppKey(table, account, old, fresh, ends, also));
      announce(io, key, limits);
      say(io, `The old key ${old.app_key_id} expires ${timeText(Math.min(ends, old.expires_at ?? ends) * 1000)}.`);
    }),
  );
}

const secondsOf = (milliseconds: number) => Math.floor(milliseconds / 1000);

function limitsOf(io: Io, { expires = 'never', note }: { expires?: Lifetime; note?: string }) {
  return {
    created_at: secondsOf(io.now()),
    ...(expires !== 'never' && { expires_at: secondsOf(io.now() + expires) }),
    ...(note !== undefined && { note }),
  };
}

/** Only the key goes to stdout, so that a script can capture it. */
function announce(io: Io, key: string, { expires_at }: { expires_at?: number }): void {
  print(io, key);
  const until = expires_at === undefined ? 'does not expire' : `expires ${timeText(expires_at * 1000)}`;
  say(io, `The key is shown only once. Its id is ${appKeyIdOf(identityOfAppKey(key).hash)}; it ${until}.`);
}

function shownKey(row: ListedAppKey, nowMs: number) {
  return {
    app_key_id: row.app_key_id,
    last_digits: `…${row.last_digits}`,
    state: appKeyState(row, nowMs),
    created_at: timeText(row.created_at * 1000),
    expires_at: row.expires_at === undefined ? 'never' : timeText(row.expires_at * 1000),
    note: row.note ?? '',
  };
}

/** Shortest accepted prefix of a key id: a shorter one, such as an empty variable, could match the wrong key. */
const SHORTEST_ID = 8;

/** The key that an id, or its beginning, names. @throws CliError unless it is exactly one */
async function find(table: Session['target']['table'], account: Int64, id: string): Promise<ListedAppKey> {
  if (id.length < SHORTEST_ID) throw new CliError(`Give at least ${SHORTEST_ID} characters of the id.`);
  const found = (await listAppKeys(table, await requireAccount(table, account))).filter(({ hash }) =>
    hash.startsWith(id.toLowerCase()),
  );
  const [first, ...others] = found;
  if (!first) throw new CliError(`Account ${account} has no key ${id}: \`app-key list\` shows the ids.`);
  if (others.length > 0) throw new CliError(`${found.length} keys begin with ${id}: give more characters.`);
  return first;
}
