import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type IFunction, type IVersion, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { METRICS } from '../lib/shared/metrics.ts';
import { createAlarm, ownMetric, PERIOD, SLOW_P99_MS } from './stack-metrics.ts';

/** Internal errors within this time that roll a new version back. */
const MISTAKES = { count: 3, period: Duration.minutes(5) };

/**
 * Canary updates: an alias for each operation, of whose calls a new version gets 10 % for five
 * minutes. An alarm on its errors or latency rolls the version back, and CloudFormation then the whole update.
 */
export class CanaryRollout extends Construct {
  private readonly application = new LambdaApplication(this, 'Application');

  /** @returns what is to be called in place of the function */
  add(operation: string, fn: LambdaFunction): IFunction {
    // aws-cdk-lib is not compiled with exactOptionalPropertyTypes: its classes do not fit its own interfaces.
    const version = fn.currentVersion as IVersion;
    const alias = new Alias(this, `${operation}-live`, { aliasName: 'live', version });
    const { count, period } = MISTAKES;
    const mistakes = new MathExpression({
      expression: 'FILL(internal, 0) + FILL(crashed, 0)',
      usingMetrics: {
        internal: ownMetric(METRICS.calls, { operation, code: 'InternalError' }).with({ period }),
        crashed: fn.metricErrors({ period }),
      },
      label: 'Internal errors',
      period,
    });
    const slowest = fn.metricDuration({ statistic: Stats.p(99), period: PERIOD });
    const alarm = (id: string, ...raised: [metric: IMetric, threshold: number, periods: number]) =>
      createAlarm(this, id, `Rolls a new version back: ${id}`, ...raised);
    new LambdaDeploymentGroup(this, `${operation}-group`, {
      application: this.application,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [
        alarm(`${operation}-errors`, mistakes, count, 1),
        alarm(`${operation}-latency`, slowest, SLOW_P99_MS, 2),
      ],
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    return alias as IFunction;
  }
}
