import { SEVERITIES } from '../../../lib/model/alert.ts';
import { WINDOW_MINUTES } from '../status/measured.ts';
import { known, type Reading, readStatus, type Status, withAttempt } from '../status/status.ts';
import { callsTable, figuresOf, tablesOf } from '../status/summary.ts';
import { timeText } from '../text/printable.ts';
import type { Table } from '../text/table.ts';
import type { AdminCommand, ReadResult, Session } from './command.ts';
import { sentenceOf } from './command-errors.ts';

export function addStatusCommand(program: AdminCommand): void {
  program
    .command('status')
    .explain(
      'Show the state of the service: whether it answers, its calls and failures, pending merges, dead letters, alarms, expiring keys',
      'status',
      'status --stack IncidentMonitoringRum --region eu-west-1 --json',
    )
    .shows(showStatus);
}

async function showStatus({ io, target, table }: Session): Promise<ReadResult> {
  const { url, defaultUrl, measure } = target;
  const deadLetters = async () => target.deadLetters?.();
  const status = await readStatus({ table, now: io.now, url, defaultUrl, measure, deadLetters });
  return {
    json: jsonOf(status, url),
    show: [`As of ${timeText(status.at_ms)}`, figuresTable(status), callsTable(status), ...tablesOf(status)],
  };
}

/** Parts that could not be read have an `error` in place of their value. */
function jsonOf(
  { at_ms, service, default_url, table_ms, measured, pending, dead_letters, accounts, open_alerts }: Status,
  url?: string,
) {
  const jsonOfReading = <Value>(reading: Reading<Value> | undefined) =>
    reading === undefined ? null : 'value' in reading ? (reading.value ?? null) : { error: sentenceOf(reading.error) };
  const figures = known(measured);
  const merges = known(pending);
  const accountsStatus = known(accounts);
  const openAlerts = known(open_alerts);
  return {
    at_ms,
    service: service && {
      url,
      ...(default_url && { default_url }),
      answers: 'value' in service,
      ...('value' in service ? { ms: service.value } : { problem: service.error.message }),
    },
    table_read_ms: jsonOfReading(table_ms),
    window_minutes: WINDOW_MINUTES,
    figures: figures
      ? {
          operations: figures.operations,
          dynamodb: figures.dynamodb ?? null,
          alarms: figures.alarms ?? null,
          refused_keys: figures.refused_keys ?? null,
        }
      : jsonOfReading(measured),
    pending_merges: merges ? merges.map((merge) => withAttempt(merge, figures)) : jsonOfReading(pending),
    dead_letters: jsonOfReading(dead_letters),
    open_alerts: openAlerts
      ? Object.fromEntries(
          SEVERITIES.map((severity) => [severity, openAlerts.reduce((sum, of) => sum + of[severity], 0)]),
        )
      : jsonOfReading(open_alerts),
    accounts: accountsStatus
      ? {
          count: accountsStatus.count,
          without_gateway_key: accountsStatus.withoutGatewayKey,
          over_quota: accountsStatus.overQuota,
          expiring_keys: accountsStatus.expiringKeys,
        }
      : jsonOfReading(accounts),
  };
}

function figuresTable(status: Status): Table {
  const rows = figuresOf(status, sentenceOf).map(({ name, value, note, accounts = [] }) => [
    name,
    value,
    [note, ...accounts.map(({ text }) => text)].filter(Boolean).join(', '),
  ]);
  return { head: ['figure', 'value', 'note'], rows, none: '' };
}
