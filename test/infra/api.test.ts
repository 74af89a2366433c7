/** The REST API, its stage and its usage plans: docs/deploy.md, docs/decisions.md, SECURITY.md. */
import { describe, expect, it } from 'vitest';
import { logsOutputOf } from '../../infra/outputs.ts';
import { functionIdOf, functionsOf, routesOf } from '../../packages/local/template.ts';
import { deployed, idOfFunction, OPERATIONS, only, propertiesOf, readable, shortId } from './stack.ts';

const template = deployed();

it('a route calls the function of its operation, openapi-document or fallback-route; only operations have the authorizer and require a gateway key', () => {
  const nameOf = new Map([...functionsOf(template)].map(([name, { id }]) => [id, name]));
  const found = [...routesOf(template)].map(([route, { Properties }]) => {
    const { AuthorizationType, AuthorizerId, ApiKeyRequired, Integration } = readable(Properties);
    // With no time-out of its own API Gateway waits 29 s, longer than any function that answers.
    expect(Integration).toEqual({ Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri: expect.any(String) });
    const name = nameOf.get(functionIdOf(Properties.Integration.Uri));
    return [route, [name, AuthorizationType, AuthorizerId, ApiKeyRequired]];
  });
  const served = [...OPERATIONS.map(([route]) => route), 'GET /openapi.json'];
  // fallback-route also serves the paths between the root and a route.
  const pathsBetween = served.flatMap((route) => {
    const parts = String(route.split(' ')[1]).split('/');
    return parts.map((_part, index) => parts.slice(0, index + 1).join('/') || '/');
  });
  expect(Object.fromEntries(found)).toEqual({
    ...Object.fromEntries(OPERATIONS.map(([route, name]) => [route, [name, 'CUSTOM', 'ServiceAuthorizer', true]])),
    'GET /openapi.json': ['openapi-document', 'NONE', undefined, undefined],
    ...Object.fromEntries(
      [...pathsBetween, '/{proxy+}'].map((path) => [`ANY ${path}`, ['fallback-route', 'NONE', undefined, undefined]]),
    ),
  });
});

it('the API is regional, with TLS 1.2 or later, binary bodies, compression from 1 KB, its own name, and keys from the authorizer', () => {
  expect(readable(only('AWS::ApiGateway::RestApi', template).Properties)).toEqual({
    // Two stacks in a region must not share this name, by which CloudWatch groups metrics.
    Name: 'Service',
    Description: expect.any(String),
    DisableExecuteApiEndpoint: false,
    ApiKeySourceType: 'AUTHORIZER',
    BinaryMediaTypes: ['*/*'],
    EndpointConfiguration: { Types: ['REGIONAL'] },
    MinimumCompressionSize: 1024,
    SecurityPolicy: 'TLS_1_2',
  });
});

it('the API asks the authorizer by app_key, and keeps its answer for a minute', () => {
  expect(only('AWS::ApiGateway::Authorizer', template).Properties).toMatchObject({
    Type: 'REQUEST',
    IdentitySource: 'method.request.querystring.app_key',
    AuthorizerResultTtlInSeconds: 60,
  });
});

it('the outputs are those that commands and other stacks read; the address has no slash at its end', () => {
  const outputs = Object.entries(template.Outputs ?? {}).map(([name, { Value }]) => [name, readable(Value)]);
  expect(Object.fromEntries(outputs)).toEqual({
    Url: 'https://ServiceApi.execute-api.AWS::Region.AWS::URLSuffix/ServiceApiDeploymentStageprod',
    TableName: 'Table',
    AccountPlanId: 'ServiceApiAccountPlan',
    DeadLettersUrl: 'MergesDeadLetters',
    MergeQueueUrl: 'MergesQueue',
    EventBusName: 'RelayBus',
    RelayEventsUrl: 'RelayEvents',
    RelayDeadLettersUrl: 'RelayDeadLetters',
    FeedUrl: 'FeedQueue',
    FeedArn: 'FeedQueue.Arn',
    FeedRefusedUrl: 'FeedRefused',
    FeedWritersPolicyArn: 'FeedWriters',
    OperatorPolicyArn: 'Operator',
    DashboardUrl:
      'https://AWS::Region.Consoles.AWS::Partition.domain/cloudwatch/home?region=AWS::Region#dashboards/dashboard/WatchDashboard',
    AccessLogs: 'ServiceAccessLog',
    ...Object.fromEntries(
      [...functionsOf(template).keys()].map((name) => [logsOutputOf(name), `${idOfFunction(name)}Logs`]),
    ),
  });
});

