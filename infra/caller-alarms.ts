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
import { createAlarm, metricsNamespace, PERIOD } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const FIVE_MINUTES = Duration.minutes(5);
/** Fewer calls in five minutes are no share of anything. */
const FEWEST = 300;
/** The share of the operations' calls that are refused with 429 from which on somebody has to look. */
const MANY_REFUSED = 0.1;
/** The share of `stageRate` from which on a few more calls are refused, whoever sends them. */
const NEARLY_ALL = 0.8;
/** Calls a minute that no operation has: half of what one such route takes. */
const FLOOD = 3_000;
/** Of all calls. A caller's mistake, or strangers. */
const MANY_ERRORS = 0.5;

export interface CallerAlarmsProps {
  readonly api: RestApi;
  readonly accessLog: ILogGroup;
  readonly settings: Pick<DeploymentSettings, 'stageRate' | 'noTrafficMinutes'>;
}

/** Who is refused, who floods, and whether anybody calls: from the access log, which has each answer, whoever made it. */
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
      createAlarm(this, name, `${description}. What to do: docs/operate.md`, metric, threshold, periods);

    // One filter, and a metric for each operation: as many as there are, whoever calls.
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
        expression: `IF(part >= ${FEWEST}, part / whole, 0)`,
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
        'An operation comes near the rate that all accounts share',
        new MathExpression({
          expression: `MAX([${Object.keys(calls).join(', ')}]) / 60`,
          usingMetrics: calls,
          period: PERIOD,
          label: 'Calls a second of the busiest operation',
        }),
        NEARLY_ALL * stageRate,
        2,
      ),
      alarm(
        'Flood',
        'Many calls go to paths and methods that are no operation',
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

  /** No data is what it is for. */
  private noTraffic(api: RestApi, minutes: number): Alarm {
    const calls = api.metricCount({ statistic: Stats.SUM, period: Duration.minutes(minutes) });
    return new Alarm(this, 'NoTraffic', {
      alarmDescription: `Nobody has called for ${minutes} minutes. What to do: docs/operate.md`,
      metric: calls,
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  /** The accounts that are refused most, with what refused them: one rule, however many accounts there are. */
  private rankRefused(accessLog: ILogGroup): void {
    new CfnInsightRule(this, 'RefusedAccounts', {
      ruleName: `${Stack.of(this).stackName}-refused-accounts`,
      ruleState: 'ENABLED',
      ruleBody: Stack.of(this).toJsonString({
        Schema: { Name: 'CloudWatchLogRule', Version: 1 },
        LogGroupNames: [accessLog.logGroupName],
        LogFormat: 'JSON',
        // `error` is THROTTLED of the usage plan or the stage, and `-` of the exact limit, which the function tells.
        Contribution: {
          Keys: ['$.account_id', '$.resource', '$.error'],
          Filters: [{ Match: '$.status', In: ['429'] }],
        },
        AggregateOn: 'Count',
      }),
    });
  }
}
