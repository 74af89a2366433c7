import { readFileSync } from 'node:fs';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  type IVersion,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { ListedOperation } from '../lib/http/operations.ts';

const SOURCE = readFileSync(new URL('smoke-hook-handler.cjs', import.meta.url), 'utf8');

export interface SmokeHookProps {
  readonly operation: ListedOperation;
  readonly version: IVersion;
  readonly logRetention: RetentionDays;
}

/** The function that CodeDeploy calls before a new version gets traffic. It calls that version and reports the result to CodeDeploy. */
export class SmokeHook extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, { operation, version, logRetention }: SmokeHookProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Logs', { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [version.functionArn] }));
    this.lambda = new LambdaFunction(this, 'Hook', {
      description: `Call a new version of ${operation.name} before it gets calls`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromInline(SOURCE),
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      timeout: Duration.minutes(1),
      environment: { VERSION: version.functionArn, METHOD: operation.method, RESOURCE: operation.path },
    });
  }
}
