/** How an update comes into use: docs/deploy.md. */
import { describe, expect, it } from 'vitest';
import { routesOf } from '../../packages/local/template.ts';
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
      CodeDeployLambdaAliasUpdate: { ApplicationName: 'RolloutApplication', DeploymentGroupName: group.id },
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
    '%s: 10 % for five minutes, and alarms on errors and latency take it back',
    (_route, operation) => {
      const name = operation.replaceAll('-', '');
      const group = one('AWS::CodeDeploy::DeploymentGroup', `Rollout${name}`);
      const errors = one('AWS::CloudWatch::Alarm', `Rollout${name}errors`);
      const latency = one('AWS::CloudWatch::Alarm', `Rollout${name}latency`);
      expect(group.properties).toEqual({
        ApplicationName: 'RolloutApplication',
        ServiceRoleArn: `Rollout${name}groupServiceRole.Arn`,
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
        AlarmConfiguration: { Enabled: true, Alarms: [{ Name: errors.id }, { Name: latency.id }] },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
        },
      });
      const raised = {
        AlarmDescription: expect.any(String),
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        TreatMissingData: 'notBreaching',
      };
      const count = (Id: string, metric: string, Dimensions: { Name: string; Value: string }[]) => ({
        Id,
        MetricStat: {
          Metric: { Namespace: metric.split(' ')[0], MetricName: metric.split(' ')[1], Dimensions },
          Period: 300,
          Stat: 'Sum',
        },
        ReturnData: false,
      });
      const ofFunction = { Name: 'FunctionName', Value: `${name}Function` };
      expect(errors.properties).toEqual({
        ...raised,
        Metrics: [
          {
            Id: expect.any(String),
            Expression: 'FILL(internal, 0) + FILL(crashed, 0)',
            Label: expect.any(String),
            ReturnData: true,
          },
          count('internal', 'IncidentMonitoringRum/Service Calls', [
            { Name: 'code', Value: 'InternalError' },
            { Name: 'operation', Value: operation },
            { Name: 'service', Value: 'incident-monitoring-rum' },
          ]),
          count('crashed', 'AWS/Lambda Errors', [ofFunction]),
        ],
        EvaluationPeriods: 1,
        Threshold: 3,
      });
      expect(latency.properties).toEqual({
        ...raised,
        Namespace: 'AWS/Lambda',
        MetricName: 'Duration',
        Dimensions: [ofFunction],
        ExtendedStatistic: 'p99',
        Period: 60,
        EvaluationPeriods: 2,
        Threshold: 2000,
      });
    },
  );
});
