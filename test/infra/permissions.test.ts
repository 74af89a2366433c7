/** Who may do what: every role, policy and permission of the template, statement by statement. */
import { expect, it } from 'vitest';
import { type FunctionName, GRANTS } from '../../infra/grants.ts';
import { type ListedOperation, operations } from '../../lib/operations/index.ts';
import { leadingKeysOf } from '../../lib/table/grant.ts';
import type { Template } from '../../packages/local/template.ts';
import { deployed, idOfFunction, propertiesOf } from './stack.ts';
import { OLD_STREAM, OLD_TABLE } from './templates.ts';

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource?: string | string[];
  Principal?: string | Record<string, string | string[]>;
  Condition?: Record<string, Record<string, string | string[]>>;
}
const words = (values: string | string[]) => [values].flat().sort().join(' ');

/** A statement as text: `Allow ACTIONS on RESOURCES to PRINCIPALS if OPERATOR KEY VALUES`. */
function textOf({ Effect, Action, Resource, Principal, Condition = {} }: Statement): string {
  const conditions = Object.entries(Condition).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => ` if ${operator} ${key} ${words(values)}`),
  );
  const principals = typeof Principal === 'string' ? Principal : Object.values(Principal ?? {}).flat();
  const to = Principal ? ` to ${words(principals)}` : '';
  return `${Effect} ${words(Action)}${Resource ? ` on ${words(Resource)}` : ''}${to}${conditions.join('')}`;
}

/** What all policies of the template say, by the role, queue, topic, bus or managed policy that has them. */
function policiesOf(template: Template): Record<string, string[]> {
  const policies = ['IAM::Policy', 'IAM::ManagedPolicy', 'SQS::QueuePolicy', 'SNS::TopicPolicy'].flatMap((type) =>
    Object.entries(propertiesOf(type, template)).flatMap(([id, { Roles, Queues, Topics, PolicyDocument }]) =>
      [Roles ?? Queues ?? Topics ?? id].flat().map((owner: string) => [owner, PolicyDocument.Statement] as const),
    ),
  );
  const inline = Object.entries(propertiesOf('IAM::Role', template)).flatMap(([id, { Policies = [] }]) =>
    Policies.map(({ PolicyDocument }: { PolicyDocument: { Statement: Statement[] } }) => [
      id,
      PolicyDocument.Statement,
    ]),
  ) as [string, Statement[]][];
  const ofBus = Object.values(propertiesOf('Events::EventBusPolicy', template));
  const all = [
    ...policies,
    ...inline,
    ...ofBus.map(({ EventBusName, Statement }) => [EventBusName, [Statement]] as const),
  ];
  const byOwner = Map.groupBy(all, ([owner]) => owner);
  return Object.fromEntries(
    [...byOwner].map(([owner, owned]) => [owner, owned.flatMap(([, statements]) => statements.map(textOf)).sort()]),
  );
}

const FUNCTIONS = Object.keys(GRANTS) as FunctionName[];
const QUEUES = ['FeedQueue', 'FeedRefused', 'MergesDeadLetters', 'MergesQueue', 'RelayDeadLetters', 'RelayEvents'];
const CONSUME =
  'Allow sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:GetQueueAttributes sqs:GetQueueUrl sqs:ReceiveMessage on';
