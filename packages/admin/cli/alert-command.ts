import { Option } from 'commander';
import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import type { AlertItem } from '../../../lib/operations/alert-schema.ts';
import { MAX_DAYS } from '../../../lib/operations/list-alerts/schema.ts';
import { listAccounts } from '../accounts/accounts.ts';
import { allAlerts, itemOf } from '../incidents/alerts.ts';
import { alertColumns, alertListing, withAccounts } from '../tables/alerts.ts';
import { fieldsOf, tableOf } from '../text/table.ts';
import { addCloseCommand, requireAlert } from './alert-close.ts';
import { accountId, duration } from './arguments.ts';
import type { AccountOptions, AdminCommand, ReadResult, Session } from './command.ts';
import { UsageError } from './io.ts';

export function addAlertCommands(program: AdminCommand): void {
  const commands = program
    .command('alert')
    .explain('List, show and close alerts', 'alert list --account 42', 'alert close db-7/root --account 42');
  commands
    .command('list')
    .explain(
      'List open alerts, or those that have ended, the latest start first',
      'alert list',
      'alert list --account 42 --ended --since 7d --json',
    )
    .option('--account <account>', 'only those of this account', accountId)
    .addOption(new Option('--severity <severity>', 'only alerts of this severity').choices(SEVERITIES))
    .option('--ended', 'those that have ended')
    .option('--since <duration>', 'with --ended, those that started since then, at most 31d (default: 1d)', duration)
    .shows(list);
  commands
    .command('show')
    .explain(
      'Show an alert, its state and the incident that it is in',
      'alert show 64f0000000000000000000a1 --account 42',
    )
    .argument('<alert>', 'its id or key')
    .ofAccount()
    .shows(show);
  addCloseCommand(commands);
}

type ListSession = Session<Partial<AccountOptions> & { severity?: Severity; ended?: boolean; since?: number }>;

const DAY_MS = 86_400_000;

async function list({ io, table, options }: ListSession): Promise<ReadResult> {
  const { account, severity, ended = false, since } = options;
  if (since !== undefined && !ended) throw new UsageError('--since requires --ended.');
  const sinceMs = since ?? DAY_MS;
  if (sinceMs <= 0 || sinceMs > MAX_DAYS * DAY_MS)
    throw new UsageError(`--since must be longer than 0 and at most ${MAX_DAYS}d.`);
  const to = Math.floor(io.now() / 1_000) + 1;
  const filter = { severity, ...(ended && { span: { from: to - Math.ceil(sinceMs / 1_000), to }, isActive: false }) };
  const alerts: AlertItem[] = [];
  for (const id of account === undefined ? await listAccounts(table) : [account])
    for await (const alert of allAlerts(table, id, filter)) alerts.push(alert);
  alerts.sort((a, b) => Number(b.start_time) - Number(a.start_time));
  const listing = alertListing(ended ? 'Ended alerts' : undefined, severity);
  return { json: alerts, show: tableOf(account === undefined ? withAccounts(listing) : listing, alerts) };
}

async function show({ table, options: { account } }: Session<AccountOptions>, name: string): Promise<ReadResult> {
  const row = await requireAlert(table, account, name);
  const { moved_sequence, moved_from } = row;
  const item = await itemOf(table, account, row);
  const json = { ...item, ...(moved_sequence !== undefined && { moved_sequence, moved_from: moved_from ?? null }) };
  return { json, show: fieldsOf(alertColumns(json), json) };
}
