import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { addLineCount, answeredWith, OPERATION_LINES } from './access-log.ts';
import { eventMetric } from './stack-metrics.ts';

/** The sentence that names the runbook of an alarm. */
export const whatToDo = (runbookUrl: string, alarmId: string) => `What to do: ${runbookUrl}#${alarmId.toLowerCase()}`;

/** The share of the operations' calls that may fail: the objective is 99.9 % (docs/operate.md). */
const ERROR_BUDGET = 0.001;

/** Burn rates of the error budget. An alarm is raised if both windows exceed the rate: the short one shows that calls still fail. */
const BURN_RATES = [
  { id: 'ErrorBudgetFast', rate: 14.4, long: Duration.hours(1), short: Duration.minutes(5) },
  { id: 'ErrorBudgetSlow', rate: 6, long: Duration.hours(6), short: Duration.minutes(30) },
] as const;

/** An alarm requires this many failed calls in the long window, so that a single error in a quiet hour raises none. */
const MIN_FAILURES = 5;

/**
 * Alarms on the service level objective. They count lines of the access log: API Gateway's own metric 5XXError omits answers whose
 * status a gateway response changed, such as those for a failing authorizer. What a setting refuses is no failure.
 * @returns the composite alarms; the alarms that they consist of notify nobody
 */
export function addServiceLevelAlarms(parent: Construct, accessLog: ILogGroup, runbookUrl: string): AlarmBase[] {
  const scope = new Construct(parent, 'ServiceLevel');
  const usingMetrics = {
    answered: addLineCount(scope, accessLog, 'AnsweredCalls', OPERATION_LINES),
    failed: addLineCount(scope, accessLog, 'FailedCalls', FilterPattern.all(OPERATION_LINES, answeredWith('5*'))),
  };
  const failed = '(failed - FILL(refused, 0))';
  return BURN_RATES.map(({ id, rate, long, short }) => {
    const windowAlarm = (name: string, period: Duration, expression: string) =>
      new Alarm(scope, `${id}${name}`, {
        alarmDescription: `Part of ${id}: the error budget burns ${rate} times too fast for ${period.toHumanString()}`,
        metric: new MathExpression({
          expression,
          usingMetrics: { ...usingMetrics, refused: eventMetric('refused_by_setting').with({ period }) },
          period,
          label: 'Failed calls, a share of all',
        }),
        threshold: rate * ERROR_BUDGET,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
    const windowAlarms = [
      windowAlarm('Long', long, `IF(${failed} >= ${MIN_FAILURES}, ${failed} / answered, 0)`),
      windowAlarm('Short', short, `${failed} / answered`),
    ];
    return new CompositeAlarm(scope, id, {
      alarmDescription: `The error budget burns ${rate} times too fast. ${whatToDo(runbookUrl, id)}`,
      alarmRule: AlarmRule.allOf(...windowAlarms.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
    });
  });
}
