import { type MergeProgress, progressText } from '../incidents/pending-merges.ts';
import { type Measured, type OperationFigures, WINDOW_MINUTES } from '../status/measured.ts';
import {
  EXPIRY_WARNING_DAYS,
  type ExpiringKey,
  known,
  type Part,
  readStatus,
  type Status,
  withAttempt,
} from '../status/status.ts';
import { countText, timeText } from '../text/printable.ts';
import type { AdminCommand, ReadResult, Session } from './command.ts';
import { sentenceOf } from './command-errors.ts';
import { plainTable } from './output.ts';

const UNKNOWN_HERE = 'unknown: pass --stack, or run npm start';

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
  const { url, measure } = target;
  const deadLetters = async () => (target.deadLetters ? target.deadLetters() : (await measure?.())?.dead_letters);
  const status = await readStatus({ table, now: io.now, url, measure, deadLetters });
  return { json: jsonOf(status, url), text: () => statusText(status, url) };
}

/** Parts that could not be read have an `error` in place of their value. */
function jsonOf({ at_ms, service, table_ms, measured, pending, dead_letters, accounts }: Status, url?: string) {
  const jsonOfPart = <Value>(part: Part<Value> | undefined) =>
    part === undefined ? null : 'value' in part ? (part.value ?? null) : { error: sentenceOf(part.error) };
  const figures = known(measured);
  const merges = known(pending);
  const accountsStatus = known(accounts);
  return {
    at_ms,
    service: service && {
      url,
      answers: 'value' in service,
      ...('value' in service ? { ms: service.value } : { problem: service.error.message }),
    },
    table_read_ms: jsonOfPart(table_ms),
    window_minutes: WINDOW_MINUTES,
    figures: figures
      ? { operations: figures.operations, dynamodb: figures.dynamodb ?? null, alarms: figures.alarms ?? null }
      : jsonOfPart(measured),
    pending_merges: merges ? merges.map((merge) => withAttempt(merge, figures)) : jsonOfPart(pending),
    dead_letters: jsonOfPart(dead_letters),
    accounts: accountsStatus
      ? {
          count: accountsStatus.count,
          without_gateway_key: accountsStatus.withoutGatewayKey,
          over_quota: accountsStatus.overQuota,
          expiring_keys: accountsStatus.expiringKeys,
        }
      : jsonOfPart(accounts),
  };
}

function statusText(status: Status, url?: string): string {
  const { at_ms, measured, pending, accounts } = status;
  const figures = known(measured);
  const merges = known(pending) ?? [];
  const { expiringKeys = [] } = known(accounts) ?? {};
  return [
    `As of ${timeText(at_ms)}`,
    plainTable(headRows(status, url)),
    ...(figures?.alarms ?? []).map(({ name, since_ms, what }) => `\n${name}, since ${timeText(since_ms)}: ${what}`),
    ...(figures ? [`\nCalls of the last ${WINDOW_MINUTES} minutes\n${callsTable(figures.operations)}`] : []),
    ...(merges.length > 0 ? [`\nPending merges\n${mergesTable(merges, figures)}`] : []),
    ...(expiringKeys.length > 0 ? [`\nKeys that expire\n${keysTable(expiringKeys)}`] : []),
  ].join('\n');
}

/** Names and values of the parts of the status, or the reasons why they are unknown. */
function headRows({ service, table_ms, measured, pending, dead_letters, accounts }: Status, url?: string): string[][] {
  const dynamodb = known(measured)?.dynamodb;
  const accountsStatus = known(accounts);
  const textOfPart = <Value>(part: Part<Value> | undefined, text: (value: Value) => string) =>
    part === undefined ? UNKNOWN_HERE : 'value' in part ? text(part.value) : sentenceOf(part.error);
  const quotas = accountsStatus?.overQuota.map(({ account_id, quota }) => `${account_id} (${quota})`);
  return [
    [
      'service',
      service && 'error' in service
        ? service.error.message
        : textOfPart(service, (ms) => `answers in ${ms} ms at ${url}`),
    ],
    ['table', textOfPart(table_ms, (ms) => `a read takes ${ms} ms from here`)],
    ...(dynamodb ? [['DynamoDB', dynamoDbText(dynamodb)]] : []),
    [
      'alarms',
      textOfPart(measured, ({ alarms }) =>
        alarms ? countText(alarms.length, 'raised alarm') : 'none: npm start has no alarms',
      ),
    ],
    ['pending merges', textOfPart(pending, ({ length }) => String(length))],
    ['dead letters', textOfPart(dead_letters, (count) => (count === undefined ? UNKNOWN_HERE : String(count)))],
    ['accounts', textOfPart(accounts, ({ count }) => String(count))],
    ['  without gateway key', accountsStatus ? accountsStatus.withoutGatewayKey.join(' ') || 'none' : 'unknown'],
    ['  over a RUM quota', quotas ? quotas.join(', ') || 'none' : 'unknown'],
    [`  keys that expire within ${EXPIRY_WARNING_DAYS} days`, String(accountsStatus?.expiringKeys.length ?? 'unknown')],
  ];
}

const mergesTable = (merges: readonly MergeProgress[], figures: Measured | undefined) =>
  plainTable(
    merges.map((merge) => {
      const { account_id, incident_id, sequence, at_ms: since = sequence, last } = withAttempt(merge, figures);
      const next = last?.next_ms === undefined ? '' : `, next attempt ${timeText(last.next_ms)}`;
      const failed = last ? `last attempt ${timeText(last.at_ms)}: ${last.error}${next}` : '';
      return [timeText(since), `account ${account_id}`, incident_id, String(sequence), progressText(merge), failed];
    }),
    ['since', 'account', 'incident', 'entry', 'progress', ''],
  );

const keysTable = (keys: readonly ExpiringKey[]) =>
  plainTable(
    keys.map(({ account_id, app_key_id, expires_ms, note }) => [
      timeText(expires_ms),
      `account ${account_id}`,
      app_key_id,
      note,
    ]),
  );

const callsTable = (operations: readonly OperationFigures[]) =>
  plainTable(
    operations.map(({ operation, calls, failed, p99_ms }) => [
      ...[operation, calls.toLocaleString('en'), failed.toLocaleString('en')],
      p99_ms === undefined ? '' : `${p99_ms} ms`,
    ]),
    ['operation', 'calls', 'failed (5xx)', 'p99'],
  );

function dynamoDbText({ latency_ms, throttled }: NonNullable<Measured['dynamodb']>) {
  const latency = Object.entries(latency_ms).map(([name, average]) => `${name} ${average} ms`);
  return [...latency, `${throttled.toLocaleString('en')} reads and writes throttled`].join(', ');
}
