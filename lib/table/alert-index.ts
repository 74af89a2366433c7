/**
 * The index of the alerts of keys by their starts: open ones and ended ones have partitions apart. It has only keys, so that no other change
 * of an alert is written to it. A reader decides by the row: the index may be behind.
 */
import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../aws/http-handler.ts';
import { type AlertRow, SEVERITIES, type Severity } from '../model/alert.ts';
import type { Int64 } from '../shared/json.ts';
import type { Table } from './client.ts';
import { attribute, Expression, expression, expressionsOf } from './expression.ts';
import { alertShard, type PartitionOf, SEQUENCE, tenantPartition } from './keys.ts';
import type { PageOptions } from './read.ts';

const NAME = 'ALERT_INDEX';

export const ALERT_INDEX = {
  name: 'alerts',
  partitionKey: 'index_partition',
  sortKey: 'index_place',
  projection: 'KEYS_ONLY',
  /** What its partition keys match, as conditions on `dynamodb:LeadingKeys` have it. */
  pattern: `${tenantPartition('*', NAME)}#*`,
} as const;

/** How many partition keys an account has for each state and severity: few, since a list queries each. */
const SHARDS = 4;
/** In place of the severity of an alert of which only the end was told. */
export const NO_SEVERITY = 'None';

export type IndexState = 'OPEN' | 'ENDED';

const partitionOf = (account: Int64, state: IndexState, severity: string, shard: number): PartitionOf<'alert'> =>
  `${tenantPartition(account, NAME)}#${state}#${severity}#${shard}`;

export const alertIndex = {
  /** The attributes by which an alert is in the index. */
  entry(account: Int64, { alert_id, alert_severity, started_at_ms = 0, ended_at_ms }: Indexed) {
    const state = ended_at_ms === undefined ? 'OPEN' : 'ENDED';
    const shard = Number.parseInt(alertShard(alert_id), 16) % SHARDS;
    return {
      index_partition: partitionOf(account, state, alert_severity ?? NO_SEVERITY, shard),
      index_place: alertIndex.place(started_at_ms, alert_id),
    };
  },
  /** The partition keys of alerts in a state. @param severities absent: all, and none */
  partitions: (
    account: Int64,
    state: IndexState,
    severities: readonly string[] = [...SEVERITIES, ...(state === 'ENDED' ? [NO_SEVERITY] : [])],
  ) =>
    severities.flatMap((severity) =>
      Array.from({ length: SHARDS }, (_, shard) => partitionOf(account, state, severity, shard)),
    ),
  /** The sort key. Sort keys are in the order of the alerts' starts: with the id '', that of a time is before those of all alerts then. */
  place: (startedAtMs: number, alertId: string) => `${SEQUENCE.write(startedAtMs)}#${alertId}`,
  startOf: (place: string) => Number(place.slice(0, place.indexOf('#'))),
  alertIdOf: (place: string) => place.slice(place.indexOf('#') + 1),
};

interface Indexed extends Pick<AlertRow, 'alert_id' | 'started_at_ms'> {
  readonly alert_severity?: Severity | undefined;
  readonly ended_at_ms?: number | undefined;
}

/**
 * Reads sort keys of a partition of the index, eventually consistent: as many as the limit, unless there are fewer. On AWS that
 * is one page; DynamoDB Local counts the whole rows for its pages of 1 MB.
 */
export async function queryAlertIndex(
  { name, client, signal }: Table,
  partition: PartitionOf<'alert'>,
  { limit, after, descending = false }: PageOptions,
): Promise<string[]> {
  const [pk, sk] = [attribute(ALERT_INDEX.partitionKey), attribute(ALERT_INDEX.sortKey)];
  const sign = new Expression([descending ? ' < ' : ' > ']);
  const bound = after === undefined ? undefined : expression` AND ${sk}${sign}${after}`;
  const input = {
    TableName: name,
    IndexName: ALERT_INDEX.name,
    ...expressionsOf({ KeyConditionExpression: expression`${pk} = ${partition}${bound}` }),
    Limit: limit,
    ScanIndexForward: !descending,
  };
  const found: string[] = [];
  for await (const { Items = [] } of paginateQuery({ client }, input, optionsOf(signal))) {
    found.push(...Items.map((item) => String(item[ALERT_INDEX.sortKey])));
    if (found.length >= limit) break;
  }
  return found;
}
