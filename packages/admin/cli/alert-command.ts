import { Option } from 'commander';
import { ingestRecord } from '../../../lib/ingest/records.ts';
import { alert, SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import { defined, namesOf, pick } from '../../../lib/model/fields.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { createErasureWatch } from '../accounts/erasure-watch.ts';
import { writeRecord } from '../data/load.ts';
import { serviceClock } from '../fleet/hosts.ts';
import { allOpenAlerts, findAlert, itemOf, readAlert } from '../incidents/alerts.ts';
import { alertColumns, openAlerts } from '../tables/alerts.ts';
import { line } from '../text/printable.ts';
import { fieldsOf, tableOf } from '../text/table.ts';
import type { AccountOptions, AdminCommand, ReadResult, Session, WriteResult, WritingSession } from './command.ts';
import { CliError } from './io.ts';

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
  commands
    .command('close')
    .explain(
      'End an open alert, as a record with the status Ok does. If its sender still sees the cause, it opens another one.',
      'alert close db-7/root --account 42',
    )
    .argument('<alert>', 'its id or key')
    .ofAccount()
    .writes(close);
}

type ListSession = Session<AccountOptions & { severity?: Severity }>;

async function list({ table, options: { account, severity } }: ListSession): Promise<ReadResult> {
  const alerts = await Array.fromAsync(allOpenAlerts(table, account, severity));
  return { json: alerts, show: tableOf(openAlerts(severity), alerts) };
}

async function requireAlert(table: Table, account: Int64, name: string) {
  const row = await findAlert(table, account, name);
  if (!row) throw new CliError(line`Account ${account} has no alert ${name}.`);
  return row;
}

async function show({ table, options: { account } }: Session<AccountOptions>, name: string): Promise<ReadResult> {
  const row = await requireAlert(table, account, name);
  const { moved_sequence, moved_from } = row;
  const item = await itemOf(table, account, row);
  const json = { ...item, ...(moved_sequence !== undefined && { moved_sequence, moved_from: moved_from ?? null }) };
  return { json, show: fieldsOf(alertColumns(json), json) };
}

async function close(session: WritingSession<AccountOptions>, name: string): Promise<WriteResult> {
  const { io, table, options, dryRun, audit } = session;
  const { account } = options;
  // A time before the alert is read, so that a record that comes meanwhile is later.
  const sentMs = (await serviceClock(withSignal(table, io.signal), io.now))();
  const row = await requireAlert(table, account, name);
  const { alert_id, alert_key, open_partition } = row;
  if (alert_key === undefined) throw new CliError(`Alert ${alert_id} has no key: it is neither open nor ended.`);
  const json = { alert_id, alert_key };
  if (open_partition === undefined)
    return { text: `Alert ${alert_id} has ended already.`, json: { ...json, closed: false } };
  if (dryRun) return { text: `Alert ${alert_id} would be closed.`, json };
  // A record replaces all content, so it repeats what the alert has.
  const content = defined(pick(row, namesOf(alert.fields, { stored: 'content' })));
  const record = ingestRecord(
    { kind: 'alert', account_id: account, alert_key, alert_status: 'Ok', ...content },
    { sentMs, messageId: 'alert close', line: 1 },
  );
  await audit.around([account], `alert ${alert_id}`, async () => {
    await createErasureWatch(table)(account);
    await writeRecord(table, record);
    if ((await readAlert(table, account, alert_id))?.open_partition !== undefined)
      throw new CliError(`Alert ${alert_id} stays open: it has a later record.`);
  });
  return { text: `Alert ${alert_id} closed.`, json: { ...json, closed: true } };
}
