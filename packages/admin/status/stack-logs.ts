/** What log lines of a deployed stack tell, of the window of the figures. */
import { type CloudWatchLogs, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import { REFUSED_KEY_MESSAGE } from '../../../lib/http/usage-key-authorizer.ts';
import { toInt64 } from '../../../lib/shared/json.ts';
import { type Attempt, type RefusedKey, WINDOW_MINUTES } from './measured.ts';

/** The fields of the lines with a message, oldest first; none if there is no log group. */
async function linesOf(client: CloudWatchLogs, logGroupName: string | undefined, text: string, nowMs: number) {
  if (logGroupName === undefined) return [];
  const wanted = {
    logGroupName,
    startTime: nowMs - WINDOW_MINUTES * 60_000,
    endTime: nowMs,
    filterPattern: `{ $.message = "${text}" }`,
  };
  const pages = await Array.fromAsync(paginateFilterLogEvents({ client }, wanted));
  return pages.flatMap(({ events = [] }) =>
    events.map(({ message = '', timestamp: at_ms = 0 }) => ({
      fields: JSON.parse(message) as Record<string, unknown>,
      at_ms,
    })),
  );
}

export async function readAttempts(
  client: CloudWatchLogs,
  finishMergesLogGroup: string | undefined,
  nowMs: number,
): Promise<Attempt[]> {
  const lines = await linesOf(client, finishMergesLogGroup, 'merge not finished', nowMs);
  return lines.flatMap(({ fields: { incident_id, sequence, error_name: error }, at_ms }) =>
    sequence === undefined
      ? []
      : [{ incident_id: String(incident_id), sequence: Number(sequence), error: String(error), at_ms }],
  );
}

/** Each refused key once, with its last refusal. The authorizer logs one at most about once a minute. */
export async function readRefusedKeys(
  client: CloudWatchLogs,
  authorizerLogGroup: string | undefined,
  nowMs: number,
): Promise<RefusedKey[]> {
  const lines = await linesOf(client, authorizerLogGroup, REFUSED_KEY_MESSAGE, nowMs);
  const found = lines.map(({ fields: { account_id, app_key_id, reason }, at_ms }) => ({
    ...{ account_id: toInt64(String(account_id)), app_key_id: String(app_key_id), reason: String(reason) },
    last_ms: at_ms,
  }));
  const latestFirst = found.sort((a, b) => b.last_ms - a.last_ms);
  return latestFirst.filter((key, index) => latestFirst.findIndex((of) => of.app_key_id === key.app_key_id) === index);
}
