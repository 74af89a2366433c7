import { type Stack, Validations } from 'aws-cdk-lib';

/** Findings of the checks that are meant to be: each with its reason. */
const ACKNOWLEDGED: readonly { id: string; reason: string }[] = [
  {
    id: 'AwsSolutions::AwsSolutions-APIG4',
    reason:
      'Routes that refuse every call need no authorization. Operations have a REQUEST authorizer that labels the call, and check the app key in the handler.',
  },
  {
    id: 'AwsSolutions::AwsSolutions-COG4',
    reason: 'Callers are scripts and agents with an app key, as the contract says: there is no user pool.',
  },
  {
    id: 'AwsSolutions::AwsSolutions-APIG2',
    reason: "The handler validates, for its message names every offending field in the caller's language.",
  },
  {
    id: 'AwsSolutions::AwsSolutions-APIG3',
    reason:
      'Whether a web ACL stands before the API is for the team that deploys it: docs/deploy.md says how to add one.',
  },
  {
    id: 'AwsSolutions::AwsSolutions-APIG6',
    reason:
      "Execution logs store the query string, and with it the app key. Access logs and the functions' own tell enough.",
  },
  {
    id: 'AwsSolutions::AwsSolutions-SQS3',
    reason: "This queue is the dead-letter queue of the table stream's function.",
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    reason: 'API Gateway asks for this very policy on the role that it writes access logs with.',
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    reason:
      'The policy that AWS has for CodeDeploy deployments of Lambda functions (only with the setting rollout=canary).',
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'X-Ray and dynamodb:ListStreams know no resources to name.',
  },
];

/** Acknowledges them for the whole stack. */
export function acknowledge(stack: Stack): void {
  if (ACKNOWLEDGED.length > 0) Validations.of(stack).acknowledge(...ACKNOWLEDGED);
}
