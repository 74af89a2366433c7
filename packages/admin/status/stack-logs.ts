/** What log lines of a deployed stack tell, of the window of the figures. */
import { type CloudWatchLogs, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import { REFUSED_KEY_MESSAGE } from '../../../lib/http/usage-key-authorizer.ts';
import { toInt64 } from '../../../lib/shared/json.ts';
import { type Attempt, type RefusedKey, WINDOW_MINUTES } from './measured.ts';

type LogGroup = string | undefined;
/** The fields of a line, and when it was written. */
type Line = Readonly<Record<string, unknown>> & { readonly at_ms: number };

/** The lines with a message, oldest first; none if there is no log group. */
async function linesOf(client: CloudWatchLogs, logGroupName: LogGroup, message: string, nowMs: number) {
  if (logGroupName === undefined) return [];
  const window = { startTime: nowMs - WINDOW_MINUTES * 60_000, endTime: nowMs };
  const wanted = { logGroupName, ...window, filterPattern: `{ $.message = "${message}" }` };
  const pages = await Array.fromAsync(paginateFilterLogEvents({ client }, wanted));
  return pages
    .flatMap(({ events = [] }) => events)
    .map(({ message: line = '', timestamp = 0 }): Line => ({ ...JSON.parse(line), at_ms: timestamp }));
}

export async function readAttempts(client: CloudWatchLogs, finishMerges: LogGroup, nowMs: number): Promise<Attempt[]> {
  const lines = await linesOf(client, finishMerges, 'merge not finished', nowMs);
  return lines
    .filter(({ sequence }) => sequence !== undefined)
    .map(({ incident_id, sequence, error_name, at_ms }) => ({
      ...{ incident_id: String(incident_id), sequence: Number(sequence), error: String(error_name), at_ms },
    }));
}

/** Each refused key once, with its last refusal. The authorizer logs it about once a minute. */
export async function readRefusedKeys(
  client: CloudWatchLogs,
  authorizer: LogGroup,
  nowMs: number,
): Promise<RefusedKey[]> {
  const lines = await linesOf(client, authorizer, REFUSED_KEY_MESSAGE, nowMs);
  const keys = lines.map(({ account_id, app_key_id, reason, at_ms: last_ms }) => ({
    ...{ account_id: toInt64(String(account_id)), app_key_id: String(app_key_id), reason: String(reason), last_ms },
  }));
  return [...new Map(keys.map((key) => [key.app_key_id, key])).values()];
}
