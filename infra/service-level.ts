import { Duration } from 'aws-cdk-lib';
import { AlarmRule, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { operations } from '../lib/operations/index.ts';
import { addCallCount, answeredWith } from './access-log.ts';
import type { Alarms } from './alarms.ts';
import { operationalEventMetric } from './stack-metrics.ts';

/** The share of the operations' calls that may fail: the objective is 99.9 % (docs/runbook.md). */
const ERROR_BUDGET = 0.001;

/** Burn rates of the error budget. An alarm is raised if both windows reach the rate: the short one shows that calls still fail. */
const BURN_RATES = [
  { id: 'ErrorBudgetFast', urgency: 'page', rate: 14.4, long: Duration.hours(1), short: Duration.minutes(5) },
  { id: 'ErrorBudgetSlow', urgency: 'ticket', rate: 6, long: Duration.hours(6), short: Duration.minutes(30) },
] as const;

/** An alarm requires this many failed calls in the long window, so that a single error in a quiet hour raises none. */
const MIN_FAILURES = 5;

/**
 * Alarms on the service level objective. They count lines of the access log: API Gateway's own metric 5XXError omits answers whose
 * status a gateway response changed, such as those for a failing authorizer. Calls of what a setting has switched off are no failures.
 */
export function addServiceLevelAlarms(alarms: Alarms, scope: Construct, accessLog: ILogGroup): void {
  const usingMetrics = {
    answered: addCallCount(scope, accessLog, 'AnsweredCalls', operations),
    failed: addCallCount(scope, accessLog, 'FailedCalls', operations, answeredWith('5*')),
  };
  const failures = '(failed - FILL(switchedOff, 0))';
  for (const { id, urgency, rate, long, short } of BURN_RATES) {
    const windowAlarm = (name: string, period: Duration, expression: string) =>
      alarms.part(`${id}${name}`, {
        description: `Part of ${id}: the error budget burns ${rate} times too fast for ${period.toHumanString()}`,
        metric: new MathExpression({
          expression,
          usingMetrics: { ...usingMetrics, switchedOff: operationalEventMetric('refused_by_setting').with({ period }) },
          period,
          label: 'Failed calls, a share of all',
        }),
        threshold: rate * ERROR_BUDGET,
      });
    const windowAlarms = [
      windowAlarm('Long', long, `IF(${failures} >= ${MIN_FAILURES}, ${failures} / answered, 0)`),
      windowAlarm('Short', short, `${failures} / answered`),
    ];
    alarms[urgency](id, {
      description: `The error budget burns ${rate} times too fast`,
      rule: AlarmRule.allOf(...windowAlarms),
    });
  }
}
