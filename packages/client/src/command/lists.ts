/** The lists of alerts, incidents and members: each item on a line. */
import { parseArgs } from 'node:util';
import type { AlertItem, IncidentInfo, MemberItem } from '../index.ts';
import { jsonText } from '../json.ts';
import { shellWord } from '../terminal-text.ts';
import { connect } from './connect.ts';
import { asUsageError, COMMON, flag, InterruptedError, print, text, texts, UsageError } from './output.ts';

export const LISTS_HELP = `  alerts                       list the open alerts, the latest start first
    --since T, --until T       open and ended ones that started then: 30m, 2h or 7d ago, or 2026-11-20T08:30:00Z
    --open, --ended            only open ones, or only others
    --severity S               only Critical, Warning or Info; may be repeated
    --id ALERT, --key KEY      these alerts, and the last alerts of these keys, open or not; each up to 100 times
    --asc                      the earliest start first
  incidents                    list the incidents, the highest id first
    --query TEXT               only those whose title contains this
    --since T, --until T       only those that were created then
    --id INCIDENT, --asc
  members                      list the members
    --query TEXT               only those whose name contains this
    --ids                      of each list: only the ids, one a line
    --cursor C                 of each list: resume one that failed
`;

const PAGE = { cursor: text, ids: flag, ...COMMON };
const SPAN = { since: text, until: text };
const ALERTS = { severity: texts, id: texts, key: texts, open: flag, ended: flag, asc: flag, ...SPAN, ...PAGE };
const INCIDENTS = { query: text, id: texts, asc: flag, ...SPAN, ...PAGE };
const MEMBERS = { query: text, ...PAGE };

/** Lists alerts, page after page. */
export async function alerts(args: string[]): Promise<void> {
  const { values } = asUsageError(() => parseArgs({ args, options: ALERTS }));
  if (values.open && values.ended) throw new UsageError('--open and --ended exclude each other');
  const request = {
    ...(values.severity && { alert_severity: values.severity.join(',') }),
    ...(values.id && { alert_ids: values.id }),
    ...(values.key && { alert_keys: values.key }),
    ...((values.open || values.ended) && { is_active: values.open === true }),
    ...pageOf(values),
  };
  await printAll(connect().alerts(request), values, ({ alert_id }) => alert_id, alertLine);
}

export async function incidents(args: string[]): Promise<void> {
  const { values } = asUsageError(() => parseArgs({ args, options: INCIDENTS }));
  const request = { ...(values.id && { incident_ids: values.id }), ...pageOf(values) };
  await printAll(connect().incidents(request), values, ({ incident_id }) => incident_id, incidentLine);
}

export async function members(args: string[]): Promise<void> {
  const { values } = asUsageError(() => parseArgs({ args, options: MEMBERS }));
  await printAll(connect().members(pageOf(values)), values, ({ member_id }) => String(member_id), memberLine);
}

interface Values {
  cursor?: string | undefined;
  query?: string | undefined;
  asc?: boolean | undefined;
  since?: string | undefined;
  until?: string | undefined;
  ids?: boolean | undefined;
  json?: boolean | undefined;
}

function pageOf(values: Values) {
  const { cursor, query, asc, since, until } = values;
  if (until !== undefined && since === undefined) throw new UsageError('--until requires --since');
  if (since === undefined) return definedOf({ query, asc, search_after_ctx: cursor });
  const now = Math.floor(Date.now() / 1_000) + 1;
  const span = { start_time: secondsOf('since', since, now), end_time: secondsOf('until', until ?? '0s', now) };
  // What failed can be resumed only with the same times.
  Object.assign(values, { since: timeText(span.start_time), until: timeText(span.end_time) });
  return definedOf({ query, asc, search_after_ctx: cursor, ...span });
}

const definedOf = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** A time as Unix seconds. @param now the time from which `2h` counts back */
function secondsOf(name: string, value: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
  const time = count === undefined ? absoluteOf(value) : now - Number(count) * Number(SECONDS[unit]);
  if (time >= 0) return time;
  throw new UsageError(`--${name} must be such as 30m, 2h, 7d or 2026-11-20T08:30:00Z, not ${value}`);
}
const absoluteOf = (value: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? Date.parse(value) / 1_000 : Number.NaN;

async function printAll<Item extends object>(
  items: AsyncIterable<Item>,
  { ids, json, since, until }: Values,
  idOf: (item: Item) => string,
  lineOf: (item: Item) => string,
): Promise<void> {
  if (ids && json) throw new UsageError('--ids and --json exclude each other');
  try {
    for await (const item of items) print(ids ? idOf(item) : json ? String(jsonText(item)) : lineOf(item));
  } catch (error) {
    if (since === undefined || until === undefined) throw error;
    throw new InterruptedError(error, `The times were --since=${shellWord(since)} --until=${shellWord(until)}`);
  }
}

function alertLine({ alert_id, alert_severity, alert_key, start_time, end_time, title, incident }: AlertItem): string {
  const times = end_time ? `${timeText(start_time)} to ${timeText(end_time)}` : timeText(start_time);
  const more = [alert_key, incident && `incident ${incident.incident_id}`].filter((part) => part !== undefined);
  return `${alert_id}  ${(alert_severity ?? '-').padEnd(8)}  ${times}  ${title}${inBrackets(more)}`;
}

const incidentLine = ({ incident_id, created_at, title, owner }: IncidentInfo) =>
  `${incident_id}  ${timeText(created_at).padEnd(20)}  ${title}${inBrackets(owner ? [owner.member_name] : [])}`;

const memberLine = ({ member_id, member_name }: MemberItem) => `${String(member_id).padEnd(20)}  ${member_name}`;

const inBrackets = (parts: readonly string[]) => (parts.length > 0 ? ` (${parts.join(', ')})` : '');

/** Such as `2026-11-20T08:30:00Z`; `-` if there is no such time. */
const timeText = (seconds: number | undefined) =>
  seconds === undefined ? '-' : new Date(seconds * 1_000).toISOString().replace('.000', '');
