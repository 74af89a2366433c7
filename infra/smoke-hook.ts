import { readFileSync } from 'node:fs';
import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Code, type IVersion, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { ListedOperation } from '../lib/http/operations.ts';
import { commonProps } from './function.ts';

const SOURCE = readFileSync(new URL('smoke-hook-handler.cjs', import.meta.url), 'utf8');

export interface SmokeHookProps {
  readonly operation: ListedOperation;
  readonly version: IVersion;
  readonly logRetention: RetentionDays;
}

/** The function that CodeDeploy invokes before a new version gets traffic. It calls that version and reports the result to CodeDeploy. */
export class SmokeHook extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, { operation, version, logRetention }: SmokeHookProps) {
    super(scope, id);
    const common = commonProps(this, logRetention);
    common.role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [version.functionArn] }),
    );
    this.lambda = new LambdaFunction(this, 'Hook', {
      ...common,
      description: `Call a new version of ${operation.name} before it gets calls`,
      handler: 'index.handler',
      code: Code.fromInline(SOURCE),
      timeout: Duration.minutes(1),
      environment: { VERSION: version.functionArn, METHOD: operation.method, RESOURCE: operation.path },
    });
  }
}
