import { CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { clientConfig } from '../aws/client-config.ts';
import { printable, timeText } from '../text/printable.ts';
import { duration } from './arguments.ts';
import type { AdminCommand, ReadResult, Session } from './command.ts';
import { UsageError } from './io.ts';

/**
 * Once a log has returned this many lines, no further page of it is read. The oldest come first: a shorter `--since`
 * shows later ones.
 */
const MAX_LINES = 1_000;

interface LogsOptions {
  since: number;
  message?: string;
}

export function addLogsCommand(program: AdminCommand): void {
  program
    .command('logs')
    .explain(
      'Show the log lines of a call, or those with a message, from all functions of a stack and its access log',
      'logs 9c29ccd0-8a26-4dba-b194-9e140490c3c1 --stack IncidentMonitoringRum --region eu-west-1',
      "logs --message 'call failed' --since 15m --stack IncidentMonitoringRum --region eu-west-1",
    )
    .argument('[request-id]', 'the request_id of a response, also in its header Svc-Request-Id')
    .option('--message <text>', 'lines with exactly this message, such as `call failed`')
    .optionWithDefault('--since <duration>', 'how far to look back', duration, '1h')
    .shows(showLogs);
}

async function showLogs({ io, target, options }: Session<LogsOptions>, requestId?: string): Promise<ReadResult> {
  const { outputs, region } = target;
  if (!outputs) throw new UsageError('Only a stack has logs to read: pass --stack NAME. npm start prints its own.');
  const { message, since } = options;
  if ((requestId === undefined) === (message === undefined))
    throw new UsageError('Pass either a request_id or --message.');
  const [field, value] = requestId === undefined ? ['message', message] : ['request_id', requestId];
  const filterPattern = `{ $.${field} = ${JSON.stringify(value)} }`;
  const client = new CloudWatchLogsClient(clientConfig(region));
  const range = { startTime: io.now() - since, endTime: io.now() };
  const readLogGroup = async (name: string, logGroupName: string) => {
    const lines: LogLine[] = [];
    for await (const { events = [] } of paginateFilterLogEvents(
      { client },
      { logGroupName, filterPattern, ...range },
    )) {
      for (const { timestamp: at_ms = 0, message: text = '' } of events)
        lines.push({ at_ms, log: name, line: fieldsOf(text) });
      if (lines.length >= MAX_LINES) break;
    }
    return lines;
  };
  const groups = [...outputs].flatMap(([name, group]) => (name?.endsWith('Logs') && group ? [{ name, group }] : []));
  if (groups.length === 0) throw new UsageError('The stack has no outputs of logs: deploy it again.');
  const lines = (
    await Promise.all(groups.map(({ name, group }) => readLogGroup(name.replace(/Logs$/, ''), group)))
  ).flat();
  lines.sort((a, b) => a.at_ms - b.at_ms);
  return {
    json: lines,
    ifEmpty:
      lines.length === 0 &&
      'No such lines in that time. Logs arrive some seconds late; --since sets how far to look back.',
    text: () => lines.map(lineText).join('\n'),
  };
}

interface LogLine {
  at_ms: number;
  /** The name of the stack's output without `Logs`, such as `FinishMerges` or `Access`. */
  log: string;
  line: Record<string, unknown>;
}

/** The fields of a line. Lines that Lambda itself writes may be plain text. */
function fieldsOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { message: text.trim() };
  }
}

/** Fields that are not listed at the end of a line: they are the same in every line, or already printed. */
const OMITTED = new Set(['timestamp', 'time', 'service', 'message']);

function lineText({ at_ms, log, line }: LogLine): string {
  const fields = Object.entries(line).filter(([name, value]) => !OMITTED.has(name) && value !== undefined);
  const rest = fields.map(([name, value]) => `${name}=${typeof value === 'string' ? value : stringifyJson(value)}`);
  return printable(`${timeText(at_ms)}  ${log}  ${line.message ?? 'request'}  ${rest.join(' ')}`);
}
