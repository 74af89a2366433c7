/** `alert close`: one alert, or all open ones that filters choose, such as those of a cluster that is gone. */
import { InvalidArgumentError } from 'commander';
import { ingestRecord } from '../../../lib/ingest/records.ts';
import { isOpenAlert } from '../../../lib/model/alert.ts';
import type { AlertItem } from '../../../lib/operations/alert-schema.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { createRecordWriter } from '../data/load.ts';
import { serviceClock } from '../fleet/hosts.ts';
import { allAlerts, findAlert, readAlert } from '../incidents/alerts.ts';
import { countText, line } from '../text/printable.ts';
import { duration } from './arguments.ts';
import type { AccountOptions, AdminCommand, WriteResult, WritingSession } from './command.ts';
import { CliError, PartialError, UsageError } from './io.ts';

type Labels = ReadonlyMap<string, string>;
type CloseSession = WritingSession<AccountOptions & { label?: Labels; keyPrefix?: string; notSince?: number }>;

/** Alerts that are listed; the others are only counted. */
const MAX_LINES = 20;

export const addCloseCommand = (alert: AdminCommand) =>
  alert
    .command('close')
    .explain(
      'End an open alert, or all that the options choose, as a record with the status Ok does. If its sender still sees the cause, it opens another one.',
      'alert close db-7/root --account 42',
      "alert close --account 42 --label cluster=eu --key-prefix 'alertmanager ' --not-since 6h --dry-run",
    )
    .argument('[alert]', 'its id or key')
    .ofAccount()
    .option('--label <name=value>', 'only those that have this label; may be repeated', addLabel)
    .option('--key-prefix <text>', 'only those whose key begins with this')
    .option('--not-since <duration>', 'only those of which no record was sent since then, such as 6h', duration)
    .writes(close);

function addLabel(text: string, previous: Labels = new Map()): Labels {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('It must be a label, such as cluster=eu.');
  return new Map([...previous, [name, value]]);
}

export async function requireAlert(table: Table, account: Int64, name: string) {
  const row = await findAlert(table, account, name);
  if (!row) throw new CliError(line`Account ${account} has no alert ${name}.`);
  return row;
}

async function close(session: CloseSession, name?: string): Promise<WriteResult> {
  const { label, keyPrefix, notSince } = session.options;
  const isFiltered = [label, keyPrefix, notSince].some((given) => given !== undefined);
  if (isFiltered === (name !== undefined))
    throw new UsageError('Pass an alert, or --label, --key-prefix or --not-since to choose several.');
  // By the service's clock, before alerts are read, so that a record that comes meanwhile is later.
  const { io, table } = session;
  const sentMs = (await serviceClock(withSignal(table, io.signal), io.now))();
  const end = createEnd(session, sentMs);
  return name === undefined ? closeChosen(session, end, sentMs) : closeOne(session, end, name);
}

/** @returns ends an alert, and says whether it has ended; false: a later record keeps it open */
function createEnd({ table, target, options: { account } }: CloseSession, sentMs: number) {
  const write = createRecordWriter(table, { endedAlertDays: target.endedAlertDays });
  return async ({ alert_id, alert_key }: { alert_id: string; alert_key?: string }) => {
    const ended = { kind: 'alert', account_id: account, alert_key, alert_status: 'Ok' } as const;
    await write(ingestRecord(ended, { sentMs, messageId: 'alert close', line: 1 }));
    const row = await readAlert(table, account, alert_id);
    return !row || !isOpenAlert(row);
  };
}
type End = ReturnType<typeof createEnd>;

async function closeOne(session: CloseSession, end: End, name: string): Promise<WriteResult> {
  const { table, options, dryRun, audit } = session;
  const row = await requireAlert(table, options.account, name);
  const { alert_id, alert_key } = row;
  if (alert_key === undefined) throw new CliError(`Alert ${alert_id} has no key: it is neither open nor ended.`);
  const json = { alert_id, alert_key };
  if (!isOpenAlert(row)) return { text: `Alert ${alert_id} has ended already.`, json: { ...json, closed: false } };
  if (dryRun) return { text: `Alert ${alert_id} would be closed.`, json };
  await audit.around([options.account], `alert ${alert_id}`, async () => {
    if (!(await end(json))) throw new CliError(`Alert ${alert_id} stays open: it has a later record.`);
  });
  return { text: `Alert ${alert_id} closed.`, json: { ...json, closed: true } };
}

async function closeChosen(session: CloseSession, end: End, sentMs: number): Promise<WriteResult> {
  const { io, table, options, dryRun, audit } = session;
  const { account, label = new Map(), keyPrefix = '', notSince = 0 } = options;
  const isChosen = ({ labels, alert_key = '', updated_at = 0 }: AlertItem) =>
    [...label].every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value) &&
    alert_key.startsWith(keyPrefix) &&
    Number(updated_at) * 1_000 <= sentMs - notSince;
  const chosen = (await Array.fromAsync(allAlerts(table, account))).filter(isChosen);
  const open = new Set<AlertItem>();
  const endOrKeep = async (alert: AlertItem) => {
    if (!(await end(alert))) open.add(alert);
  };
  if (!dryRun && chosen.length > 0)
    await audit.around([account], countText(chosen.length, 'alert'), async () => {
      await forEach(chosen, endOrKeep, { signal: io.signal });
      const text = `${countText(chosen.length - open.size, 'alert')} closed. Later records keep ${open.size} open.`;
      if (open.size > 0) throw new PartialError(text, doneOf(chosen, open));
    });
  return { text: `${countText(chosen.length, 'alert')} ${dryRun ? 'would be ' : ''}closed.`, ...doneOf(chosen, open) };
}

/** Of the alerts that were chosen, all that stay open are named, and first. */
function doneOf(chosen: readonly AlertItem[], open: ReadonlySet<AlertItem>) {
  const named = [...open, ...chosen.filter((alert) => !open.has(alert))].slice(0, Math.max(MAX_LINES, open.size));
  const lines = named.map(
    (alert) => line`${alert.alert_id} ${alert.alert_key ?? ''}${open.has(alert) ? ' (stays open)' : ''}`,
  );
  const more = chosen.length - named.length;
  return {
    lines: more > 0 ? [...lines, `and ${countText(more, 'other alert')}`] : lines,
    json: {
      alerts: chosen.map(({ alert_id, alert_key }) => ({ alert_id, alert_key })),
      ...(open.size > 0 && { stay_open: [...open].map(({ alert_id }) => alert_id) }),
    },
  };
}
