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
  function jsonOfReading<Value>(
    reading: Reading<Value> | undefined,
    jsonOfValue: (value: Value) => unknown = (value) => value ?? null,
  ) {
    if (reading === undefined) return null;
    return 'value' in reading ? jsonOfValue(reading.value) : { error: sentenceOf(reading.error) };
  }
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
    figures: jsonOfReading(measured, ({ operations, dynamodb = null, alarms = null, refused_keys = null }) => {
      return { operations, dynamodb, alarms, refused_keys };
    }),
    pending_merges: jsonOfReading(pending, (merges) => merges.map((merge) => withAttempt(merge, known(measured)))),
    dead_letters: jsonOfReading(dead_letters),
    open_alerts: jsonOfReading(open_alerts, (found) =>
      Object.fromEntries(SEVERITIES.map((severity) => [severity, found.reduce((sum, of) => sum + of[severity], 0)])),
    ),
    accounts: jsonOfReading(accounts),
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
