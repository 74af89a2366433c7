/**
 * The index of open alerts: an alert that has not ended has both attributes. It has only keys, so that no other change of an alert is
 * written to it.
 */
import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../aws/http-handler.ts';
import type { Int64 } from '../shared/json.ts';
import type { Table } from './client.ts';
import { attribute, Expression, expression, expressionsOf } from './expression.ts';
import { alertShard, type PartitionOf, SEQUENCE, tenantPartition } from './keys.ts';
import type { PageOptions } from './read.ts';

const NAME = 'OPEN_ALERTS';

export const OPEN_ALERTS_INDEX = {
  name: 'open-alerts',
  partitionKey: 'open_partition',
  sortKey: 'open_at',
  projection: 'KEYS_ONLY',
  /** What its partition keys match, as conditions on `dynamodb:LeadingKeys` have it. */
  pattern: `${tenantPartition('*', NAME)}#*`,
} as const;

/** How many partition keys of the index an account has for each severity: few, since a list queries each. */
const OPEN_SHARDS = 4;

const openAlertPartition = (account: Int64, severity: string, shard: number): PartitionOf<'alert'> =>
  `${tenantPartition(account, NAME)}#${severity}#${shard}`;

/** Keys of the index. Sort keys are in the order of the alerts' starts. */
export const openAlerts = {
  partition: (account: Int64, severity: string, alertId: string) =>
    openAlertPartition(account, severity, Number.parseInt(alertShard(alertId), 16) % OPEN_SHARDS),
  partitions: (account: Int64, severities: readonly string[]) =>
    severities.flatMap((severity) =>
      Array.from({ length: OPEN_SHARDS }, (_, shard) => openAlertPartition(account, severity, shard)),
    ),
  sortKey: (startedAtMs: number, alertId: string) => `${SEQUENCE.write(startedAtMs)}#${alertId}`,
  alertIdOf: (sortKey: string) => sortKey.slice(sortKey.indexOf('#') + 1),
};

/**
 * Reads sort keys of a partition of the index of open alerts, eventually consistent: as many as the limit, unless there are fewer. On AWS that
 * is one page; DynamoDB Local counts the whole rows for its pages of 1 MB.
 */
export async function queryOpenAlerts(
  { name, client, signal }: Table,
  partition: PartitionOf<'alert'>,
  { limit, after, descending = false }: PageOptions,
): Promise<string[]> {
  const [pk, sk] = [attribute(OPEN_ALERTS_INDEX.partitionKey), attribute(OPEN_ALERTS_INDEX.sortKey)];
  const sign = new Expression([descending ? ' < ' : ' > ']);
  const bound = after === undefined ? undefined : expression` AND ${sk}${sign}${after}`;
  const input = {
    TableName: name,
    IndexName: OPEN_ALERTS_INDEX.name,
    ...expressionsOf({ KeyConditionExpression: expression`${pk} = ${partition}${bound}` }),
    Limit: limit,
    ScanIndexForward: !descending,
  };
  const found: string[] = [];
  for await (const { Items = [] } of paginateQuery({ client }, input, optionsOf(signal))) {
    found.push(...Items.map((item) => String(item[OPEN_ALERTS_INDEX.sortKey])));
    if (found.length >= limit) break;
  }
  return found;
}
