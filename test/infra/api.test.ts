/** The REST API, its stage, usage plans and domain, and the stack's outputs: docs/deploy.md, docs/decisions.md, SECURITY.md. */
import { describe, expect, it } from 'vitest';
import { logsOutputOf } from '../../infra/outputs.ts';
import { ERROR_CODES, type ErrorCode } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { operations } from '../../lib/operations/index.ts';
import { readDeployment } from '../../packages/local/deployment.ts';
import { answerOf } from '../../packages/local/gateway-response.ts';
import { functionIdOf, functionsOf, resourcesOf, routesOf, type Template } from '../../packages/local/template.ts';
import { deployed, idOfFunction, only, propertiesOf, readable, shortId } from './stack.ts';
import { DOMAIN, type Variant, WEB_ACL } from './templates.ts';

const template = deployed();
const idsOf = (type: string, of: Template) => Object.keys(resourcesOf(of, `AWS::ApiGateway::${type}`));

it('only routes of operations have the authorizer and require a gateway key; fallback-route serves all paths between them', () => {
  const nameOf = new Map([...functionsOf(template)].map(([name, { id }]) => [id, name]));
  const found = [...routesOf(template)].map(([route, { Properties }]) => {
    const { AuthorizationType, AuthorizerId, ApiKeyRequired, Integration } = readable(Properties);
    // Without a time-out API Gateway waits 29 s, longer than any function that answers.
    expect(Integration).toEqual({ Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri: expect.any(String) });
    const name = nameOf.get(functionIdOf(Properties.Integration.Uri));
    return [route, [name, AuthorizationType, AuthorizerId, ApiKeyRequired].join(' ').trim()];
  });
  const served = operations.map(({ path, name }) => [`POST ${path}`, `${name} CUSTOM ServiceAuthorizer true`]);
  const between = ['/openapi.json', ...operations.map(({ path }) => path)].flatMap((path) => {
    const parts = path.split('/');
    return parts.map((_part, index) => parts.slice(0, index + 1).join('/') || '/');
  });
  expect(Object.fromEntries(found)).toEqual({
    ...Object.fromEntries([...between, '/{proxy+}'].map((path) => [`ANY ${path}`, 'fallback-route NONE'])),
    ...Object.fromEntries([...served, ['GET /openapi.json', 'openapi-document NONE']]),
  });
});

it('the API is regional, with TLS 1.2, binary bodies, and keys of the authorizer, which is asked once a minute', () => {
  const api = {
    // CloudWatch groups metrics by it.
    Name: 'Service',
    Description: expect.any(String),
    DisableExecuteApiEndpoint: false,
    ApiKeySourceType: 'AUTHORIZER',
    BinaryMediaTypes: ['*/*'],
    EndpointConfiguration: { Types: ['REGIONAL'] },
    MinimumCompressionSize: 1024,
    SecurityPolicy: 'TLS_1_2',
  };
  expect(only('ApiGateway::RestApi', template).Properties).toEqual(api);
  expect(only('ApiGateway::RestApi', deployed('changed')).Properties.DisableExecuteApiEndpoint).toBe(true);
  const asked = { IdentitySource: 'method.request.querystring.app_key', AuthorizerResultTtlInSeconds: 60 };
  expect(only('ApiGateway::Authorizer', template).Properties).toMatchObject({ Type: 'REQUEST', ...asked });
});

const ANSWERS: Record<string, ErrorCode> = {
  ACCESS_DENIED: 'AccessDenied',
  DEFAULT_4XX: 'BadRequest',
  DEFAULT_5XX: 'ServiceUnavailable',
  INVALID_API_KEY: 'ServiceUnavailable',
  MISSING_AUTHENTICATION_TOKEN: 'MethodNotAllowed',
  REQUEST_TOO_LARGE: 'EntityTooLarge',
  THROTTLED: 'RequestTooFrequently',
  UNAUTHORIZED: 'Unauthorized',
  UNSUPPORTED_MEDIA_TYPE: 'BadRequest',
  WAF_FILTERED: 'AccessDenied',
};

