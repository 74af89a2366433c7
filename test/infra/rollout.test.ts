/** How calls move to a new version of an operation: docs/deploy.md. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { resourcesOf, routesOf } from '../../packages/local/template.ts';
import { deployed, propertiesOf, readable, shortId } from '../support/stack.ts';

const OPERATIONS = [
  ['POST /monit/servicemap/fleet', 'browse-fleet'],
  ['POST /rum/resource/info', 'get-rum-resource'],
  ['POST /incident/work-item/delete', 'delete-work-item'],
  ['POST /alert/merge', 'merge-alerts'],
] as const;

it('all at once is the default: no alias, nothing of CodeDeploy', () => {
  const types = Object.values(deployed().Resources).map(({ Type }) => Type);
  expect(types.filter((type) => /CodeDeploy|Lambda::Alias|Lambda::Version/.test(type))).toEqual([]);
});

describe('-c rollout=canary', () => {
  const template = deployed({ rollout: 'canary' });
  /** The resource of a type that belongs to an operation. */
  const one = (type: string, prefix: string) => {
    const found = Object.entries(template.Resources).filter(
      ([id, { Type }]) => Type === type && shortId(id).startsWith(prefix),
    );
    expect([type, found.map(([id]) => id)]).toEqual([type, [expect.any(String)]]);
    const [id, { Properties, UpdatePolicy }] = found[0] as (typeof found)[number];
    return { id: shortId(id), properties: readable(Properties), updatePolicy: readable(UpdatePolicy) };
  };

  it('has an alias and a deployment group for each operation, and for nothing else', () => {
    for (const [type, count] of [
      ['AWS::Lambda::Alias', 4],
      ['AWS::CodeDeploy::DeploymentGroup', 4],
      ['AWS::CodeDeploy::Application', 1],
    ] as const)
      expect([type, Object.keys(propertiesOf(type, template)).length]).toEqual([type, count]);
  });

  it.each(OPERATIONS)('%s calls the alias, which moves by the deployment group', (route, operation) => {
    const name = operation.replaceAll('-', '');
    const alias = one('AWS::Lambda::Alias', `Rollout${name}`);
    const group = one('AWS::CodeDeploy::DeploymentGroup', `Rollout${name}`);
    const version = one('AWS::Lambda::Version', name);
    expect(alias.properties).toEqual({
      Name: 'live',
      FunctionName: `${name}Function`,
      FunctionVersion: expect.stringContaining('.Version'),
    });
    expect(alias.properties.FunctionVersion).toContain(version.id.slice(0, -32));
    expect(alias.updatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: 'RolloutApplication',
        DeploymentGroupName: group.id,
        BeforeAllowTrafficHook: `Rollout${name}smokeHook`,
      },
    });
    expect(readable(routesOf(template).get(route)?.Properties.Integration.Uri)).toContain(
      `/functions/${alias.id}/invocations`,
    );
    expect(Object.values(propertiesOf('AWS::Lambda::Permission', template))).toContainEqual({
      Action: 'lambda:InvokeFunction',
      FunctionName: alias.id,
      Principal: 'apigateway.amazonaws.com',
      SourceArn: expect.stringMatching(`${route.replace(' ', '')}$`),
    });
  });

  it.each(OPERATIONS)(
    '%s: a new version gets 10 % for five minutes, after a smoke call, unless its alarms roll it back',
    (_route, operation) => {
      const name = operation.replaceAll('-', '');
      expect(one('AWS::CodeDeploy::DeploymentGroup', `Rollout${name}`).properties).toEqual({
        ApplicationName: 'RolloutApplication',
        ServiceRoleArn: `Rollout${name}groupServiceRole.Arn`,
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
        AlarmConfiguration: {
          Enabled: true,
          Alarms: ['errors', 'latency'].map((what) => ({ Name: `Rollout${name}${what}` })),
        },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
        },
      });
      // An alarm that is updated after the alias would still watch the version before.
      const alias = Object.values(resourcesOf(template, 'AWS::Lambda::Alias')).find(
        ({ UpdatePolicy }) =>
          readable(UpdatePolicy).CodeDeployLambdaAliasUpdate.DeploymentGroupName === `Rollout${name}group`,
      );
      expect([alias?.DependsOn].flat().map((id) => shortId(String(id)))).toEqual(
        expect.arrayContaining(['errors', 'latency'].map((what) => `Rollout${name}${what}`)),
      );
    },
  );

  it.each(OPERATIONS)(
    '%s: its alarms read the metrics of the new version, and of all calls of the alias',
    (_route, operation) => {
      const name = operation.replaceAll('-', '');
      const ofAlias = { FunctionName: `${name}Function`, Resource: `${name}Function:live` };
      const ofNew = {
        ...ofAlias,
        ExecutedVersion: one('AWS::Lambda::Alias', `Rollout${name}`).properties.FunctionVersion,
      };
      const own = { operation, service: 'incident-monitoring-rum' };
      const lambda = (metric: string, of: object) => [`AWS/Lambda ${metric}`, of];
      const failed = (of: object) => ['IncidentMonitoringRum/Service Failed', of];
      const calls = { callsNew: lambda('Invocations', ofNew), callsAll: lambda('Invocations', ofAlias) };
      expect(metricsOf(one('AWS::CloudWatch::Alarm', `Rollout${name}errors`).properties)).toEqual({
        ...calls,
        failedNew: failed({ ...own, version: ofNew.ExecutedVersion }),
        failedAll: failed(own),
        crashedNew: lambda('Errors', ofNew),
        crashedAll: lambda('Errors', ofAlias),
      });
      expect(metricsOf(one('AWS::CloudWatch::Alarm', `Rollout${name}latency`).properties)).toEqual({
        ...calls,
        timeNew: lambda('Duration', ofNew),
        timeAll: lambda('Duration', ofAlias),
      });
    },
  );

  it.each(OPERATIONS)(
    '%s: the smoke call is one of the operation, to the new version and no other',
    (route, operation) => {
      const name = operation.replaceAll('-', '');
      const version = one('AWS::Lambda::Alias', `Rollout${name}`).properties.FunctionVersion;
      const [METHOD, RESOURCE] = route.split(' ');
      const arn = one('AWS::Lambda::Version', name).id;
      expect(version).toBe(`${arn}.Version`);
      const hook = one('AWS::Lambda::Function', `Rollout${name}smoke`).properties;
      expect(hook.Environment.Variables).toEqual({ VERSION: arn, METHOD, RESOURCE });
      const { PolicyDocument } = one('AWS::IAM::Policy', `Rollout${name}smokeRole`).properties;
      expect(PolicyDocument.Statement).toContainEqual({
        Action: 'lambda:InvokeFunction',
        Effect: 'Allow',
        Resource: arn,
      });
    },
  );

  type Counts = Record<string, number>;
  /** CloudWatch's answer for these counts; what is not given was not counted. */
  const raised = (what: string, counts: Counts): boolean => {
    const { Metrics, Threshold } = one('AWS::CloudWatch::Alarm', `Rolloutmergealerts${what}`).properties;
    const expression = Metrics[0].Expression.replaceAll(
      /FILL\((\w+), 0\)/g,
      (_: string, name: string) => counts[name] ?? 0,
    );
    expect(expression).toMatch(/^[\d\s.()+\-*/>=,IFAND]+$/);
    const value = runInNewContext(expression.replaceAll('AND', '&&'), {
      IF: (met: boolean, then: number, otherwise: number) => (met ? then : otherwise),
    });
    return value >= Threshold;
  };
  it.each<[string, string, Counts, boolean]>([
    ['nothing was called', 'errors', {}, false],
    ['all is well', 'errors', { callsNew: 300_000, callsAll: 3_000_000 }, false],
    [
      'three failures in 300,000 calls are noise',
      'errors',
      { callsNew: 300_000, callsAll: 3_000_000, failedNew: 3, failedAll: 30 },
      false,
    ],
    [
      'one call of a hundred fails, and none of the old version',
      'errors',
      { callsNew: 1000, callsAll: 10_000, failedNew: 10, failedAll: 10 },
      true,
    ],
    ['a single failure is chance', 'errors', { callsNew: 20, callsAll: 200, failedNew: 1, failedAll: 1 }, false],
    [
      'it fails over twice as often as the old one, not as both together',
      'errors',
      { callsNew: 1000, callsAll: 10_000, failedNew: 90, failedAll: 450 },
      true,
    ],
    ['it crashes', 'errors', { callsNew: 1000, callsAll: 10_000, crashedNew: 10, crashedAll: 10 }, true],
    [
      'two failures of the five calls that a quiet stage has',
      'errors',
      { callsNew: 2, callsAll: 5, failedNew: 2, failedAll: 2 },
      true,
    ],
    [
      'an incident: a third of all calls fails in both',
      'errors',
      { callsNew: 1000, callsAll: 10_000, failedNew: 333, failedAll: 3333 },
      false,
    ],
    [
      'its fix: the old version fails, the new one hardly',
      'errors',
      { callsNew: 1000, callsAll: 10_000, failedNew: 20, failedAll: 8020 },
      false,
    ],
    [
      'a worse one within an incident',
      'errors',
      { callsNew: 1000, callsAll: 10_000, failedNew: 300, failedAll: 1200 },
      true,
    ],
    [
      'it gets all calls, for five minutes',
      'errors',
      { callsNew: 10_000, callsAll: 10_000, failedNew: 10, failedAll: 10 },
      false,
    ],
    [
      'large merges take seconds in both',
      'latency',
      { callsNew: 100, callsAll: 1000, timeNew: 300_000, timeAll: 3_000_000 },
      false,
    ],
    [
      'it takes three times as long',
      'latency',
      { callsNew: 100, callsAll: 1000, timeNew: 90_000, timeAll: 360_000 },
      true,
    ],
    [
      'it takes 40 ms in place of 10',
      'latency',
      { callsNew: 100, callsAll: 1000, timeNew: 4000, timeAll: 13_000 },
      false,
    ],
    [
      'too few calls for an average',
      'latency',
      { callsNew: 19, callsAll: 1000, timeNew: 190_000, timeAll: 200_000 },
      false,
    ],
    ['there is no other version', 'latency', { callsNew: 1000, callsAll: 1000, timeNew: 1e7, timeAll: 1e7 }, false],
  ])('%s (%s, %o): rolled back: %s', (_case, what, counts, expected) => {
    expect(raised(what, counts)).toBe(expected);
  });

  it('keeps the versions before, and not one whose deployment fails', () => {
    const policies = Object.values(resourcesOf(template, 'AWS::Lambda::Version')).map(
      ({ DeletionPolicy, UpdateReplacePolicy }) => [DeletionPolicy, UpdateReplacePolicy],
    );
    expect(policies).toEqual(Array(4).fill(['RetainExceptOnCreate', 'Retain']));
  });
});

