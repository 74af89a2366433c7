/** Who may do what: every role, policy and permission of the template, statement by statement. */
import { describe, expect, it } from 'vitest';
import { type FunctionName, GRANTS } from '../../infra/grants.ts';
import { LEADING_KEYS } from '../../infra/table-definition.ts';
import type { Template } from '../../packages/local/template.ts';
import { deployed, idOfFunction, propertiesOf } from './stack.ts';

const template = deployed();
const FUNCTIONS = Object.keys(GRANTS) as FunctionName[];

/** The queue from which a function receives messages. */
const CONSUMED: Partial<Record<FunctionName, string>> = {
  'finish-merges': 'MergesQueue.Arn',
  'ingest-records': 'FeedQueue.Arn',
  relay: 'RelayEvents.Arn',
};

const CONSUME = [
  ...['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'],
  'sqs:ReceiveMessage',
];

/** A statement that allows; actions and keys in a fixed order. */
const allow = (actions: string[], resource: string | string[], on?: string[], attributes?: readonly string[]) => ({
  Effect: 'Allow',
  Action: actions.sort(),
  Resource: [resource].flat().sort(),
  ...(on && {
    Condition: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': on.sort() },
      ...(attributes && { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', ...attributes] } }),
    },
  }),
});

/** What relay may do besides: read the stream, send to its queues, and publish on the bus. */
const RELAY = [
  allow(['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], 'Table.StreamArn'),
  allow(
    ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'],
    ['MergesQueue.Arn', 'RelayDeadLetters.Arn', 'RelayEvents.Arn'],
  ),
  allow(['events:PutEvents'], 'RelayBus.Arn'),
  allow(['dynamodb:ListStreams'], ['*', 'Table.StreamArn']),
];

const byAction = (statements: { Action: string[] }[]) =>
  statements.toSorted((a, b) => (String(a.Action) < String(b.Action) ? -1 : 1));

/** All that the policies of a role say: lists and statements in a fixed order. */
function statementsOf(role: string, template: Template) {
  const statements = Object.values(propertiesOf('AWS::IAM::Policy', template))
    .filter(({ Roles }) => Roles.includes(role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  for (const { Condition } of statements) {
    const keyCondition = Condition?.['ForAllValues:StringLike'];
    if (keyCondition) keyCondition['dynamodb:LeadingKeys'] = [keyCondition['dynamodb:LeadingKeys']].flat().sort();
  }
  return byAction(
    statements.map(({ Action, Resource, ...rest }) => ({
      ...rest,
      Action: [Action].flat().sort(),
      Resource: [Resource].flat().sort(),
    })),
  );
}

describe('a role', () => {
  it.each(FUNCTIONS)('%s may write its own logs, and do with the table what its grants say', (name) => {
    const id = idOfFunction(name);
    const queue = CONSUMED[name];
    const granted = [
      allow(['logs:CreateLogStream', 'logs:PutLogEvents'], `${id}Logs.Arn`),
      ...GRANTS[name].map(({ actions, on, attributes }) =>
        allow(
          actions.map((action) => `dynamodb:${action}`),
          'Table.Arn',
          on.map((kind) => LEADING_KEYS[kind]),
          attributes,
        ),
      ),
      ...(queue ? [allow(CONSUME, queue)] : []),
      ...(name === 'ingest-records' ? [allow(['sqs:SendMessage'], 'FeedRefused.Arn')] : []),
      ...(name === 'send-records' ? [allow(['sqs:SendMessage'], 'FeedQueue.Arn')] : []),
      ...(name === 'send-notification' ? [allow(['sqs:SendMessage'], ['FeedQueue.Arn', 'FeedRefused.Arn'])] : []),
      ...(name === 'relay' ? RELAY : []),
    ];
    expect(statementsOf(`${id}Role`, template)).toEqual(byAction(granted));
  });

  it('can be assumed by Lambda, or by API Gateway for the access log', () => {
    const trusted = Object.fromEntries(
      Object.entries(propertiesOf('AWS::IAM::Role', template)).map(([id, { AssumeRolePolicyDocument, ...more }]) => {
        const [{ Action, Effect, ...trust }, ...others] = AssumeRolePolicyDocument.Statement;
        expect([id, Action, Effect, others]).toEqual([id, 'sts:AssumeRole', 'Allow', []]);
        return [id, { ...trust, ...more }];
      }),
    );
    expect(trusted).toEqual({
      ...Object.fromEntries(
        FUNCTIONS.map((name) => [`${idOfFunction(name)}Role`, { Principal: { Service: 'lambda.amazonaws.com' } }]),
      ),
      ServiceApiCloudWatchRole: {
        Principal: { Service: 'apigateway.amazonaws.com' },
        ManagedPolicyArns: ['arn:AWS::Partition:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs'],
      },
    });
  });

  it('has the same rights on an adopted table and its stream', () => {
    const table = 'arn:aws:dynamodb:eu-west-1:123456789012:table/Old-Table-1';
    const stream = `${table}/stream/2026-11-21T10:00:00.000`;
    const adopting = deployed({ adoptTable: stream });
    for (const role of FUNCTIONS.map((name) => `${idOfFunction(name)}Role`)) {
      const usualStatements = JSON.stringify(statementsOf(role, template));
      const renamed = usualStatements.replaceAll('Table.StreamArn', stream).replaceAll('Table.Arn', table);
      expect(statementsOf(role, adopting)).toEqual(JSON.parse(renamed));
    }
  });
});

it('the policy of a queue refuses calls without TLS and allows nothing; only that of the feed lets rules and topics of this account send, and accounts of a setting', () => {
  const policies = Object.values(
    propertiesOf('AWS::SQS::QueuePolicy', deployed({ feedAccounts: '111122223333,444455556666' })),
  );
  const refusal = { Effect: 'Deny', Action: 'sqs:*', Principal: { AWS: '*' } };
  const sending = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: 'FeedQueue.Arn' };
  const ofThisAccount = (service: string, source: string) => ({
    ...{ ...sending, Principal: { Service: `${service}.amazonaws.com` } },
    Condition: { ArnLike: { 'aws:SourceArn': `arn:AWS::Partition:${service}:${source}` } },
  });
  const writers = [
    ofThisAccount('events', 'AWS::Region:AWS::AccountId:rule/*'),
    ofThisAccount('sns', '*:AWS::AccountId:*'),
    {
      ...sending,
      Principal: { AWS: ['111122223333', '444455556666'].map((id) => `arn:AWS::Partition:iam::${id}:root`) },
    },
  ];
  for (const { PolicyDocument, Queues } of policies)
    expect(PolicyDocument.Statement).toEqual([
      { ...refusal, Resource: `${Queues[0]}.Arn`, Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      ...(Queues[0] === 'FeedQueue' ? writers : []),
    ]);
  const queues = Object.keys(propertiesOf('AWS::SQS::Queue', template));
  expect(policies.flatMap(({ Queues }) => Queues).sort()).toEqual(queues.sort());
});

it('the policy for operators allows what the admin command does with this stack, and nothing that deletes or changes it', () => {
  const { PolicyDocument } = propertiesOf('AWS::IAM::ManagedPolicy', template).Operator;
  const statements = PolicyDocument.Statement.map(({ Action, Resource }: { Action: string[]; Resource: string[] }) => [
    [Action].flat().join(' '),
    [Resource].flat().length,
  ]);
  expect(statements).toEqual([
    [
      'dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:Scan dynamodb:UpdateItem',
      1,
    ],
    ['dynamodb:GetRecords dynamodb:GetShardIterator', 1],
    ['sqs:GetQueueAttributes', 6],
    ['sqs:SendMessage', 3],
    [
      'sqs:CancelMessageMoveTask sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ListMessageMoveTasks sqs:ReceiveMessage sqs:StartMessageMoveTask',
      3,
    ],
    ['apigateway:DELETE apigateway:GET apigateway:POST', 4],
    ['logs:FilterLogEvents', FUNCTIONS.length + 1],
    ['cloudformation:DescribeStacks', 1],
    ['cloudwatch:DescribeAlarms cloudwatch:GetMetricData', 1],
  ]);
});

it('only relay may publish events', () => {
  const [{ Statement: bus } = { Statement: undefined }] = Object.values(
    propertiesOf('AWS::Events::EventBusPolicy', template),
  );
  expect(bus).toMatchObject({
    ...{ Effect: 'Deny', Principal: { AWS: '*' }, Action: 'events:PutEvents' },
    Condition: { ArnNotEquals: { 'aws:PrincipalArn': 'relayRole.Arn' } },
  });
});

it('API Gateway may call a function only for its route or as the authorizer of this API, and EventBridge only by its schedule', () => {
  const callers = Object.values(propertiesOf('AWS::Lambda::Permission', template)).map(
    ({ Action, FunctionName, Principal, SourceArn }) => {
      expect(Action).toBe('lambda:InvokeFunction');
      const route = SourceArn.replace(/.*:ServiceApi\/(ServiceApiDeploymentStageprod\/|authorizers\/.*)?/, '');
      return `${Principal.split('.')[0]} ${FunctionName.replace(/Function\.Arn$/, '')} ${route}`;
    },
  );
  // Without fallback-route, which serves every other path and method.
  expect(callers.filter((caller) => !/^apigateway fallbackroute \*\//.test(caller)).sort()).toEqual([
    'apigateway browsefleet POST/monit/servicemap/fleet',
    'apigateway deleteworkitem POST/incident/work-item/delete',
    'apigateway getrumresource POST/rum/resource/info',
    'apigateway mergealerts POST/alert/merge',
    'apigateway openapidocument GET/openapi.json',
    'apigateway sendnotification POST/feed/alertmanager',
    'apigateway sendrecords POST/feed/records',
    'apigateway usagekeyauthorizer ',
    'events finishmerges MergesSweep.Arn',
  ]);
});

it('no function has an action in two grants: a transaction with keys of both might match neither', () => {
  for (const grants of Object.values(GRANTS)) {
    const actions = grants.flatMap((grant) => grant.actions);
    expect(actions).toHaveLength(new Set(actions).size);
  }
});