it("API Gateway's own answers have the envelope and the headers of the service", () => {
  const { responses } = readDeployment(template, 'a-table');
  expect(responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(Object.keys(ANSWERS));
  for (const [type, code] of Object.entries(ANSWERS)) {
    const { statusCode, headers, body } = answerOf(responses, type, 'an-id');
    const { status } = ERROR_CODES[code];
    const { message } = JSON.parse(body).error;
    expect([statusCode, JSON.parse(body)]).toEqual([status, { request_id: 'an-id', error: { code, message } }]);
    expect(message).toMatch(type === 'UNSUPPORTED_MEDIA_TYPE' ? /Content-Encoding.*gzip or deflate/ : en.codes[code]);
    // API Gateway would take it for a variable.
    expect(message).not.toContain('$');
    expect(headers).toEqual({
      'Content-Type': 'application/json',
      'x-amzn-RequestId': 'an-id',
      'Svc-Request-Id': 'an-id',
      'Content-Language': 'en',
      Vary: 'Accept-Language',
      'Cache-Control': 'no-store',
      ...(status === 405 && { Allow: 'POST' }),
      ...([429, 503].includes(status) && { 'Retry-After': '1' }),
    });
  }
});

describe('the stage', () => {
  it.each([
    [undefined, 'prod', 1_000, 2_000],
    ['changed', 'v2', 3_000, 5_000],
  ] as const)(
    'has throttles, for all accounts together, and stores no query string: %s',
    (variant, StageName, rate, burst) => {
      const { AccessLogSetting: _log, ...stage } = only('ApiGateway::Stage', deployed(variant)).Properties;
      const setting = (ResourcePath: string, HttpMethod: string, rate: number, burst: number) => ({
        ...{ ResourcePath, HttpMethod, ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst },
        ...{ LoggingLevel: 'OFF', DataTraceEnabled: false, MetricsEnabled: false },
      });
      expect(stage).toEqual({
        StageName,
        RestApiId: 'ServiceApi',
        DeploymentId: expect.stringMatching(/^ServiceApiDeployment/),
        TracingEnabled: false,
        MethodSettings: [
          setting('/*', '*', 100, 200),
          ...operations.map(({ path }) => setting(`/${path.replaceAll('/', '~1')}`, 'POST', rate, burst)),
        ],
      });
    },
  );

  it('logs what alarms and operators read of each call, as text, and nothing that holds the query string or a key', () => {
    const { DestinationArn, Format } = only('ApiGateway::Stage', template).Properties.AccessLogSetting;
    expect(DestinationArn).toMatch(/:log-group:ServiceAccessLog$/);
    const fields = JSON.parse(Format) as Record<string, string>;
    expect(fields).toMatchObject({
      request_id: '$context.requestId',
      // A caller can choose the request id, but not this one.
      extended_request_id: '$context.extendedRequestId',
      resource: '$context.resourcePath',
      status: '$context.status',
      account_id: '$context.authorizer.principalId',
      // The id of a refused key.
      refused_app_key: '$context.authorizer.refused',
      error: '$context.error.responseType',
      integration_error: '$context.integrationErrorMessage',
      authorizer_error: '$context.authorizer.error',
    });
    for (const variable of Object.values(fields)) expect(variable).not.toMatch(/query|key|\.path$|\.usage/i);
  });

  it('is created after the role for its log, and deployed after the authorizer and all gateway responses', () => {
    expect(only('ApiGateway::Account', template).Properties.CloudWatchRoleArn).toBe('ServiceApiCloudWatchRole.Arn');
    expect(only('ApiGateway::Stage', template).DependsOn).toEqual(idsOf('Account', template));
    // The setting apiGatewayAccount leaves it out.
    expect(idsOf('Account', deployed('changed'))).toEqual([]);
    const waitsFor = ['GatewayResponse', 'Authorizer'].flatMap((type) => idsOf(type, template));
    expect(only('ApiGateway::Deployment', template).DependsOn).toEqual(expect.arrayContaining(waitsFor));
    // The same API has the same deployment.
    expect(idsOf('Deployment', deployed('adopting'))).toEqual(idsOf('Deployment', template));
  });
});

it('an account may call as its usage plan says; all unknown callers share a plan, by the key that the authorizer returns', () => {
  const plan = (throttleOf: (name: string) => object) => {
    const Throttle = Object.fromEntries(operations.map(({ name, path }) => [`${path}/POST`, throttleOf(name)]));
    const ApiStages = [{ ApiId: 'ServiceApi', Stage: 'ServiceApiDeploymentStageprod', Throttle }];
    return { Description: expect.any(String), ApiStages };
  };
  const limits = (RateLimit: number) => ({ RateLimit, BurstLimit: 2 * RateLimit });
  expect(propertiesOf('ApiGateway::UsagePlan', template)).toEqual({
    ServiceApiAccountPlan: plan((name) => limits(name === 'merge-alerts' ? 20 : name.startsWith('list-') ? 10 : 50)),
    ServiceApiSharedPlan: plan(() => limits(200)),
  });
  const { Enabled, Value } = only('ApiGateway::ApiKey', template).Properties;
  expect([Enabled, Value]).toEqual([true, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  const { Variables } = functionsOf(template).get('usage-key-authorizer')?.Properties.Environment ?? {};
  expect(Variables.SHARED_GATEWAY_KEY).toBe(Value);
  const { KeyId, KeyType, UsagePlanId } = only('ApiGateway::UsagePlanKey', template).Properties;
  expect([shortId(KeyId), KeyType, UsagePlanId]).toEqual(['ServiceApiSharedKey', 'API_KEY', 'ServiceApiSharedPlan']);
});

it('a domain serves the API, and a web ACL guards its stage, if settings name them', () => {
  const changed = deployed('changed');
  expect(only('ApiGateway::DomainName', changed).Properties).toEqual({
    DomainName: DOMAIN.domainName,
    RegionalCertificateArn: DOMAIN.certificateArn,
    SecurityPolicy: 'TLS_1_2',
    EndpointConfiguration: { Types: ['REGIONAL'] },
  });
  expect(only('ApiGateway::BasePathMapping', changed).Properties).not.toHaveProperty('BasePath');
  const { WebACLArn, ResourceArn } = only('WAFv2::WebACLAssociation', changed).Properties;
  expect(WebACLArn).toBe(WEB_ACL);
  expect(ResourceArn).toMatch(/\/restapis\/ServiceApi\/stages\/Service/);
});

it('the outputs name the parts of a stack, and its address without a slash at the end', () => {
  const outputsOf = (variant?: Variant) =>
    Object.fromEntries(
      Object.entries(deployed(variant).Outputs ?? {}).map(([name, { Value }]) => [name, readable(Value)]),
    );
  const logs = [...functionsOf(template).keys()].map((name) => [logsOutputOf(name), `${idOfFunction(name)}Logs`]);
  const outputs = {
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
    EndedAlertDays: '400',
    FeedWritersPolicyArn: 'FeedWriters',
    OperatorPolicyArn: 'Operator',
    DashboardUrl: expect.stringMatching(
      /\/cloudwatch\/home\?region=AWS::Region#dashboards\/dashboard\/WatchDashboard$/,
    ),
    AccessLogs: 'ServiceAccessLog',
    ...Object.fromEntries(logs),
  };
  expect(outputsOf()).toEqual(outputs);
  const ofDomain = { Url: 'https://api.example.com', DomainTarget: 'ServiceApiDomain.RegionalDomainName' };
  const DefaultUrl = outputs.Url.replace('prod', 'v2');
  expect(outputsOf('changed')).toEqual({ ...outputs, ...ofDomain, DefaultUrl, EndedAlertDays: '31' });
  expect(outputsOf('adopting').TableName).toBe('Old-Table-1');
  expect(outputsOf('standby').RegionDigit).toBe('2');
});