it('-c rollout=canary-forced moves all calls at once, whatever alarms say, but not to a version that cannot answer', () => {
  const template = deployed({ rollout: 'canary-forced' });
  const groups = Object.values(propertiesOf('AWS::CodeDeploy::DeploymentGroup', template));
  expect(groups).toHaveLength(4);
  for (const { DeploymentConfigName, AlarmConfiguration, AutoRollbackConfiguration } of groups) {
    expect(DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce');
    expect(AlarmConfiguration?.Alarms ?? []).toEqual([]);
    expect(AutoRollbackConfiguration.Events).toEqual(['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST']);
  }
  for (const { UpdatePolicy } of Object.values(resourcesOf(template, 'AWS::Lambda::Alias')))
    expect(readable(UpdatePolicy).CodeDeployLambdaAliasUpdate.BeforeAllowTrafficHook).toMatch(/smokeHook$/);
});

// biome-ignore lint/suspicious/noExplicitAny: a template holds whatever CloudFormation takes
const metricsOf = ({ Metrics }: any) =>
  Object.fromEntries(
    // biome-ignore lint/suspicious/noExplicitAny: as above
    Metrics.slice(1).map(({ Id, MetricStat: { Metric, Period, Stat } }: any) => {
      expect([Period, Stat]).toEqual([300, 'Sum']);
      const dimensions = Object.fromEntries(
        Metric.Dimensions.map(({ Name, Value }: Record<string, string>) => [Name, Value]),
      );
      return [Id, [`${Metric.Namespace} ${Metric.MetricName}`, dimensions]];
    }),
  );
