import { Stack } from 'aws-cdk-lib';
import { type Alarm, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { ServiceFunction } from './function.ts';
import { createAlarm, PERIOD, whatToDo } from './stack-metrics.ts';

/** Alarm at this share of the account's concurrent executions. */
const NEAR_LIMIT = 0.8;

/** Alarms on Lambda's capacity: one for the throttles of each function that exists already, one for the account's concurrency. */
export class CapacityAlarms extends Construct {
  readonly alarms: readonly Alarm[];

  /** @param concurrencyLimit Lambda's quota for the account in the region */
  constructor(scope: Construct, id: string, concurrencyLimit: number) {
    super(scope, id);
    const functions = Stack.of(this)
      .node.findAll()
      .filter((one) => one instanceof ServiceFunction);
    const throttled = functions.map(({ name, lambda }) =>
      createAlarm(
        this,
        `Throttled-${name}`,
        `Lambda throttles ${name}. ${whatToDo('Throttled')}`,
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
      Math.ceil(NEAR_LIMIT * concurrencyLimit),
      2,
    );
    this.alarms = [...throttled, near];
  }
}