describe('the stage', () => {
  const { MethodSettings, AccessLogSetting, ...stage } = readable(only('AWS::ApiGateway::Stage', template).Properties);

  it('is named prod, since the paths carry no version; it has no X-Ray, which would store the query string, and no cache', () => {
    expect(stage).toEqual({
      StageName: 'prod',
      RestApiId: 'ServiceApi',
      DeploymentId: expect.stringMatching(/^ServiceApiDeployment/),
      TracingEnabled: false,
    });
  });

  it('throttles each operation for all accounts together, and all other routes more tightly; it stores no query string', () => {
    const notStored = { LoggingLevel: 'OFF', DataTraceEnabled: false };
    const setting = (ResourcePath: string, HttpMethod: string, rate: number, burst: number) =>
      expect.objectContaining({
        ...{ ResourcePath, HttpMethod, ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst, ...notStored },
      });
    expect(MethodSettings).toEqual([
      setting('/*', '*', 100, 200),
      setting('/~1monit~1servicemap~1fleet', 'POST', 1000, 2000),
      setting('/~1rum~1resource~1info', 'POST', 1000, 2000),
      setting('/~1incident~1work-item~1delete', 'POST', 1000, 2000),
      setting('/~1feed~1alertmanager', 'POST', 1000, 2000),
      setting('/~1feed~1records', 'POST', 1000, 2000),
      setting('/~1alert~1merge', 'POST', 1000, 2000),
    ]);
  });

  it('logs what alarms and operators read of each call, as text, and nothing that holds the query string or a key', () => {
    expect(AccessLogSetting.DestinationArn).toMatch(/:log-group:ServiceAccessLog$/);
    const fields = JSON.parse(AccessLogSetting.Format) as Record<string, string>;
    expect(fields).toMatchObject({
      request_id: '$context.requestId',
      // A caller can choose the request id, but not this one.
      extended_request_id: '$context.extendedRequestId',
      resource: '$context.resourcePath',
      status: '$context.status',
      account_id: '$context.authorizer.principalId',
      error: '$context.error.responseType',
      integration_error: '$context.integrationErrorMessage',
      authorizer_error: '$context.authorizer.error',
    });
    for (const variable of Object.values(fields)) expect(variable).not.toMatch(/query|key|\.path$|\.usage/i);
  });
});

describe('the usage plans', () => {
  it('allow an account 50 calls a second with a burst of 100 (of merges 20 and 40), and all unknown callers together 200 and 400, without a quota', () => {
    const plan = (RateLimit: number, BurstLimit: number, merges = { RateLimit, BurstLimit }) => {
      const throttles = OPERATIONS.map(([route, name]) => [
        route.replace(/(\w+) (.*)/, '$2/$1'),
        name === 'merge-alerts' ? merges : { RateLimit, BurstLimit },
      ]);
      const stage = { ApiId: 'ServiceApi', Stage: 'ServiceApiDeploymentStageprod' };
      return {
        Description: expect.any(String),
        ApiStages: [{ ...stage, Throttle: Object.fromEntries(throttles) }],
      };
    };
    expect(propertiesOf('AWS::ApiGateway::UsagePlan', template)).toEqual({
      ServiceApiAccountPlan: plan(50, 100, { RateLimit: 20, BurstLimit: 40 }),
      ServiceApiSharedPlan: plan(200, 400),
    });
  });

  it('have one gateway key for all unknown callers: the one that the authorizer returns', () => {
    const { Enabled, Value } = only('AWS::ApiGateway::ApiKey', template).Properties;
    expect([Enabled, Value]).toEqual([true, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    const { Variables } = functionsOf(template).get('usage-key-authorizer')?.Properties.Environment ?? {};
    expect(Variables.SHARED_GATEWAY_KEY).toBe(Value);
    const { KeyId, KeyType, UsagePlanId } = readable(only('AWS::ApiGateway::UsagePlanKey', template).Properties);
    expect([shortId(KeyId), KeyType, UsagePlanId]).toEqual(['ServiceApiSharedKey', 'API_KEY', 'ServiceApiSharedPlan']);
  });
});
