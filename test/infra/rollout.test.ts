/** How an update comes into use: docs/deploy.md. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Resource, resourcesOf, routesOf, synthesize, type Template } from '../../infra/local/template.ts';

const OPERATIONS = [
  ['POST /monit/servicemap/fleet', 'browsefleet', 'browse-fleet'],
  ['POST /rum/resource/info', 'getrumresource', 'get-rum-resource'],
  ['POST /incident/work-item/delete', 'deleteworkitem', 'delete-work-item'],
  ['POST /alert/merge', 'mergealerts', 'merge-alerts'],
] as const;

it('all at once is the default: no alias, nothing of CodeDeploy', () => {
  const types = Object.values(synthesize().Resources).map(({ Type }) => Type);
  expect(types.filter((type) => /CodeDeploy|Lambda::Alias|Lambda::Version/.test(type))).toEqual([]);
});

describe('-c rollout=canary', () => {
  let template: Template;
  beforeAll(() => {
    template = synthesize({ rollout: 'canary' });
  });
  const one = (type: string, prefix: string): [string, Resource] => {
    const found = Object.entries(resourcesOf(template, type)).filter(([id]) => id.startsWith(prefix));
    expect(found.map(([id]) => id)).toHaveLength(1);
    return found[0] as [string, Resource];
  };

  it('has an alias and a deployment group for each operation, and for nothing else', () => {
    for (const type of ['AWS::Lambda::Alias', 'AWS::Lambda::Version', 'AWS::CodeDeploy::DeploymentGroup'])
      expect([type, Object.keys(resourcesOf(template, type))]).toEqual([type, expect.objectContaining({ length: 4 })]);
    expect(Object.keys(resourcesOf(template, 'AWS::CodeDeploy::Application'))).toHaveLength(1);
  });

  it.each(OPERATIONS)('%s calls the alias, which moves by the deployment group', (route, name) => {
    const [aliasId, alias] = one('AWS::Lambda::Alias', `Rollout${name}`);
    const [groupId, group] = one('AWS::CodeDeploy::DeploymentGroup', `Rollout${name}`);
    expect(alias.Properties).toMatchObject({
      Name: 'live',
      FunctionName: { Ref: one('AWS::Lambda::Function', name)[0] },
      FunctionVersion: { 'Fn::GetAtt': [one('AWS::Lambda::Version', name)[0], 'Version'] },
    });
    expect(alias.UpdatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: { Ref: Object.keys(resourcesOf(template, 'AWS::CodeDeploy::Application'))[0] },
        DeploymentGroupName: { Ref: groupId },
      },
    });
    expect(JSON.stringify(routesOf(template).get(route)?.Properties.Integration.Uri)).toContain(`{"Ref":"${aliasId}"}`);
    expect(group.Properties).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      },
    });
    const permitted = Object.values(resourcesOf(template, 'AWS::Lambda::Permission')).map(
      ({ Properties }) => Properties.FunctionName,
    );
    expect(permitted).toContainEqual({ Ref: aliasId });
  });

  it.each(OPERATIONS)('%s: alarms on errors and latency take the new version back', (_route, name, operation) => {
    const [, group] = one('AWS::CodeDeploy::DeploymentGroup', `Rollout${name}`);
    const [errorsId, errors] = one('AWS::CloudWatch::Alarm', `Rollout${name}errors`);
    const [latencyId, latency] = one('AWS::CloudWatch::Alarm', `Rollout${name}latency`);
    expect(group.Properties.AlarmConfiguration).toEqual({
      Enabled: true,
      Alarms: [{ Name: { Ref: errorsId } }, { Name: { Ref: latencyId } }],
    });
    const [math, ...read] = errors.Properties.Metrics;
    expect([math.Expression, errors.Properties.Threshold]).toEqual(['FILL(internal, 0) + FILL(crashed, 0)', 3]);
    const metrics = read.map(({ MetricStat }: { MetricStat: { Period: number; Metric: object } }) => MetricStat);
    expect(metrics).toMatchObject([
      {
        Period: 300,
        Metric: {
          MetricName: 'Calls',
          Dimensions: [
            { Name: 'code', Value: 'InternalError' },
            { Name: 'operation', Value: operation },
            { Name: 'service', Value: 'incident-monitoring-rum' },
          ],
        },
      },
      { Period: 300, Metric: { Namespace: 'AWS/Lambda', MetricName: 'Errors' } },
    ]);
    expect(latency.Properties).toMatchObject({
      MetricName: 'Duration',
      ExtendedStatistic: 'p99',
      Period: 60,
      EvaluationPeriods: 2,
      Threshold: 2000,
      TreatMissingData: 'notBreaching',
    });
  });
});
