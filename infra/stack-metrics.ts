/** The metrics that alarms and dashboard read. */
import { Duration, Lazy, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { SERVICE } from '../lib/shared/log.ts';
import { METRICS, type OperationalEvent } from '../lib/shared/metrics.ts';

export const PERIOD = Duration.minutes(1);
/** Milliseconds. Calls are answered within 3 s even if a dependency is slow, so this warns before callers see errors. */
export const SLOW_P99_MS = 2_000;

/** The namespace of the stack that a metric is used in, so that two stages in a region do not share metrics and alarms. */
export const metricsNamespace = Lazy.uncachedString({
  produce: ({ scope }) => `${METRICS.namespace}/${Stack.of(scope).stackName}`,
});
/** Names the runbook of an alarm. Alarms that differ only after the hyphen, such as `Slow-…`, share one. */
export const whatToDo = (alarmId: string) => `What to do: docs/operate.md#${alarmId.split('-')[0]?.toLowerCase()}`;

/** A metric that the functions write. */
export const ownMetric = (metricName: string, dimensionsMap: Record<string, string>): Metric =>
  new Metric({
    namespace: metricsNamespace,
    metricName,
    dimensionsMap: { service: SERVICE, ...dimensionsMap },
    statistic: Stats.SUM,
    period: PERIOD,
  });

export const eventMetric = (event: OperationalEvent) => ownMetric(METRICS.events, { event });

/** Reads or writes of rows that DynamoDB throttled; a request of many rows can count many. */
export const throttleEvents = (table: ITableV2, what: 'Read' | 'Write') =>
  table.metric(`${what}ThrottleEvents`, { statistic: Stats.SUM, period: PERIOD });

/** Raised when a metric is at the threshold or above in each of so many periods; a period without data is fine. */
export const createAlarm = (
  scope: Construct,
  id: string,
  alarmDescription: string,
  metric: IMetric,
  threshold: number,
  evaluationPeriods = 1,
): Alarm =>
  new Alarm(scope, id, {
    alarmDescription,
    metric,
    threshold,
    evaluationPeriods,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
