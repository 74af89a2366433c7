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
import { createAlarm, serviceMetric } from './stack-metrics.ts';

/** The length of a canary, over which the alarms compare the versions. */
const PERIOD = Duration.minutes(5);
/** Fewer failures than this may be chance. */
const MIN_FAILURES = 2;
/** Fewer calls than this have no meaningful average. */
const MIN_CALLS = 20;

/**
 * A new version is worse if, in the same minutes, its error rate is above twice that of the old one plus 0.5 %, or its mean duration
 * above twice that of the old one plus 200 ms. An outage, such as a slow table, affects both versions alike, so a deployment that fixes
 * it is not rolled back.
 */
const IS_WORSE = {
  errors: `IF(failedNew + crashedNew >= ${MIN_FAILURES} AND (failedNew + crashedNew) / callsNew > IF(callsAll > callsNew, 2 * (failedAll + crashedAll - failedNew - crashedNew) / (callsAll - callsNew), 0) + 0.005, 1, 0)`,
  latency: `IF(callsNew >= ${MIN_CALLS} AND callsAll > callsNew AND timeNew / callsNew > 2 * (timeAll - timeNew) / (callsAll - callsNew) + 200, 1, 0)`,
} as const;

export interface CanaryRolloutProps {
  /** Whether all calls move to the new version at once, without a comparison. */
  readonly immediate: boolean;
  readonly logRetention: RetentionDays;
}

/**
 * Canary updates. API Gateway calls an alias of each operation's function. CodeDeploy first calls a new version once, to make sure that it
 * works at all, then gives it 10 % of the alias's calls for five minutes. If it is worse than the old one, CodeDeploy moves the alias back,
 * and CloudFormation rolls back the whole update.
 */
export class CanaryRollout extends Construct {
  private readonly application = new LambdaApplication(this, 'Application');
  private readonly props: CanaryRolloutProps;

  constructor(scope: Construct, id: string, props: CanaryRolloutProps) {
    super(scope, id);
    this.props = props;
  }

  /** Adds the canary of an operation. @returns the alias, to be called in place of the function */
  add(operation: ListedOperation, fn: LambdaFunction): IFunction {
    const { name } = operation;
    const { immediate, logRetention } = this.props;
    // aws-cdk-lib is compiled without exactOptionalPropertyTypes, so its classes are not assignable to its own interfaces.
    const version = fn.currentVersion as IVersion;
    const alias = new Alias(this, `${name}-live`, { aliasName: 'live', version });
    const alarms = immediate ? [] : this.createAlarms(name, fn, version);
    const group = new LambdaDeploymentGroup(this, `${name}-group`, {
      application: this.application,
      alias,
      deploymentConfig: immediate
        ? LambdaDeploymentConfig.ALL_AT_ONCE
        : LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: !immediate },
    });
    // An immediate rollout needs the hook, too: a version that cannot answer must get no calls.
    group.addPreHook(new SmokeHook(this, `${name}-smoke`, { operation, version, logRetention }).lambda);
    // The alarms must watch the new version before the alias moves; CloudFormation knows of no such dependency.
    for (const alarm of alarms) (alias.node.defaultChild as CfnAlias).node.addDependency(alarm);
    return alias as IFunction;
  }

  private createAlarms(operation: string, fn: LambdaFunction, version: IVersion) {
    const aliasDimensions = { FunctionName: fn.functionName, Resource: `${fn.functionName}:live` };
    const newVersionDimensions = { ...aliasDimensions, ExecutedVersion: version.version };
    const lambdaMetric = (metricName: string, dimensionsMap: Record<string, string>) =>
      new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap, statistic: Stats.SUM, period: PERIOD });
    const failedMetric = (dimensions: Record<string, string> = {}) =>
      serviceMetric(METRICS.failed, { operation, ...dimensions }).with({ period: PERIOD });
    const calls = {
      callsNew: lambdaMetric('Invocations', newVersionDimensions),
      callsAll: lambdaMetric('Invocations', aliasDimensions),
    };
    const alarm = (aspect: keyof typeof IS_WORSE, metrics: Record<string, IMetric>) => {
      const usingMetrics = { ...calls, ...metrics };
      // A metric that counted nothing has no data, and then the expression would have none: FILL makes it 0.
      const expression = Object.keys(usingMetrics).reduce(
        (text, name) => text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `FILL(${name}, 0)`),
        IS_WORSE[aspect],
      );
      return createAlarm(
        this,
        `${operation}-${aspect}`,
        `Rolls back a new version of ${operation}: it has worse ${aspect} than the old one`,
        new MathExpression({ expression, usingMetrics, label: 'Worse', period: PERIOD }),
        1,
        1,
      );
    };
    return [
      alarm('errors', {
        failedNew: failedMetric({ version: version.version }),
        failedAll: failedMetric(),
        crashedNew: lambdaMetric('Errors', newVersionDimensions),
        crashedAll: lambdaMetric('Errors', aliasDimensions),
      }),
      alarm('latency', {
        timeNew: lambdaMetric('Duration', newVersionDimensions),
        timeAll: lambdaMetric('Duration', aliasDimensions),
      }),
    ];
  }
}
