import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { operations } from '../lib/http/operations.ts';
import { metricsNamespace, whatToDo } from './stack-metrics.ts';

/** The share of the operations' calls that may fail: the objective is 99.9 % (docs/operate.md). */
const ERROR_BUDGET = 0.001;

/** Burn rates of the error budget. One raises an alarm if both windows exceed it: the short window shows that it goes on. */
const BURN_RATES = [
  { id: 'ErrorBudgetFast', rate: 14.4, long: Duration.hours(1), short: Duration.minutes(5) },
  { id: 'ErrorBudgetSlow', rate: 6, long: Duration.hours(6), short: Duration.minutes(30) },
] as const;

/** Failed calls in the long window that an alarm requires: a single error in a quiet hour raises none. */
const MIN_FAILURES = 5;

/**
 * Alarms on the service level objective. They count each answer to an operation's call in the access log, whether a function or API
 * Gateway made it. API Gateway's own metric 5XXError omits answers whose status a gateway response changed, such as those for a
 * failing authorizer.
 */
export class ServiceLevel extends Construct {
  /** The composite alarms. The alarms that they consist of notify nobody. */
  readonly alarms: readonly AlarmBase[];

  constructor(scope: Construct, id: string, accessLog: ILogGroup) {
    super(scope, id);
    const ofOperations = operations.map(({ path }) => FilterPattern.stringValue('$.resource', '=', path));
    const answered = FilterPattern.any(...ofOperations);
    const count = (metricName: string, filterPattern: ReturnType<typeof FilterPattern.any>) => {
      const counted = { metricNamespace: metricsNamespace, metricName, metricValue: '1', defaultValue: 0 };
      const filter = new MetricFilter(this, metricName, { logGroup: accessLog, filterPattern, ...counted });
      return filter.metric({ statistic: Stats.SUM });
    };
    const usingMetrics = {
      answered: count('AnsweredCalls', answered),
      failed: count('FailedCalls', FilterPattern.all(answered, FilterPattern.stringValue('$.status', '=', '5*'))),
    };

    this.alarms = BURN_RATES.map(({ id, rate, long, short }) => {
      const window = (name: string, period: Duration, expression: string) =>
        new Alarm(this, `${id}${name}`, {
          alarmDescription: `Part of ${id}: the error budget burns ${rate} times too fast for ${period.toHumanString()}`,
          metric: new MathExpression({ expression, usingMetrics, period, label: 'Failed calls, a share of all' }),
          threshold: rate * ERROR_BUDGET,
          comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
          evaluationPeriods: 1,
          treatMissingData: TreatMissingData.NOT_BREACHING,
        });
      const windows = [
        window('Long', long, `IF(failed >= ${MIN_FAILURES}, failed / answered, 0)`),
        window('Short', short, 'failed / answered'),
      ];
      return new CompositeAlarm(this, id, {
        alarmDescription: `The error budget burns ${rate} times too fast. ${whatToDo(id)}`,
        alarmRule: AlarmRule.allOf(...windows.map((each) => AlarmRule.fromAlarm(each, AlarmState.ALARM))),
      });
    });
  }
}