/** What functions may do besides writing their logs and using the table. */
const MORE: Partial<Record<FunctionName, string[]>> = {
  'finish-merges': [`${CONSUME} MergesQueue.Arn`],
  'end-silent-alerts': ['Allow cloudwatch:GetMetricData on *'],
  'ingest-records': [`${CONSUME} FeedQueue.Arn`, 'Allow sqs:SendMessage on FeedRefused.Arn'],
  ...Object.fromEntries(
    operations.map(({ name, sendsTo = [] }: ListedOperation) => {
      const queues = sendsTo.map((queue) => ({ ingest: 'FeedQueue.Arn', refused: 'FeedRefused.Arn' })[queue]);
      return [name, queues.length > 0 ? [`Allow sqs:SendMessage on ${words(queues)}`] : []];
    }),
  ),
  relay: [
    `${CONSUME} RelayEvents.Arn`,
    'Allow dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator on Table.StreamArn',
    'Allow dynamodb:ListStreams on * Table.StreamArn',
    'Allow events:PutEvents on RelayBus.Arn',
    'Allow sqs:GetQueueAttributes sqs:GetQueueUrl sqs:SendMessage on MergesQueue.Arn RelayDeadLetters.Arn RelayEvents.Arn',
  ],
};
const rolePolicies = FUNCTIONS.map((name) => {
  const grants = GRANTS[name].map((grant) => {
    const { actions, on, attributes } = grant;
    return textOf({
      ...{ Effect: 'Allow', Action: actions.map((action) => `dynamodb:${action}`) },
      Resource: [...new Set(on.map((kind) => (kind === 'alertIndex' ? 'Table.Arn/index/alerts' : 'Table.Arn')))],
      Condition: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeysOf(grant) },
        ...(attributes && { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', ...attributes] } }),
      },
    });
  });
  const logs = `Allow logs:CreateLogStream logs:PutLogEvents on ${idOfFunction(name)}Logs.Arn`;
  return [`${idOfFunction(name)}Role`, [logs, ...grants, ...(MORE[name] ?? [])].sort()];
});
const ONLY_TLS = 'if Bool aws:SecureTransport false';
const deadLetters = 'FeedRefused.Arn MergesDeadLetters.Arn RelayDeadLetters.Arn';
const apiGateway = (path: string) => `arn:AWS::Partition:apigateway:AWS::Region::/${path}`;
const planKeys = ['keys', 'keys/*'].map((keys) => apiGateway(`usageplans/ServiceApiAccountPlan/${keys}`));
const toFeed = (principal: string, source: string) =>
  `Allow sqs:SendMessage on FeedQueue.Arn to ${principal}.amazonaws.com if ArnLike aws:SourceArn arn:AWS::Partition:${principal}:${source}`;

const POLICIES: Record<string, string[]> = {
  ...Object.fromEntries(rolePolicies),
  ...Object.fromEntries(QUEUES.map((queue) => [queue, [`Deny sqs:* on ${queue}.Arn to * ${ONLY_TLS}`]])),
  FeedQueue: [
    toFeed('events', 'AWS::Region:AWS::AccountId:rule/*'),
    toFeed('sns', '*:AWS::AccountId:*'),
    `Deny sqs:* on FeedQueue.Arn to * ${ONLY_TLS}`,
  ],
  FeedWriters: ['Allow sqs:SendMessage on FeedQueue.Arn'],
  // What the admin command does with this stack, and nothing that deletes or changes it; it runs with these rights in the tests of packages/admin.
  Operator: [
    // Of all API keys of the region it reads and attaches only those of this stack's plan, and deletes none.
    `Allow apigateway:GET apigateway:POST on ${words(planKeys)}`,
    `Allow apigateway:POST on ${apiGateway('apikeys')}`,
    'Allow cloudformation:DescribeStacks cloudformation:ListStackResources on AWS::StackId',
    // They have no resources.
    'Allow cloudwatch:DescribeAlarms cloudwatch:GetMetricData logs:DescribeLogGroups logs:GetQueryResults logs:StopQuery on *',
    'Allow dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:Scan dynamodb:UpdateItem on Table.Arn',
    'Allow dynamodb:GetRecords dynamodb:GetShardIterator on Table.StreamArn',
    'Allow dynamodb:Query on Table.Arn/index/alerts',
    'Allow logs:FilterLogEvents logs:StartQuery on arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:Service-*',
    `Allow sqs:CancelMessageMoveTask sqs:ListMessageMoveTasks sqs:StartMessageMoveTask on ${deadLetters}`,
    `Allow sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ReceiveMessage on FeedQueue.Arn ${deadLetters}`,
    `Allow sqs:GetQueueAttributes on ${words(QUEUES.map((queue) => `${queue}.Arn`))}`,
    'Allow sqs:SendMessage on FeedQueue.Arn MergesQueue.Arn RelayEvents.Arn',
    'Deny dynamodb:BatchWriteItem dynamodb:DeleteItem dynamodb:PartiQLDelete dynamodb:PartiQLUpdate dynamodb:UpdateItem on Table.Arn if ForAnyValue:StringLike dynamodb:LeadingKeys ACCOUNT#*#AUDIT',
  ],
  RelayBus: ['Deny events:PutEvents on RelayBus.Arn to * if ArnNotEquals aws:PrincipalArn relayRole.Arn'],
};

