import { type AccountRow, MAX_NAME_LENGTH } from '../../../lib/model/account.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { CommandEvent } from '../../../lib/table/rows.ts';
import { changeAccount, putAccount, readAccount, readAllAccounts } from '../accounts/accounts.ts';
import { ACCOUNTS, shownAccount } from '../tables/accounts.ts';
import { line } from '../text/printable.ts';
import { tableOf } from '../text/table.ts';
import { showAccount } from './account-show.ts';
import { accountId, permissions, textOfLength } from './arguments.ts';
import { type AdminCommand, requireAccount, type Session, type WriteResult, type WritingSession } from './command.ts';
import { addEraseCommand, stateText } from './erase-command.ts';
import { CliError, say } from './io.ts';

export function addAccountCommands(program: AdminCommand): void {
  const group = program.command('account').explain('Manage accounts', 'account list');

  group
    .command('create')
    .explain(
      'Create an account, on AWS with its gateway key. After a failure, run it again to complete it.',
      'account create 42 --name "Acme" --permission monit',
    )
    .argument('<account>', 'its number, a positive integer', accountId)
    .requiredOption('--name <name>', 'display name', textOfLength(1, MAX_NAME_LENGTH))
    .option('--permission <permission>', 'permission of the account; can be repeated', permissions)
    .writes(create);

  group
    .command('show')
    .explain(
      'Show an account: its state, keys and members, and when the feed got the last record of each kind, up to five minutes too early',
      'account show 42',
    )
    .argument('<account>', 'its number', accountId)
    .shows(showAccount);

  group
    .command('list')
    .explain('List all accounts', 'account list --json')
    .shows(async ({ table }: Session) => {
      const shown = (await readAllAccounts(table)).map(shownAccount);
      return { json: shown, show: tableOf(ACCOUNTS, shown) };
    });

  group
    .command('rename')
    .explain('Give an account another name', 'account rename 42 "Acme Ltd"')
    .argument('<account>', 'its number', accountId)
    .argument('<name>', 'display name', textOfLength(1, MAX_NAME_LENGTH))
    .writes(rename);

  for (const [verb, description, setMethod] of [
    ['grant', 'Grant permissions to an account', 'union'],
    ['revoke', 'Revoke permissions of an account', 'difference'],
  ] as const)
    group
      .command(verb)
      .explain(description, `account ${verb} 42 monit`)
      .argument('<account>', 'its number', accountId)
      .argument('<permission...>', 'permissions', permissions)
      .writes((session: WritingSession, id: Int64, changed: string[]) =>
        applyChange(session, id, changed.join(' '), ({ permissions: current }) => ({
          permissions: [...new Set(current)[setMethod](new Set(changed))],
        })),
      );

  for (const [verb, description, suspended] of [
    ['suspend', 'Suspend an account: all its calls are refused', true],
    ['unsuspend', 'Lift the suspension of an account', false],
  ] as const)
    group
      .command(verb)
      .explain(description, `account ${verb} 42`)
      .argument('<account>', 'its number', accountId)
      .writes((session: WritingSession, id: Int64) =>
        applyChange(session, id, '', () => ({ suspended }), {
          event: suspended ? 'AccountSuspended' : 'AccountUnsuspended',
        }),
      );

  addEraseCommand(group);
}

type State = Pick<AccountRow, 'permissions' | 'suspended'>;
type CreateOptions = { name: string; permission?: string[] };

async function create(
  { io, target, dryRun, audit, options }: WritingSession<CreateOptions>,
  id: Int64,
): Promise<WriteResult> {
  const { table, gatewayKeys } = target;
  const { name, permission: requested = [] } = options;
  const before = await readAccount(table, id);
  if (before?.erased_at_ms !== undefined) throw new CliError(`${stateText(before)} Choose another id.`);
  if (before && before.name !== name)
    throw new CliError(`Account ${id} already exists, with the name "${before.name}".`);
  if (before && requested.some((permission) => !before.permissions.includes(permission)))
    throw new CliError(`Account ${id} already exists, with other permissions: change them with \`account grant\`.`);
  const json = { account_id: id, created: !before };
  if (dryRun) return { text: before ? `Account ${id} already exists.` : `Account ${id} would be created.`, json };
  const auditTarget = `permissions: ${requested.join(' ') || 'none'}`;
  const row =
    before ??
    (await audit.inTransaction(id, auditTarget, (extraActions) =>
      putAccount(table, { account_id: id, name, permissions: requested }, extraActions),
    ));
  if (!gatewayKeys)
    say(io, 'No gateway key was created: pass --stack NAME instead of --table, so that the usage plan is known.');
  // An account that has a gateway key is not skipped, since its key may not be in the usage plan yet.
  else await audit.around([id], 'gateway key', () => gatewayKeys.provision(row.account_id));
  return { text: `Account ${id} ${before ? 'already existed and is complete' : 'created'}.`, json };
}

async function rename({ table, dryRun, audit }: WritingSession, id: Int64, name: string): Promise<WriteResult> {
  await requireAccount(table, id);
  const json = { account_id: id, name };
  if (dryRun) return { text: line`Account ${id} would be named ${name}.`, json };
  // Without the names, since an erasure leaves the audit.
  const after = await audit.inTransaction(id, 'name', (done) => changeAccount(table, id, () => ({ name }), done));
  if (!after) throw new CliError(`Account ${id} no longer exists.`);
  return { text: line`Account ${id} is named ${name}.`, json };
}

async function applyChange(
  { table, dryRun, audit }: WritingSession,
  id: Int64,
  auditTarget: string,
  change: (row: AccountRow) => Partial<State>,
  event?: CommandEvent,
): Promise<WriteResult> {
  const before = await requireAccount(table, id);
  const stateOf = ({ permissions: granted, suspended }: State) =>
    line`permissions: ${granted.join(' ') || 'none'}; ${suspended ? 'suspended' : 'active'}`;
  const jsonOf = ({ permissions: granted, suspended = false }: State) => {
    return { account_id: id, permissions: granted, suspended };
  };
  const planned = { ...before, ...change(before) };
  if (dryRun) return { text: `Account ${id} would have ${stateOf(planned)}.`, json: jsonOf(planned) };
  const after = await audit.inTransaction(
    id,
    auditTarget,
    (done, started) => changeAccount(table, id, change, started, done),
    event,
  );
  if (!after) throw new CliError(`Account ${id} no longer exists.`);
  return { text: `Account ${id} has ${stateOf(after)}. All calls follow it within 30 s.`, json: jsonOf(after) };
}
