/** How calls move to a new version of an operation: docs/deploy.md. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { resourcesOf, routesOf } from '../../packages/local/template.ts';
import { deployed, OPERATIONS, propertiesOf, readable, shortId } from '../support/stack.ts';

interface MetricOfAlarm {
  Id: string;
  MetricStat: {
    Metric: { Namespace: string; MetricName: string; Dimensions: { Name: string; Value: string }[] };
    Period: number;
    Stat: string;
  };
}

it('all at once is the default: no alias, nothing of CodeDeploy', () => {
  const types = Object.values(deployed().Resources).map(({ Type }) => Type);
  expect(types.filter((type) => /CodeDeploy|Lambda::Alias|Lambda::Version/.test(type))).toEqual([]);
});

describe('-c rollout=canary', () => {
  const template = deployed({ rollout: 'canary' });

  describe.each(OPERATIONS)('%s', (route, operation) => {
    const name = operation.replaceAll('-', '');
    /** The resource of a type that belongs to the operation. */
    const resourceOf = (type: string, prefix = `Rollout${name}`) => {
      const found = Object.entries(resourcesOf(template, `AWS::${type}`)).filter(([id]) =>
        shortId(id).startsWith(prefix),
      );
      expect(found).toHaveLength(1);
      const [[id, resource]] = found as [(typeof found)[number]];
      return { id: shortId(id), properties: readable(resource.Properties), resource };
    };
    const alias = resourceOf('Lambda::Alias');
    const version = resourceOf('Lambda::Version', name);
    const group = resourceOf('CodeDeploy::DeploymentGroup');
    const alarms = ['errors', 'latency'].map((what) => `Rollout${name}${what}`);

    it('calls the alias, which moves by the deployment group after a smoke call to the new version', () => {
      const FunctionVersion = `${version.id}.Version`;
      expect(alias.properties).toEqual({ Name: 'live', FunctionName: `${name}Function`, FunctionVersion });
      expect(readable(alias.resource.UpdatePolicy).CodeDeployLambdaAliasUpdate).toMatchObject({
        DeploymentGroupName: group.id,
        BeforeAllowTrafficHook: `Rollout${name}smokeHook`,
      });
      const { Uri } = routesOf(template).get(route)?.Properties.Integration ?? {};
      expect(readable(Uri)).toContain(`/functions/${alias.id}/invocations`);
      const callers = Object.values(propertiesOf('AWS::Lambda::Permission', template));
      const SourceArn = expect.stringMatching(`${route.replace(' ', '')}$`);
      expect(callers).toContainEqual(expect.objectContaining({ FunctionName: alias.id, SourceArn }));

      const [METHOD, RESOURCE] = route.split(' ');
      const hook = resourceOf('Lambda::Function', `Rollout${name}smoke`).properties;
      expect(hook.Environment.Variables).toEqual({ VERSION: version.id, METHOD, RESOURCE });
      const { PolicyDocument } = resourceOf('IAM::Policy', `Rollout${name}smokeRole`).properties;
      const statement = { Action: 'lambda:InvokeFunction', Effect: 'Allow', Resource: version.id };
      expect(PolicyDocument.Statement).toContainEqual(statement);
    });

    it('gives a new version 10 % for five minutes, unless its alarms roll it back, and keeps earlier versions', () => {
      expect(group.properties).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        AlarmConfiguration: { Enabled: true, Alarms: alarms.map((Name) => ({ Name })) },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
        },
      });
      // An alarm that is updated after the alias would still watch the previous version.
      expect([alias.resource.DependsOn].flat().map((id) => shortId(String(id)))).toEqual(
        expect.arrayContaining(alarms),
      );
      // A version whose deployment fails is not kept.
      const { DeletionPolicy, UpdateReplacePolicy } = version.resource;
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain']);
    });

    it('has alarms that read the metrics of the new version, and of all calls of the alias', () => {
      const aliasDimensions = { FunctionName: `${name}Function`, Resource: `${name}Function:live` };
      const ExecutedVersion = `${version.id}.Version`;
      const serviceDimensions = { operation, service: 'incident-monitoring-rum' };
      const lambda = (what: string, metric: string) => ({
        [`${what}New`]: [`AWS/Lambda ${metric}`, { ...aliasDimensions, ExecutedVersion }],
        [`${what}All`]: [`AWS/Lambda ${metric}`, aliasDimensions],
      });
      const metricsOf = (alarm: string) => {
        const [, ...metrics] = resourceOf('CloudWatch::Alarm', alarm).properties.Metrics as MetricOfAlarm[];
        return Object.fromEntries(
          metrics.map(({ Id, MetricStat: { Metric, Period, Stat } }) => {
            expect([Period, Stat]).toEqual([300, 'Sum']);
            const dimensions = Object.fromEntries(Metric.Dimensions.map(({ Name, Value }) => [Name, Value]));
            return [Id, [`${Metric.Namespace} ${Metric.MetricName}`, dimensions]];
          }),
        );
      };
      expect(alarms.map(metricsOf)).toEqual([
        {
          ...lambda('calls', 'Invocations'),
          failedNew: ['IncidentMonitoringRum/Service Failed', { ...serviceDimensions, version: ExecutedVersion }],
          failedAll: ['IncidentMonitoringRum/Service Failed', serviceDimensions],
          ...lambda('crashed', 'Errors'),
        },
        { ...lambda('calls', 'Invocations'), ...lambda('time', 'Duration') },
      ]);
    });
  });

  /** Whether an alarm of merge-alerts is raised by these counts. CloudWatch fills in 0 for a count without data. */
  function isRaised(what: string, counts: Record<string, number>): boolean {
    const { Metrics, Threshold } = propertiesOf('AWS::CloudWatch::Alarm', template)[`Rolloutmergealerts${what}`];
    const expression = Metrics[0].Expression.replaceAll(
      /FILL\((\w+), 0\)/g,
      (_: string, name: string) => counts[name] ?? 0,
    );
    expect(expression).toMatch(/^[\d\s.()+\-*/>=,IFAND]+$/);
    const value = runInNewContext(expression.replaceAll('AND', '&&'), {
      IF: (met: boolean, then: number, otherwise: number) => (met ? then : otherwise),
    });
    return value >= Threshold;
  }

  it.each<[name: string, newVersion: number[], all: number[], expected: boolean]>([
    ['nothing was called', [], [], false],
    ['all is well', [300_000], [3_000_000], false],
    ['three failures in 300,000 calls are noise', [300_000, 3], [3_000_000, 30], false],
    ['one call of a hundred fails, and none of the old version', [1000, 10], [10_000, 10], true],
    ['a single failure is chance', [20, 1], [200, 1], false],
    ['it fails over twice as often as the old one, not as both together', [1000, 90], [10_000, 450], true],
    ['it crashes', [1000, 0, 10], [10_000, 0, 10], true],
    ['two failures of the five calls that a quiet stage has', [2, 2], [5, 2], true],
    ['an incident: a third of all calls fails in both', [1000, 333], [10_000, 3333], false],
    ['its fix: the old version fails, the new one hardly', [1000, 20], [10_000, 8020], false],
    ['a worse one within an incident', [1000, 300], [10_000, 1200], true],
    ['it gets all calls, for five minutes', [10_000, 10], [10_000, 10], false],
  ])('%s (calls, failed, crashed: new %j, all %j): rolled back for errors: %s', (_name, newVersion, all, expected) => {
    const [callsNew = 0, failedNew = 0, crashedNew = 0] = newVersion;
    const [callsAll = 0, failedAll = 0, crashedAll = 0] = all;
    const counts = { callsNew, failedNew, crashedNew, callsAll, failedAll, crashedAll };
    expect(isRaised('errors', counts)).toBe(expected);
  });

  it.each<[name: string, newVersion: [number, number], all: [number, number], expected: boolean]>([
    ['large merges take seconds in both', [100, 300_000], [1000, 3_000_000], false],
    ['it takes three times as long', [100, 90_000], [1000, 360_000], true],
    ['it takes 40 ms in place of 10', [100, 4000], [1000, 13_000], false],
    ['too few calls for an average', [19, 190_000], [1000, 200_000], false],
    ['there is no other version', [1000, 1e7], [1000, 1e7], false],
  ])('%s (calls, ms: new %j, all %j): rolled back for latency: %s', (_name, newVersion, all, expected) => {
    const [[callsNew, timeNew], [callsAll, timeAll]] = [newVersion, all];
    expect(isRaised('latency', { callsNew, timeNew, callsAll, timeAll })).toBe(expected);
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
