/** The metrics that alarms and the dashboard read. */

import { Duration, Lazy, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
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

/**
 * Counts each delivery of a message that a function reported as failed, or for which it could not be called. Lambda counts them only for a
 * source with `EVENT_COUNT` in its `metricsConfig`.
 */
export const failedDeliveries = ({ eventSourceMappingId }: SqsEventSource): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName: 'FailedInvokeEventCount',
    dimensionsMap: { EventSourceMappingUUID: eventSourceMappingId },
    statistic: Stats.SUM,
    period: PERIOD,
  });

/** The sum of metrics. One without data counts as 0. An alarm can read at most ten metrics. */
export const sumOf = (label: string, usingMetrics: Record<string, IMetric>): MathExpression =>
  new MathExpression({
    expression: Object.keys(usingMetrics)
      .map((name) => `FILL(${name}, 0)`)
      .join(' + '),
    usingMetrics,
    label,
    period: PERIOD,
  });
