import { Stack } from 'aws-cdk-lib';
import { type Alarm, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { ServiceFunction } from './function.ts';
import { createAlarm, PERIOD, whatToDo } from './stack-metrics.ts';

/** Alarm at this share of the account's concurrent executions. */
const NEARLY_ALL = 0.8;

/** Alarms on Lambda's capacity: one for each function created before this construct, and one for the account's concurrency. */
export class CapacityAlarms extends Construct {
  readonly alarms: readonly Alarm[];

  /** @param concurrencyLimit of the account in the region */
  constructor(scope: Construct, id: string, concurrencyLimit: number) {
    super(scope, id);
    const functions = Stack.of(this)
      .node.findAll()
      .filter((one) => one instanceof ServiceFunction);
    const throttled = functions.map(({ name, lambda }) =>
      createAlarm(
        this,
        `Throttled-${name}`,
        `Lambda refuses calls of ${name}. ${whatToDo('Throttled')}`,
        lambda.metricThrottles({ period: PERIOD }),
        1,
        2,
      ),
    );
    const executions = new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'ConcurrentExecutions',
      statistic: Stats.MAXIMUM,
      period: PERIOD,
    });
    const near = createAlarm(
      this,
      'ConcurrencyNearLimit',
      `The account comes near its limit of concurrent executions. ${whatToDo('ConcurrencyNearLimit')}`,
      executions,
      Math.ceil(NEARLY_ALL * concurrencyLimit),
      2,
    );
    this.alarms = [...throttled, near];
  }
}
