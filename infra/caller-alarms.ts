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
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { operations } from '../lib/http/operations.ts';
import { createAlarm, metricsNamespace, PERIOD, whatToDo } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const FIVE_MINUTES = Duration.minutes(5);
/** With fewer refusals or errors in five minutes, no share raises an alarm. */
const MIN_COUNT = 300;
/** Alarm when this share of the operations' calls is refused with 429. */
const MANY_REFUSED = 0.1;
/** Alarm at this share of `stageRate`, beyond which API Gateway refuses calls of every account. */
const NEAR_LIMIT = 0.8;
/** Alarm at this many calls a minute to paths that are no operation: half of the throttle of one such route. */
const FLOOD = 3_000;
/** Alarm when this share of all calls is answered with 4xx: a caller has a bug, or somebody guesses app keys. */
const MANY_ERRORS = 0.5;

export interface CallerAlarmsProps {
  readonly api: RestApi;
  readonly accessLog: ILogGroup;
  readonly settings: Pick<DeploymentSettings, 'stageRate' | 'noTrafficMinutes'>;
}

/**
 * Alarms on what callers do: too many calls, calls that fail, or none. Refused calls are counted in the access log, which has the
 * answers of API Gateway itself, too.
 */
export class CallerAlarms extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { api, accessLog, settings }: CallerAlarmsProps) {
    super(scope, id);
    const { stageRate, noTrafficMinutes } = settings;
    const ofOperations = FilterPattern.any(
      ...operations.map(({ path }) => FilterPattern.stringValue('$.resource', '=', path)),
    );
    const ofOthers = FilterPattern.all(
      ...operations.map(({ path }) => FilterPattern.stringValue('$.resource', '!=', path)),
    );
    const refused = FilterPattern.all(ofOperations, FilterPattern.stringValue('$.status', '=', '429'));
    const count = (metricName: string, filterPattern: typeof refused, dimensions?: Record<string, string>) =>
      new MetricFilter(this, metricName, {
        logGroup: accessLog,
        filterPattern,
        metricNamespace: metricsNamespace,
        metricName,
        metricValue: '1',
        ...(dimensions ? { dimensions } : { defaultValue: 0 }),
      }).metric({ statistic: Stats.SUM });
    const alarm = (name: string, description: string, metric: IMetric, threshold: number, periods: number) =>
      createAlarm(this, name, `${description}. ${whatToDo(name)}`, metric, threshold, periods);

    // One filter makes a metric for each operation, by the dimension `resource`. Other routes get none.
    count('OperationCalls', ofOperations, { resource: '$.resource' });
    const calls = Object.fromEntries(
      operations.map(({ path }, index) => [
        `calls${index}`,
        new Metric({
          namespace: metricsNamespace,
          metricName: 'OperationCalls',
          dimensionsMap: { resource: path },
          statistic: Stats.SUM,
          period: PERIOD,
        }),
      ]),
    );
    const share = (part: IMetric, whole: IMetric) =>
      new MathExpression({
        expression: `IF(part >= ${MIN_COUNT}, part / whole, 0)`,
        usingMetrics: { part, whole },
        period: FIVE_MINUTES,
        label: 'Share of all calls',
      });
    const answered = new Metric({ namespace: metricsNamespace, metricName: 'AnsweredCalls', statistic: Stats.SUM });

    const alarms = [
      alarm(
        'ManyRefused',
        'A tenth of the calls of operations are refused with 429',
        share(count('RefusedCalls', refused), answered),
        MANY_REFUSED,
        3,
      ),
      alarm(
        'StageRateNear',
        'An operation comes near stageRate, which all accounts share',
        new MathExpression({
          expression: `MAX([${Object.keys(calls).join(', ')}]) / 60`,
          usingMetrics: calls,
          period: PERIOD,
          label: 'Calls a second of the busiest operation',
        }),
        NEAR_LIMIT * stageRate,
        2,
      ),
      alarm(
        'Flood',
        'Many calls go to paths that are no operation',
        count('OtherCalls', ofOthers).with({ period: PERIOD }),
        FLOOD,
        3,
      ),
      alarm(
        'ManyClientErrors',
        'Half of the calls are answered with 4xx',
        share(api.metricClientError({ statistic: Stats.SUM }), api.metricCount({ statistic: Stats.SUM })),
        MANY_ERRORS,
        3,
      ),
    ];
    if (noTrafficMinutes > 0) alarms.push(this.noTraffic(api, noTrafficMinutes));
    this.alarms = alarms;
    this.rankRefused(accessLog);
  }

  /** Without calls the metric has no data, so missing data raises this alarm. */
  private noTraffic(api: RestApi, minutes: number): Alarm {
    const calls = api.metricCount({ statistic: Stats.SUM, period: Duration.minutes(minutes) });
    return new Alarm(this, 'NoTraffic', {
      alarmDescription: `Nobody has called for ${minutes} minutes. ${whatToDo('NoTraffic')}`,
      metric: calls,
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  /** Ranks accounts by their calls that got 429, for each operation and cause. One rule serves any number of accounts. */
  private rankRefused(accessLog: ILogGroup): void {
    new CfnInsightRule(this, 'RefusedAccounts', {
      ruleName: `${Stack.of(this).stackName}-refused-accounts`,
      ruleState: 'ENABLED',
      ruleBody: Stack.of(this).toJsonString({
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
  }
}
