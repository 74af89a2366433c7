import { Option } from 'commander';
import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import { allOpenAlerts, itemOf } from '../incidents/alerts.ts';
import { alertColumns, openAlerts } from '../tables/alerts.ts';
import { fieldsOf, tableOf } from '../text/table.ts';
import { addCloseCommand, requireAlert } from './alert-close.ts';
import type { AccountOptions, AdminCommand, ReadResult, Session } from './command.ts';

export function addAlertCommands(program: AdminCommand): void {
  const commands = program
    .command('alert')
    .explain('List, show and close alerts', 'alert list --account 42', 'alert close db-7/root --account 42');
  commands
    .command('list')
    .explain('List open alerts, the latest start first', 'alert list --account 42', 'alert list --account 42 --json')
    .ofAccount()
    .addOption(new Option('--severity <severity>', 'only alerts of this severity').choices(SEVERITIES))
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

type ListSession = Session<AccountOptions & { severity?: Severity }>;

async function list({ table, options: { account, severity } }: ListSession): Promise<ReadResult> {
  const alerts = await Array.fromAsync(allOpenAlerts(table, account, severity));
  return { json: alerts, show: tableOf(openAlerts(severity), alerts) };
}

async function show({ table, options: { account } }: Session<AccountOptions>, name: string): Promise<ReadResult> {
  const row = await requireAlert(table, account, name);
  const { moved_sequence, moved_from } = row;
  const item = await itemOf(table, account, row);
  const json = { ...item, ...(moved_sequence !== undefined && { moved_sequence, moved_from: moved_from ?? null }) };
  return { json, show: fieldsOf(alertColumns(json), json) };
}
