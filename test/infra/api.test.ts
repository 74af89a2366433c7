/** The REST API, its stage and its usage plans: docs/deploy.md, docs/decisions.md, SECURITY.md. */
import { describe, expect, it } from 'vitest';
import { logsOutputOf } from '../../infra/outputs.ts';
import { functionIdOf, functionsOf, type Resource, routesOf } from '../../packages/local/template.ts';
import { deployed, idOfFunction, OPERATIONS, only, propertiesOf, readable, shortId } from '../support/stack.ts';

const template = deployed();
const DOCUMENT_ROUTE = 'GET /openapi.json';

describe('a route', () => {
  const routes = routesOf(template);
  const calledBy = (route: string) => {
    const id = functionIdOf((routes.get(route) as Resource).Properties.Integration.Uri);
    return [...functionsOf(template)].find(([, fn]) => fn.id === id)?.[0];
  };

  it('calls the function of its operation, openapi-document, or fallback-route, which also serves the paths in between', () => {
    const paths = [...OPERATIONS.map(([route]) => route), DOCUMENT_ROUTE].flatMap((route) => {
      const parts = String(route.split(' ')[1]).split('/');
      return parts.map((_part, index) => parts.slice(0, index + 1).join('/') || '/');
    });
    const refused = [...new Set([...paths, '/{proxy+}'])].map((path) => `ANY ${path}`);
    expect([...routes.keys()].sort()).toEqual(
      [...OPERATIONS.map(([route]) => route), DOCUMENT_ROUTE, ...refused].sort(),
    );
    for (const [route, name] of OPERATIONS) expect([route, calledBy(route)]).toEqual([route, name]);
    expect(calledBy(DOCUMENT_ROUTE)).toBe('openapi-document');
    for (const route of refused) expect([route, calledBy(route)]).toEqual([route, 'fallback-route']);
  });

  it.each([...routes])(
    '%s: only calls of operations have the authorizer and require a gateway key',
    (route, { Properties }) => {
      const { AuthorizationType, AuthorizerId, ApiKeyRequired, Integration } = readable(Properties);
      expect([AuthorizationType, AuthorizerId, ApiKeyRequired]).toEqual(
        OPERATIONS.some(([operation]) => operation === route)
          ? ['CUSTOM', 'ServiceLabelCaller', true]
          : ['NONE', undefined, undefined],
      );
      // With no time-out of its own API Gateway waits 29 s, longer than any function that answers.
      expect(Integration).toEqual({ Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri: expect.any(String) });
    },
  );
});

describe('the API', () => {
  it('is regional, with TLS 1.2 or later, binary bodies, compression from 1 KB, its own name, and keys from the authorizer', () => {
    expect(readable(only('AWS::ApiGateway::RestApi', template).Properties)).toEqual({
      // Two stacks in a region must not share this name, by which CloudWatch groups metrics.
      Name: 'Service',
      Description: expect.any(String),
      ApiKeySourceType: 'AUTHORIZER',
      BinaryMediaTypes: ['*/*'],
      EndpointConfiguration: { Types: ['REGIONAL'] },
      MinimumCompressionSize: 1024,
      SecurityPolicy: 'TLS_1_2',
    });
  });

  it('asks the authorizer by app_key, and keeps its answer for a minute', () => {
    expect(readable(only('AWS::ApiGateway::Authorizer', template).Properties)).toEqual({
      Name: expect.any(String),
      RestApiId: 'ServiceApi',
      Type: 'REQUEST',
      IdentitySource: 'method.request.querystring.app_key',
      AuthorizerResultTtlInSeconds: 60,
      AuthorizerUri: expect.stringContaining('labelcallerFunction.Arn/invocations'),
    });
  });

  it('has outputs for the address, without a slash at its end, the table, the usage plan, queues, logs and dashboard, and no other', () => {
    const outputs = Object.entries(template.Outputs ?? {}).map(([name, { Value }]) => [name, readable(Value)]);
    expect(Object.fromEntries(outputs)).toEqual({
      Url: 'https://ServiceApi.execute-api.AWS::Region.AWS::URLSuffix/ServiceApiDeploymentStageprod',
      TableName: 'Table',
      AccountPlanId: 'ServiceApiAccountPlan',
      DeadLettersUrl: 'MergesDeadLetters',
      MergeQueueUrl: 'MergesQueue',
      EventBusName: 'RelayBus',
      RelayDeadLettersUrl: 'RelayDeadLetters',
      FeedUrl: 'FeedQueue',
      FeedArn: 'FeedQueue.Arn',
      FeedRefusedUrl: 'FeedRefused',
      FeedDeadLettersUrl: 'FeedDeadLetters',
      FeedWritersPolicyArn: 'FeedWriters',
      DashboardUrl:
        'https://AWS::Region.console.aws.amazon.com/cloudwatch/home?region=AWS::Region#dashboards/dashboard/WatchDashboard',
      AccessLogs: 'ServiceAccessLog',
      ...Object.fromEntries(
        [...functionsOf(template).keys()].map((name) => [logsOutputOf(name), `${idOfFunction(name)}Logs`]),
      ),
    });
  });
});

