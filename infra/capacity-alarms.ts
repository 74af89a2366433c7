import { Stack } from 'aws-cdk-lib';
import { type Alarm, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { ServiceFunction } from './function.ts';
import { createAlarm, PERIOD } from './stack-metrics.ts';

/** The share of the account's concurrent executions from which on it is nearly used up. */
const NEARLY_ALL = 0.8;

/** Says that Lambda refuses calls of a function, of each that the stack has by now, or will soon refuse those of all. */
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
        `Lambda refuses calls of ${name}. What to do: docs/operate.md`,
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
      'The account comes near its limit of concurrent executions. What to do: docs/operate.md',
      executions,
      Math.ceil(NEARLY_ALL * concurrencyLimit),
      2,
    );
    this.alarms = [...throttled, near];
  }
}
