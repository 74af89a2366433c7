import { parseArgs } from 'node:util';
import type { AlertItem, AlertListRequest } from '../index.ts';
import { jsonText } from '../json.ts';
import { connect } from './connect.ts';
import { asUsageError, COMMON, flag, print, text, texts, UsageError } from './output.ts';

export const ALERTS_HELP = `  alerts                       list the open alerts, the latest start first
    --severity S               only Critical, Warning or Info; may be repeated
    --id ALERT, --key KEY      these alerts, and the last alerts of these keys, open or not; each up to 100 times
    --open, --ended            of those, only the open ones, or the others
    --asc                      the earliest start first
    --cursor C                 resume a listing that failed
`;

const OPTIONS = {
  ...{ severity: texts, id: texts, key: texts, open: flag, ended: flag, asc: flag, cursor: text },
  ...COMMON,
};

/** Lists alerts, page after page. */
export async function alerts(args: string[]): Promise<void> {
  const { values } = asUsageError(() => parseArgs({ args, options: OPTIONS }));
  if (values.open && values.ended) throw new UsageError('--open and --ended exclude each other');
  const request: AlertListRequest = {
    ...(values.severity && { alert_severity: values.severity.join(',') }),
    ...(values.id && { alert_ids: values.id }),
    ...(values.key && { alert_keys: values.key }),
    ...((values.open || values.ended) && { is_active: values.open === true }),
    ...(values.asc && { asc: true }),
    ...(values.cursor !== undefined && { search_after_ctx: values.cursor }),
  };
  for await (const alert of connect().alerts(request)) print(values.json ? jsonText(alert) : lineOf(alert));
}

function lineOf({ alert_id, alert_severity, alert_key, start_time, end_time, title, incident }: AlertItem): string {
  const times = end_time ? `${timeText(start_time)} to ${timeText(end_time)}` : timeText(start_time);
  const more = [
    ...(alert_key === undefined ? [] : [alert_key]),
    ...(incident ? [`incident ${incident.incident_id}`] : []),
  ];
  return `${alert_id}  ${(alert_severity ?? '-').padEnd(8)}  ${times}  ${title}${more.length > 0 ? ` (${more.join(', ')})` : ''}`;
}

/** Such as `2026-11-20T08:30:00Z`; `-` if the alert has no such time. */
const timeText = (seconds: number | undefined) =>
  seconds === undefined ? '-' : new Date(seconds * 1_000).toISOString().replace('.000', '');
