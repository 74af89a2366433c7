import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import {
  Alias,
  type CfnAlias,
  type IFunction,
  type IVersion,
  type Function as LambdaFunction,
} from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { ListedOperation } from '../lib/http/operations.ts';
import { METRICS } from '../lib/shared/metrics.ts';
import { SmokeHook } from './smoke-hook.ts';
import { createAlarm, ownMetric } from './stack-metrics.ts';

/** As long as a canary lasts. */
const PERIOD = Duration.minutes(5);
/** Fewer failures may be chance. */
const FEWEST_FAILURES = 2;
/** Below this many calls an average means nothing. */
const FEWEST_CALLS = 20;

/**
 * A new version is worse if, in the same minutes, its error rate is above twice that of the old one plus 0.5 %, or its mean duration
 * above twice that of the old one plus 200 ms. A slow table affects both, so an incident does not roll back its own fix.
 */
const WORSE = {
  errors: `IF(failedNew + crashedNew >= ${FEWEST_FAILURES} AND (failedNew + crashedNew) / callsNew > IF(callsAll > callsNew, 2 * (failedAll + crashedAll - failedNew - crashedNew) / (callsAll - callsNew), 0) + 0.005, 1, 0)`,
  latency: `IF(callsNew >= ${FEWEST_CALLS} AND callsAll > callsNew AND timeNew / callsNew > 2 * (timeAll - timeNew) / (callsAll - callsNew) + 200, 1, 0)`,
} as const;

export interface CanaryRolloutProps {
  /** Moves all calls to the new version at once, without comparing. */
  readonly immediate: boolean;
  readonly logRetention: RetentionDays;
}

/**
 * Canary updates: an alias for each operation, of whose calls a new version gets 10 % for five minutes, after a call that makes sure
 * that it works at all. If it is worse than the old one, it is rolled back, and CloudFormation rolls back the whole update.
 */
export class CanaryRollout extends Construct {
  private readonly application = new LambdaApplication(this, 'Application');
  private readonly props: CanaryRolloutProps;

  constructor(scope: Construct, id: string, props: CanaryRolloutProps) {
    super(scope, id);
    this.props = props;
  }

  /** @returns what is to be called in place of the function */
  add(operation: ListedOperation, fn: LambdaFunction): IFunction {
    const { name } = operation;
    const { immediate, logRetention } = this.props;
    // aws-cdk-lib is not compiled with exactOptionalPropertyTypes: its classes do not fit its own interfaces.
    const version = fn.currentVersion as IVersion;
    const alias = new Alias(this, `${name}-live`, { aliasName: 'live', version });
    const alarms = immediate ? [] : this.compare(name, fn, version);
    const group = new LambdaDeploymentGroup(this, `${name}-group`, {
      application: this.application,
      alias,
      deploymentConfig: immediate
        ? LambdaDeploymentConfig.ALL_AT_ONCE
        : LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: !immediate },
    });
    // Also when immediate: a version that cannot answer is no fix.
    group.addPreHook(new SmokeHook(this, `${name}-smoke`, { operation, version, logRetention }).lambda);
    // The alarms must watch the new version before the alias moves; CloudFormation knows of no such dependency.
    for (const alarm of alarms) (alias.node.defaultChild as CfnAlias).node.addDependency(alarm);
    return alias as IFunction;
  }

  private compare(operation: string, fn: LambdaFunction, version: IVersion) {
    const ofAlias = { FunctionName: fn.functionName, Resource: `${fn.functionName}:live` };
    const ofNew = { ...ofAlias, ExecutedVersion: version.version };
    const lambda = (metricName: string, dimensionsMap: Record<string, string>) =>
      new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap, statistic: Stats.SUM, period: PERIOD });
    const failed = (more: Record<string, string> = {}) =>
      ownMetric(METRICS.failed, { operation, ...more }).with({ period: PERIOD });
    const calls = { callsNew: lambda('Invocations', ofNew), callsAll: lambda('Invocations', ofAlias) };
    const alarm = (what: keyof typeof WORSE, metrics: Record<string, IMetric>) => {
      const usingMetrics = { ...calls, ...metrics };
      // A metric without counts has no data, and neither would an expression with it.
      const expression = Object.keys(usingMetrics).reduce(
        (text, name) => text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `FILL(${name}, 0)`),
        WORSE[what],
      );
      return createAlarm(
        this,
        `${operation}-${what}`,
        `Rolls a new version of ${operation} back: its ${what} are worse than those of the old one`,
        new MathExpression({ expression, usingMetrics, label: 'Worse', period: PERIOD }),
        1,
        1,
      );
    };
    return [
      alarm('errors', {
        failedNew: failed({ version: version.version }),
        failedAll: failed(),
        crashedNew: lambda('Errors', ofNew),
        crashedAll: lambda('Errors', ofAlias),
      }),
      alarm('latency', { timeNew: lambda('Duration', ofNew), timeAll: lambda('Duration', ofAlias) }),
    ];
  }
}
