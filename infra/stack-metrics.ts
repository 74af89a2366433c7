/** The metrics that alarms and the dashboard read. */

import { Duration, Lazy, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { MetricType } from 'aws-cdk-lib/aws-lambda';
import type { DynamoEventSource, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { METRICS, type OperationalEvent, SERVICE } from '../lib/shared/log.ts';

export const PERIOD = Duration.minutes(1);

/**
 * The namespace of the service's own metrics. It contains the stack's name, so that two stacks do not share metrics and alarms.
 * Lazy, since a constant has no stack; uncached, since one process may synthesize several stacks.
 */
export const metricsNamespace = Lazy.uncachedString({
  produce: ({ scope }) => `${METRICS.namespace}/${Stack.of(scope).stackName}`,
});

/** A metric that the functions write: see `lib/shared/log.ts`. */
export const serviceMetric = (metricName: string, dimensionsMap: Record<string, string> = {}): Metric =>
  new Metric({
    namespace: metricsNamespace,
    metricName,
    dimensionsMap: { service: SERVICE, ...dimensionsMap },
    statistic: Stats.SUM,
    period: PERIOD,
  });

/** Counts something that an operator must know (`OperationalEvent`); not the events that relay publishes. */
export const operationalEventMetric = (event: OperationalEvent) => serviceMetric(METRICS.events, { event });

/** Counts reads or writes of rows that DynamoDB throttled: a request for many rows can count more than once. */
export const throttleEvents = (table: ITableV2, access: 'Read' | 'Write') =>
  table.metric(`${access}ThrottleEvents`, { statistic: Stats.SUM, period: PERIOD });

/** How late each replica of the table gets a write of this region, in milliseconds. */
export const replicationLatencies = (table: ITableV2, replicaRegions: readonly string[]) =>
  replicaRegions.map((ReceivingRegion) =>
    table.metric('ReplicationLatency', {
      dimensionsMap: { TableName: table.tableName, ReceivingRegion },
      statistic: Stats.AVERAGE,
      period: PERIOD,
    }),
  );

/** What the alarms read of an event source mapping: Lambda counts it only for a source with this in its options. */
export const COUNTED = { metricsConfig: { metrics: [MetricType.EVENT_COUNT] } };

/** Counts the events of a source that is {@link COUNTED}. */
export const eventCounts = ({ eventSourceMappingId }: SqsEventSource | DynamoEventSource) => {
  const count = (metricName: string, period: Duration) =>
    new Metric({
      namespace: 'AWS/Lambda',
      metricName,
      dimensionsMap: { EventSourceMappingUUID: eventSourceMappingId },
      statistic: Stats.SUM,
      period,
    });
  return {
    /** Each delivery of a message that the function reported as failed, or for which it could not be called. */
    failed: count('FailedInvokeEventCount', PERIOD),
    /** Events read from the source: 0 if it has none, no data if the mapping does not read it. */
    polled: count('PolledEventCount', Duration.minutes(5)),
  };
};
export type EventCounts = ReturnType<typeof eventCounts>;

/** Fewer failures in a period count as none, so that one or two in a quiet minute raise no alarm. */
const MIN_FAILURES = 5;

export const failedShare = (failed: IMetric, all: IMetric, { label, period }: { label: string; period: Duration }) =>
  new MathExpression({
    expression: `IF(FILL(failed, 0) >= ${MIN_FAILURES}, failed / all, 0)`,
    usingMetrics: { failed, all },
    label,
    period,
  });

/** The sum of metrics. One without data counts as 0. An alarm can read at most ten metrics. */
export const sumOf = (
  label: string,
  usingMetrics: Record<string, IMetric>,
  period: Duration = PERIOD,
): MathExpression =>
  new MathExpression({
    expression: Object.keys(usingMetrics)
      .map((name) => `FILL(${name}, 0)`)
      .join(' + '),
    usingMetrics,
    label,
    period,
  });
