/** What alarms and the dashboard share: metrics, and functions that create alarms. */
import { Duration, Lazy, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { SERVICE } from '../lib/shared/log.ts';
import { METRICS, type OperationalEvent } from '../lib/shared/metrics.ts';

export const PERIOD = Duration.minutes(1);
/** A call is answered within 3 s even if a dependency is slow, so this warns before callers see errors. */
export const SLOW_P99_MS = 2_000;

/** The namespace of the service's own metrics. It contains the stack's name, so that two stacks do not share metrics and alarms. */
export const metricsNamespace = Lazy.uncachedString({
  produce: ({ scope }) => `${METRICS.namespace}/${Stack.of(scope).stackName}`,
});
/** The sentence that names the runbook of an alarm. Alarms that differ only after the hyphen, such as `Slow-…`, share one. */
export const whatToDo = (alarmId: string) => `What to do: docs/operate.md#${alarmId.split('-')[0]?.toLowerCase()}`;

/** A metric that the functions write: see `lib/shared/metrics.ts`. */
export const serviceMetric = (metricName: string, dimensionsMap: Record<string, string>): Metric =>
  new Metric({
    namespace: metricsNamespace,
    metricName,
    dimensionsMap: { service: SERVICE, ...dimensionsMap },
    statistic: Stats.SUM,
    period: PERIOD,
  });

export const eventMetric = (event: OperationalEvent) => serviceMetric(METRICS.events, { event });

/** Counts reads or writes of rows that DynamoDB throttled: a request for many rows can count more than once. */
export const throttleEvents = (table: ITableV2, access: 'Read' | 'Write') =>
  table.metric(`${access}ThrottleEvents`, { statistic: Stats.SUM, period: PERIOD });

/** An alarm that is raised when the metric reaches the threshold in `evaluationPeriods` periods in a row. No data counts as below it. */
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

/** An alarm whose description names its runbook. */
export const createRunbookAlarm = (
  scope: Construct,
  id: string,
  description: string,
  ...condition: [metric: IMetric, threshold: number, periods?: number]
): Alarm => createAlarm(scope, id, `${description}. ${whatToDo(id)}`, ...condition);
