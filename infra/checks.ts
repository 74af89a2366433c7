import { type App, type Stack, Token, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

const ID_PREFIX = 'AwsSolutions::AwsSolutions-';

/** A finding of cdk-nag that does not stop synthesis. */
interface AcknowledgedFinding {
  /**
   * The AwsSolutions rule. For some rules the finding itself follows in brackets, with `<Stack>` for the stack's name, and partition,
   * region and account as they are without credentials.
   */
  readonly rule: string;
  /** The constructs that may have the finding, by their paths in the stack. */
  readonly paths: RegExp;
  readonly reason: string;
}

const managedPolicy = (name: string) => `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${name}]`;

const ACKNOWLEDGED: readonly AcknowledgedFinding[] = [
  {
    rule: 'APIG4',
    paths: /^Service\/Api\/Default\/(.+\/)?(ANY|openapi\.json\/GET)$/,
    reason:
      'Neither the fallback route, which tells nothing but that it answers, nor openapi.json needs authorization.',
  },
  {
    rule: 'COG4',
    paths: /^Service\/Api\/Default\/(.+\/)?(ANY|GET|POST)$/,
    reason:
      'Callers are scripts and agents with an app key, as the contract says: there is no user pool. The authorizer of the operations chooses the gateway key that throttles the call; their handlers check the app key.',
  },
  {
    rule: 'APIG2',
    paths: /^Service\/Api$/,
    reason: "The handler validates: its message names every invalid field in the caller's language.",
  },
  {
    rule: 'APIG3',
    paths: /^Service\/Api\/DeploymentStage\.\w+$/,
    reason: 'The team that deploys the API decides on a web ACL: see docs/deploy.md.',
  },
  {
    rule: 'APIG6',
    paths: /^Service\/Api\/DeploymentStage\.\w+$/,
    reason:
      'Execution logs store the query string, and with it the app key. Access logs and function logs are used instead.',
  },
  {
    rule: 'SQS3',
    paths: /^((Merges|Relay)\/DeadLetters|Feed\/(DeadLetters|Refused))$/,
    reason: 'A dead-letter queue, or the queue of refused records: only an operator reads it.',
  },
  {
    rule: 'IAM5[Resource::*]',
    paths: /^relay\/Role\/DefaultPolicy\/Resource$/,
    reason: 'dynamodb:ListStreams allows nothing on a single stream.',
  },
  {
    rule: 'IAM5[Resource::*]',
    paths: /^end-silent-alerts\/Role\/DefaultPolicy\/Resource$/,
    reason: 'cloudwatch:GetMetricData has no resources.',
  },
  {
    rule: 'IAM5[Resource::*]',
    paths: /^Operator\/Resource$/,
    reason: 'These actions of CloudWatch and CloudWatch Logs have no resources, or are for lists.',
  },
  {
    rule: 'IAM5[Resource::arn:<AWS::Partition>:apigateway:<AWS::Region>::/usageplans/<ServiceApiAccountPlan81B3919F>/keys/*]',
    paths: /^Operator\/Resource$/,
    reason: "The accounts' gateway keys, which API Gateway names when they are made.",
  },
  {
    rule: 'IAM5[Resource::arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:<Stack>-*]',
    paths: /^Operator\/Resource$/,
    reason: 'The log groups of this stack.',
  },
  {
    rule: managedPolicy('AmazonAPIGatewayPushToCloudWatchLogs'),
    paths: /^Service\/Api\/CloudWatchRole$/,
    reason: 'API Gateway requires this policy on its access-log role.',
  },
  {
    rule: managedPolicy('AWSBackupServiceRolePolicyForBackup'),
    paths: /^Backups\/Plan\/Table\/Role$/,
    reason: "AWS's managed policy for AWS Backup (only with backupVaultArn).",
  },
];

/** Checks the app by cdk-nag's AwsSolutions rules. A finding that `ACKNOWLEDGED` does not list stops synthesis. */
export function addChecks(app: App, stack: Stack): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const { stackName, partition, region, account } = stack;
  const place = { '<AWS::Partition>': partition, '<AWS::Region>': region, '<AWS::AccountId>': account };
  const known = Object.entries(place).filter(([, name]) => !Token.isUnresolved(name));
  /** The names of a finding: with the place in place of the placeholders, if it is known, or without, as in policies of AWS. */
  const idsOf = (rule: string) => {
    const id = `${ID_PREFIX}${rule.replace('<Stack>', stackName)}`;
    return new Set([id, known.reduce((text, [placeholder, name]) => text.replaceAll(placeholder, name), id)]);
  };
  for (const construct of stack.node.findAll()) {
    const path = construct.node.path.slice(stack.node.path.length + 1);
    for (const { rule, paths, reason } of ACKNOWLEDGED)
      if (paths.test(path)) for (const id of idsOf(rule)) Validations.of(construct).acknowledge({ id, reason });
  }
}
