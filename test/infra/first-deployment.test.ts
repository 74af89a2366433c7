/** What makes the first `cdk deploy` succeed and the deployment behave, by AWS's rules (docs/aws-behaviour.md). */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Resource, resourcesOf, synthesize, type Template } from '../../infra/local/template.ts';
import { en } from '../../lib/api/messages/en.ts';

let template: Template;
beforeAll(() => {
  template = synthesize();
});
const all = (type: string, of = template) => Object.values(resourcesOf(of, type));
const only = (type: string, of = template): Resource => {
  const found = all(type, of);
  expect(found).toHaveLength(1);
  return found[0] as Resource;
};
const idOf = (type: string, of = template): string => Object.keys(resourcesOf(of, type))[0] ?? '';

describe('access logs', () => {
  it('have the role that API Gateway needs in the account and region, kept when the stack goes', () => {
    const account = only('AWS::ApiGateway::Account');
    const role = template.Resources[account.Properties.CloudWatchRoleArn['Fn::GetAtt'][0]];
    expect(role?.Properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'apigateway.amazonaws.com' } },
    ]);
    expect(JSON.stringify(role?.Properties.ManagedPolicyArns)).toContain(
      ':iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
    );
    for (const kept of [account, role])
      expect([kept?.DeletionPolicy, kept?.UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
    expect(only('AWS::ApiGateway::Stage').DependsOn).toContain(idOf('AWS::ApiGateway::Account'));
  });

  it('can do without it where the region has one', () => {
    expect(all('AWS::ApiGateway::Account', synthesize({ apiGatewayAccount: 'false' }))).toEqual([]);
  });

  it('name a call by an id that no client can choose, beside the request id, which one can', () => {
    const { Format } = only('AWS::ApiGateway::Stage').Properties.AccessLogSetting;
    expect(JSON.parse(Format)).toMatchObject({
      request_id: '$context.requestId',
      extended_request_id: '$context.extendedRequestId',
    });
  });
});

describe('the topic of the alarms', () => {
  it('lets CloudWatch publish for this account, for its own policy takes the place of the default one', () => {
    const sending = synthesize({ alarmEmail: 'ops@example.com' });
    const { Statement } = only('AWS::SNS::TopicPolicy', sending).Properties.PolicyDocument;
    const allowing = Statement.filter(({ Effect }: { Effect: string }) => Effect === 'Allow');
    expect(allowing).toEqual([
      expect.objectContaining({
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Resource: { Ref: idOf('AWS::SNS::Topic', sending) },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    ]);
  });
});

describe('a new deployment of the API', () => {
  const deploymentOf = (of: Template) => idOf('AWS::ApiGateway::Deployment', of);

  it('is made when a gateway response changes, and waits for all of them', () => {
    const { ServiceUnavailable } = en.codes;
    Object.assign(en.codes, { ServiceUnavailable: 'In other words.' });
    const changed = synthesize();
    Object.assign(en.codes, { ServiceUnavailable });
    expect(JSON.stringify(changed.Resources)).toContain('In other words.');
    expect(deploymentOf(changed)).not.toBe(deploymentOf(template));
    expect(deploymentOf(synthesize())).toBe(deploymentOf(template));
    expect(all('AWS::ApiGateway::GatewayResponse')).toHaveLength(21);
    expect(only('AWS::ApiGateway::Deployment').DependsOn).toEqual(
      expect.arrayContaining(Object.keys(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse'))),
    );
  });

  it('is made when the time changes that the authorizer is remembered for', () => {
    const changed = synthesize({ authorizerCacheSeconds: '30' });
    expect(only('AWS::ApiGateway::Authorizer', changed).Properties.AuthorizerResultTtlInSeconds).toBe(30);
    expect(deploymentOf(changed)).not.toBe(deploymentOf(template));
    expect(only('AWS::ApiGateway::Deployment').DependsOn).toContain(idOf('AWS::ApiGateway::Authorizer'));
  });
});

describe('the API', () => {
  it('has an output Url to which paths are appended as it is', () => {
    const { Url } = template.Outputs as Record<string, { Value: { 'Fn::Join': [string, unknown[]] } }>;
    const [, parts] = Url?.Value['Fn::Join'] ?? ['', []];
    expect(parts[0]).toBe('https://');
    expect(parts.at(-1)).toEqual({ Ref: idOf('AWS::ApiGateway::Stage') });
  });

  it('is served at the stage prod, for its paths carry no version, with TLS 1.2 or later', () => {
    expect(only('AWS::ApiGateway::Stage').Properties.StageName).toBe('prod');
    expect(only('AWS::ApiGateway::RestApi').Properties.SecurityPolicy).toBe('TLS_1_2');
  });

  it('throttles each operation for all accounts together, and more tightly each route that has no usage plan', () => {
    const settings = only('AWS::ApiGateway::Stage').Properties.MethodSettings as Record<string, unknown>[];
    const throttles = settings.map(({ ResourcePath, HttpMethod, ThrottlingRateLimit, ThrottlingBurstLimit }) => [
      `${ResourcePath} ${HttpMethod}`,
      ThrottlingRateLimit,
      ThrottlingBurstLimit,
    ]);
    expect(throttles).toEqual([
      ['/* *', 100, 200],
      ['/~1monit~1servicemap~1fleet POST', 1000, 2000],
      ['/~1rum~1resource~1info POST', 1000, 2000],
      ['/~1incident~1work-item~1delete POST', 1000, 2000],
      ['/~1alert~1merge POST', 1000, 2000],
    ]);
    // Metrics for each method cost, and nothing reads them.
    for (const { MetricsEnabled } of settings) expect(MetricsEnabled).toBe(false);
  });

  it('has metrics of its own, whatever else the region serves', () => {
    expect(only('AWS::ApiGateway::RestApi').Properties.Name).toBe('Service');
  });
});
