/** Several stages in one account and region share no name, metric or gateway key. */
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { ServiceStack } from '../../infra/stack.ts';
import type { Template } from '../../packages/local/template.ts';
import { only, propertiesOf } from './stack.ts';

function stackOf(stackName: string, context: Record<string, string> = {}, env = {}) {
  const app = new App({
    context: { ...cdk.context, 'aws:cdk:bundling-stacks': [], stackName, ...context },
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  return { app, stack: new ServiceStack(app, stackName, { env }) };
}
function synthesized(...stackArguments: Parameters<typeof stackOf>): Template {
  const { app, stack } = stackOf(...stackArguments);
  return app.synth().getStackArtifact(stack.artifactId).template as Template;
}
/** What synthesis would print. */
const messagesOf = (context: Record<string, string>) =>
  stackOf('Preview', context)
    .stack.node.findAll()
    .flatMap(({ node }) => node.metadata)
    .filter(({ type }) => /^aws:cdk:(info|warning|error)$/.test(type))
    .map(({ type, data }) => [type.replace('aws:cdk:', ''), data]);

describe('two stages', () => {
  const [staging, production] = ['Staging', 'Production'].map((name) => synthesized(name)) as [Template, Template];

  it('share no name that must be unique in a region', () => {
    const named = (template: Template) =>
      Object.entries(template.Resources).flatMap(([id, { Type, Properties = {} }]) =>
        Object.entries(Properties)
          // A stage's name is unique within its API.
          .filter(
            ([key, value]) => /^(\w*Name|Value)$/.test(key) && typeof value === 'string' && !Type.endsWith('Stage'),
          )
          .filter(([key]) => !/^(Metric|Policy|Attribute)\w*|^GroupName/.test(key))
          .map(([key, value]) => `${id} ${key} ${value}`),
      );
    expect(named(staging).filter((name) => named(production).includes(name))).toEqual([]);
    // Each names the API, the shared gateway key, two composite alarms, the dashboard and the bus.
    expect(named(staging)).toHaveLength(6);
  });

  it('have alarms on their own metrics', () => {
    const alarms = JSON.stringify(propertiesOf('AWS::CloudWatch::Alarm', staging));
    expect(new Set(alarms.match(/IncidentMonitoringRum[\w/]*/g))).toEqual(new Set(['IncidentMonitoringRum/Staging']));
  });
});

describe('a table to adopt', () => {
  const adoptTable = 'arn:aws:dynamodb:eu-west-1:123456789012:table/kept/stream/2026-01-01T00:00:00.000';

  it.each([
    ['another region', { account: '123456789012', region: 'eu-central-1' }],
    ['another account', { account: '210987654321', region: 'eu-west-1' }],
  ])('of %s is refused', (_where, env) => {
    expect(() => stackOf('Preview', { adoptTable }, env)).toThrow(
      'Context adoptTable names a table of account 123456789012 in eu-west-1',
    );
  });

  it.each([
    ['the same account and region', { account: '123456789012', region: 'eu-west-1' }],
    ['an account that synthesis does not know', {}],
  ])('of %s is accepted', (_where, env) => {
    expect(synthesized('Preview', { adoptTable }, env).Outputs?.TableName?.Value).toBe('kept');
  });
});

describe('an ephemeral stage', () => {
  it('deletes its table', () => {
    const template = synthesized('Preview', { ephemeral: 'true' });
    const { DeletionPolicy, Properties } = only('AWS::DynamoDB::GlobalTable', template);
    expect(DeletionPolicy).toBe('Delete');
    expect(Properties.Replicas).toMatchObject([{ DeletionProtectionEnabled: false }]);
  });

  it.each([
    ['IncidentMonitoringRum', {}],
    ['Preview', { adoptTable: 'arn:aws:dynamodb:eu-west-1:123456789012:table/kept/stream/2026-01-01T00:00:00.000' }],
  ])('is refused for the stack %s with %o', (stackName, more) => {
    expect(() => stackOf(stackName, { ephemeral: 'true', ...more })).toThrow('Context ephemeral requires a stackName');
  });
});

it.each([
  ['nobody', {}, [['warning', expect.stringContaining('Alarms reach nobody')]]],
  ['an address', { alarmEmail: 'ops@example.com' }, []],
  ['a topic', { alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:on-call' }, []],
  [
    'a freeze that stayed in cdk.json',
    { writesFrozen: 'true', alarmEmail: 'ops@example.com' },
    [['warning', expect.stringContaining('deletions and merges are refused')]],
  ],
  ['an ephemeral stage', { ephemeral: 'true' }, [['warning', expect.stringContaining('are deleted with this stack')]]],
])('synthesis prints what is reserved, and warns of likely mistakes only: %s', (_case, context, warnings) => {
  expect(messagesOf(context)).toEqual([['info', expect.stringContaining('none is reserved')], ...warnings]);
  expect(messagesOf({ ...context, reservedConcurrency: '100' })[0]).toEqual([
    'info',
    expect.stringContaining('100 reserved, 30 of them for the authorizer and at most 20 for merges'),
  ]);
});
