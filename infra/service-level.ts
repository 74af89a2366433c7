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
import { operationalEventMetric } from './stack-metrics.ts';

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
 * status a gateway response changed, such as those for a failing authorizer. Calls of what a setting has switched off are no failures.
 * @param whatToDo the sentence that names the runbook of an alarm
 * @returns the composite alarms; the alarms that they consist of notify nobody
 */
export function addServiceLevelAlarms(
  parent: Construct,
  accessLog: ILogGroup,
  whatToDo: (alarmId: string) => string,
): AlarmBase[] {
  const scope = new Construct(parent, 'ServiceLevel');
  const usingMetrics = {
    answered: addLineCount(scope, accessLog, 'AnsweredCalls', OPERATION_LINES),
    failed: addLineCount(scope, accessLog, 'FailedCalls', FilterPattern.all(OPERATION_LINES, answeredWith('5*'))),
  };
  const failures = '(failed - FILL(switchedOff, 0))';
  return BURN_RATES.map(({ id, rate, long, short }) => {
    const windowAlarm = (name: string, period: Duration, expression: string) =>
      new Alarm(scope, `${id}${name}`, {
        alarmDescription: `Part of ${id}: the error budget burns ${rate} times too fast for ${period.toHumanString()}`,
        metric: new MathExpression({
          expression,
          usingMetrics: { ...usingMetrics, switchedOff: operationalEventMetric('refused_by_setting').with({ period }) },
          period,
          label: 'Failed calls, a share of all',
        }),
        threshold: rate * ERROR_BUDGET,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
    const windowAlarms = [
      windowAlarm('Long', long, `IF(${failures} >= ${MIN_FAILURES}, ${failures} / answered, 0)`),
      windowAlarm('Short', short, `${failures} / answered`),
    ];
    return new CompositeAlarm(scope, id, {
      alarmDescription: `The error budget burns ${rate} times too fast. ${whatToDo(id)}`,
      alarmRule: AlarmRule.allOf(...windowAlarms.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
    });
  });
}