describe('the stage', () => {
  const { MethodSettings, AccessLogSetting, ...stage } = readable(only('AWS::ApiGateway::Stage', template).Properties);

  it('is named prod, since the paths carry no version; it has no X-Ray, no cache, no web ACL', () => {
    expect(stage).toEqual({
      StageName: 'prod',
      RestApiId: 'ServiceApi',
      DeploymentId: expect.stringMatching(/^ServiceApiDeployment/),
      TracingEnabled: false,
    });
  });

  it('throttles each operation for all accounts together, and more tightly each route without a usage plan; it stores no query string', () => {
    const setting = (ResourcePath: string, HttpMethod: string, rate: number, burst: number) => ({
      ResourcePath,
      HttpMethod,
      ThrottlingRateLimit: rate,
      ThrottlingBurstLimit: burst,
      LoggingLevel: 'OFF',
      DataTraceEnabled: false,
      // Metrics for each method cost, and nothing reads them.
      MetricsEnabled: false,
    });
    expect(MethodSettings).toEqual([
      setting('/*', '*', 100, 200),
      setting('/~1monit~1servicemap~1fleet', 'POST', 1000, 2000),
      setting('/~1rum~1resource~1info', 'POST', 1000, 2000),
      setting('/~1incident~1work-item~1delete', 'POST', 1000, 2000),
      setting('/~1alert~1merge', 'POST', 1000, 2000),
    ]);
  });

  it('logs these fields of each call, all as text, and none that holds the query string or a key', () => {
    expect(AccessLogSetting.DestinationArn).toBe('ServiceAccessLog.Arn');
    expect(JSON.parse(AccessLogSetting.Format)).toEqual({
      request_id: '$context.requestId',
      // A caller can choose the request id, but not this one.
      extended_request_id: '$context.extendedRequestId',
      time: '$context.requestTime',
      method: '$context.httpMethod',
      resource: '$context.resourcePath',
      status: '$context.status',
      source_ip: '$context.identity.sourceIp',
      account_id: '$context.authorizer.principalId',
      latency_ms: '$context.responseLatency',
      error: '$context.error.responseType',
      integration_status: '$context.integrationStatus',
      integration_latency_ms: '$context.integrationLatency',
      integration_error: '$context.integrationErrorMessage',
      authorizer_status: '$context.authorizer.status',
      authorizer_latency_ms: '$context.authorizer.latency',
      authorizer_error: '$context.authorizer.error',
    });
  });
});

describe('the usage plans', () => {
  it('allow an account 50 calls a second, burst 100, of merges 20 and 40, and all unknown callers 200 and 400, without a quota', () => {
    const plan = (RateLimit: number, BurstLimit: number, merges = { RateLimit, BurstLimit }) => ({
      Description: expect.any(String),
      ApiStages: [
        {
          ApiId: 'ServiceApi',
          Stage: 'ServiceApiDeploymentStageprod',
          Throttle: Object.fromEntries(
            OPERATIONS.map(([route]) => [
              route.replace(/(\w+) (.*)/, '$2/$1'),
              route.includes('merge') ? merges : { RateLimit, BurstLimit },
            ]),
          ),
        },
      ],
    });
    expect(propertiesOf('AWS::ApiGateway::UsagePlan', template)).toEqual({
      ServiceApiAccountPlan: plan(50, 100, { RateLimit: 20, BurstLimit: 40 }),
      ServiceApiSharedPlan: plan(200, 400),
    });
  });

  it('have one gateway key for all unknown callers: the one that the authorizer returns', () => {
    const [key, ...others] = Object.values(propertiesOf('AWS::ApiGateway::ApiKey', template));
    expect(others).toEqual([]);
    expect(key).toMatchObject({ Enabled: true, Value: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const { Variables } = functionsOf(template).get('usage-key-authorizer')?.Properties.Environment ?? {};
    expect(Variables.SHARED_GATEWAY_KEY).toBe(key.Value);
    const { KeyId, KeyType, UsagePlanId } = readable(only('AWS::ApiGateway::UsagePlanKey', template).Properties);
    expect([shortId(KeyId), KeyType, UsagePlanId]).toEqual(['ServiceApiSharedKey', 'API_KEY', 'ServiceApiSharedPlan']);
  });
});
