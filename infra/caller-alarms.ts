import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  CfnInsightRule,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { operations } from '../lib/http/operations.ts';
import { addLineCount, answeredWith, OPERATION_LINES, OTHER_LINES } from './access-log.ts';
import { createRunbookAlarm, metricsNamespace, PERIOD, whatToDo } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const FIVE_MINUTES = Duration.minutes(5);
/** Fewer refusals or errors than this in five minutes raise no alarm, whatever their share of the calls. */
const MIN_COUNT = 300;
/** Alarm at this share of the operations' calls that are refused with 429. */
const MANY_REFUSED = 0.1;
/** Alarm at this share of `stageRate`: above that rate, API Gateway refuses calls of all accounts. */
const NEAR_LIMIT = 0.8;
/** Alarm at this many calls a minute to other paths than operations: half of what the throttle of one such route allows. */
const FLOOD = 3_000;
/** Alarm at this share of all calls that are answered with 4xx: a caller has a bug, or somebody guesses app keys. */
const MANY_ERRORS = 0.5;

export interface CallerAlarmsProps {
  readonly api: RestApi;
  readonly accessLog: ILogGroup;
  readonly settings: Pick<DeploymentSettings, 'stageRate' | 'noTrafficMinutes'>;
}

/** Alarms on what callers do: too many calls, calls that fail, or none. */
export function addCallerAlarms(parent: Construct, { api, accessLog, settings }: CallerAlarmsProps): Alarm[] {
  const scope = new Construct(parent, 'Callers');
  const metricOf = (metricName: string, options = {}) =>
    new Metric({ namespace: metricsNamespace, metricName, statistic: Stats.SUM, ...options });
  const share = (part: IMetric, whole: IMetric) =>
    new MathExpression({
      expression: `IF(part >= ${MIN_COUNT}, part / whole, 0)`,
      usingMetrics: { part, whole },
      period: FIVE_MINUTES,
      label: 'Share of all calls',
    });

  // One filter makes a metric for each operation, since `resource` is a dimension. It does not count other routes.
  addLineCount(scope, accessLog, 'OperationCalls', OPERATION_LINES, { resource: '$.resource' });
  const calls = Object.fromEntries(
    operations.map(({ path }, index) => [
      `calls${index}`,
      metricOf('OperationCalls', { dimensionsMap: { resource: path }, period: PERIOD }),
    ]),
  );
  const alarms = [
    createRunbookAlarm(
      scope,
      'ManyRefused',
      'A tenth of the calls of operations are refused with 429',
      share(addLineCount(scope, accessLog, 'RefusedCalls', answeredWith('429')), metricOf('AnsweredCalls')),
      MANY_REFUSED,
      3,
    ),
    createRunbookAlarm(
      scope,
      'StageRateNear',
      'An operation comes near stageRate, which all accounts share',
      new MathExpression({
        expression: `MAX([${Object.keys(calls).join(', ')}]) / 60`,
        usingMetrics: calls,
        period: PERIOD,
        label: 'Calls a second of the busiest operation',
      }),
      NEAR_LIMIT * settings.stageRate,
      2,
    ),
    createRunbookAlarm(
      scope,
      'Flood',
      'Many calls go to paths that are no operation',
      addLineCount(scope, accessLog, 'OtherCalls', OTHER_LINES).with({ period: PERIOD }),
      FLOOD,
      3,
    ),
    createRunbookAlarm(
      scope,
      'ManyClientErrors',
      'Half of the calls are answered with 4xx',
      share(api.metricClientError({ statistic: Stats.SUM }), api.metricCount({ statistic: Stats.SUM })),
      MANY_ERRORS,
      3,
    ),
  ];
  if (settings.noTrafficMinutes > 0) alarms.push(noTrafficAlarm(scope, api, settings.noTrafficMinutes));
  rankRefusedAccounts(scope, accessLog);
  return alarms;
}

/** Without calls the metric has no data, so missing data raises this alarm. */
const noTrafficAlarm = (scope: Construct, api: RestApi, minutes: number): Alarm =>
  new Alarm(scope, 'NoTraffic', {
    alarmDescription: `Nobody has called for ${minutes} minutes. ${whatToDo('NoTraffic')}`,
    metric: api.metricCount({ statistic: Stats.SUM, period: Duration.minutes(minutes) }),
    threshold: 1,
    evaluationPeriods: 1,
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: TreatMissingData.BREACHING,
  });

/** Ranks accounts by their calls that got 429, for each operation and cause. One rule serves any number of accounts. */
const rankRefusedAccounts = (scope: Construct, accessLog: ILogGroup): CfnInsightRule =>
  new CfnInsightRule(scope, 'RefusedAccounts', {
    ruleName: `${Stack.of(scope).stackName}-refused-accounts`,
    ruleState: 'ENABLED',
    ruleBody: Stack.of(scope).toJsonString({
      Schema: { Name: 'CloudWatchLogRule', Version: 1 },
      LogGroupNames: [accessLog.logGroupName],
      LogFormat: 'JSON',
      // `error` is THROTTLED if the usage plan or the stage refused the call, and `-` if the function's exact limit did.
      Contribution: {
        Keys: ['$.account_id', '$.resource', '$.error'],
        Filters: [{ Match: '$.status', In: ['429'] }],
      },
      AggregateOn: 'Count',
    }),
  });
