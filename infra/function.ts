import { fileURLToPath } from 'node:url';
import { type Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type Function as LambdaFunction, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { type BundlingOptions, Charset, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { SETTINGS } from '../lib/shared/settings.ts';
import { ALERT_INDEX } from '../lib/table/alert-index.ts';
import { leadingKeysOf } from '../lib/table/grant.ts';
import { memoryMbOf, reservedExecutions } from './function-settings.ts';
import { type FunctionName, GRANTS } from './grants.ts';
import { aliases } from './replaced-modules.ts';
import { metricsNamespace } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

export type CreateFunction = ReturnType<typeof createFunctions>['create'];

/** Creates the functions of a stack, each with its runtime, bundle, log group and environment, and the grants that `grants.ts` lists for it. */
export function createFunctions(stack: Stack, table: ITableV2, settings: DeploymentSettings) {
  /** Complete when `create` has been called for each. */
  const functions = {} as Record<FunctionName, LambdaFunction>;
  const tableVariables = {
    TABLE_NAME: table.tableName,
    ...Object.fromEntries(
      Object.entries(SETTINGS).map(([name, { env }]) => [env, String(settings[name as keyof typeof SETTINGS])]),
    ),
  };

  /** @param variables in addition to those that all functions have, and to those of the functions that use the table */
  function create(
    name: FunctionName,
    description: string,
    timeout: Duration,
    variables?: Record<string, string>,
  ): LambdaFunction {
    const scope = new Construct(stack, name);
    const reservedConcurrentExecutions = reservedExecutions(name, settings.reservedConcurrency);
    const logGroup = new LogGroup(scope, 'Logs', {
      retention: settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const statements = [writingTo(logGroup), ...grantsOn(table, name)];
    const role = new Role(scope, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      // Inline, since a stack has at most 500 resources, and a policy of its own would be one more for each function.
      inlinePolicies: { Function: new PolicyDocument({ statements }) },
    });
    functions[name] = new NodejsFunction(scope, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      loggingFormat: LoggingFormat.JSON,
      logGroup,
      role,
      entry: `${root}functions/${name}.ts`,
      handler: 'handler',
      description,
      projectRoot: root,
      depsLockFilePath: `${root}package-lock.json`,
      memorySize: memoryMbOf(name),
      timeout,
      ...(reservedConcurrentExecutions !== undefined && { reservedConcurrentExecutions }),
      environment: {
        METRICS_NAMESPACE: metricsNamespace,
        ...(GRANTS[name].length > 0 && tableVariables),
        ...variables,
      },
      bundling: BUNDLING,
    });
    return functions[name];
  }

  return { functions, create };
}

const BUNDLING: BundlingOptions = {
  format: OutputFormat.ESM,
  target: 'node24',
  minify: true,
  sourceMap: true,
  sourcesContent: false,
  bundleAwsSDK: true,
  mainFields: ['module', 'main'],
  charset: Charset.UTF8,
  esbuildArgs: {
    // Licences go into a separate file.
    '--legal-comments': 'external',
    ...Object.fromEntries(Object.entries(aliases()).map(([name, file]) => [`--alias:${name}`, file])),
  },
  forceDockerBundling: false,
};

/** In place of AWS's managed policy, which allows writing to every log group. */
const writingTo = ({ logGroupArn }: LogGroup) =>
  new PolicyStatement({ actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [logGroupArn] });

const grantsOn = ({ tableArn }: ITableV2, name: FunctionName) =>
  GRANTS[name].map((grant) => {
    const { actions, on, attributes } = grant;
    return new PolicyStatement({
      actions: actions.map((action) => `dynamodb:${action}`),
      resources: [
        ...(on.some((kind) => kind !== 'alertIndex') ? [tableArn] : []),
        ...(on.includes('alertIndex') ? [`${tableArn}/index/${ALERT_INDEX.name}`] : []),
      ],
      conditions: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeysOf(grant) },
        ...(attributes && { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', ...attributes] } }),
      },
    });
  });