it('the policies say this, also of an adopted table and its stream', () => {
  expect(policiesOf(deployed())).toEqual(POLICIES);
  const renamed = (text: string) => text.replaceAll('Table.StreamArn', OLD_STREAM).replaceAll('Table.Arn', OLD_TABLE);
  expect(policiesOf(deployed('adopting'))).toEqual(JSON.parse(renamed(JSON.stringify(POLICIES))));
});

it('accounts of a setting may also send to the feed, and alarms of this account publish by e-mail', () => {
  const others = ['111122223333', '444455556666'].map((id) => `arn:AWS::Partition:iam::${id}:root`);
  expect(policiesOf(deployed('changed'))).toEqual({
    ...POLICIES,
    FeedQueue: [...(POLICIES.FeedQueue ?? []), `Allow sqs:SendMessage on FeedQueue.Arn to ${words(others)}`].sort(),
    WatchPage: [
      'Allow sns:Publish on WatchPage to cloudwatch.amazonaws.com if StringEquals aws:SourceAccount AWS::AccountId',
      `Deny sns:Publish on WatchPage to * ${ONLY_TLS}`,
    ],
  });
});

it('a role can be assumed by Lambda, or by API Gateway for the access log', () => {
  const roles = Object.entries(propertiesOf('IAM::Role', deployed())).map(
    ([id, { AssumeRolePolicyDocument: trust, Policies: _policies, ...more }]) => [
      id,
      { trust: trust.Statement.map(textOf), ...more },
    ],
  );
  const assumedBy = (service: string) => ({ trust: [`Allow sts:AssumeRole to ${service}.amazonaws.com`] });
  expect(Object.fromEntries(roles)).toEqual({
    ...Object.fromEntries(FUNCTIONS.map((name) => [`${idOfFunction(name)}Role`, assumedBy('lambda')])),
    ServiceApiCloudWatchRole: {
      ...assumedBy('apigateway'),
      ManagedPolicyArns: ['arn:AWS::Partition:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs'],
    },
  });
});

it('API Gateway may call a function only for its route or as the authorizer of this API, and EventBridge only by its schedule', () => {
  const callers = Object.values(propertiesOf('Lambda::Permission', deployed())).map(
    ({ FunctionName, Principal, SourceArn }) => {
      const route = SourceArn.replace(/.*:ServiceApi\/(ServiceApiDeploymentStageprod\/|authorizers\/.*)?/, '');
      return `${Principal.split('.')[0]} ${FunctionName.replace(/Function\.Arn$/, '')} ${route}`;
    },
  );
  const expected = [
    ...operations.map(({ name, path }) => `apigateway ${idOfFunction(name)} POST${path}`),
    'apigateway openapidocument GET/openapi.json',
    // It serves every other path and method.
    'apigateway fallbackroute */*/*',
    'apigateway usagekeyauthorizer ',
    'events finishmerges MergesSweep.Arn',
    'events endsilentalerts FeedSilence.Arn',
  ];
  expect(callers.sort()).toEqual(expected.sort());
});

it('no function has an action in two grants: a transaction with keys of both might match neither', () => {
  for (const grants of Object.values(GRANTS)) {
    const actions = grants.flatMap((grant) => grant.actions);
    expect(actions).toHaveLength(new Set(actions).size);
  }
});
