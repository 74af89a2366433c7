import { beforeAll, describe, expect, it } from 'vitest';
import { GRANTS, LEADING_KEYS } from '../../infra/grants.ts';
import { readDeployment } from '../../infra/local/deployment.ts';
import {
  functionIdOf,
  functionsOf,
  type Resource,
  resourcesOf,
  routesOf,
  synthesize,
  type Template,
} from '../../infra/local/template.ts';
import { ERROR_CODES } from '../../lib/api/errors.ts';
import { operations } from '../../lib/api/operations.ts';
import { readSettings } from '../../lib/settings.ts';
import { keys } from '../../lib/table/keys.ts';

let template: Template;
beforeAll(() => {
  template = synthesize();
});
const only = (type: string): Resource => {
  const found = Object.values(resourcesOf(template, type));
  expect(found).toHaveLength(1);
  return found[0] as Resource;
};

describe('the API', () => {
  it('routes each operation of the list to its function, and everything else to refuse-route', () => {
    const routes = routesOf(template);
    const functions = functionsOf(template);
    const posts = [...routes.keys()].filter((route) => route.startsWith('POST '));
    expect(posts.sort()).toEqual(operations.map(({ path }) => `POST ${path}`).sort());
    for (const { path, name } of operations)
      expect(functionIdOf((routes.get(`POST ${path}`) as Resource).Properties.Integration.Uri)).toBe(
        functions.get(name)?.id,
      );
    for (const [route, method] of routes)
      if (route.startsWith('ANY '))
        expect(functionIdOf(method.Properties.Integration.Uri)).toBe(functions.get('refuse-route')?.id);
  });

  it('refuses every method on every resource, also half-way down a path, for API Gateway would answer 403 there', () => {
    const paths = operations.flatMap(({ path }) =>
      path.split('/').map((_part, at, parts) => parts.slice(0, at + 1).join('/') || '/'),
    );
    const anys = [...routesOf(template).keys()].filter((route) => route.startsWith('ANY '));
    expect(anys.sort()).toEqual(
      [...new Set([...paths, '/openapi.json', '/{proxy+}'])].map((path) => `ANY ${path}`).sort(),
    );
  });

  it('labels calls of the operations alone, takes the gateway key from the label, and asks for one', () => {
    expect(only('AWS::ApiGateway::RestApi').Properties).toMatchObject({
      ApiKeySourceType: 'AUTHORIZER',
      BinaryMediaTypes: ['*/*'],
      MinimumCompressionSize: 1024,
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
    expect(only('AWS::ApiGateway::Authorizer').Properties).toMatchObject({
      Type: 'REQUEST',
      IdentitySource: 'method.request.querystring.app_key',
      AuthorizerResultTtlInSeconds: 60,
    });
    for (const [route, { Properties }] of routesOf(template)) {
      const labelled = route.startsWith('POST ');
      expect([route, Properties.AuthorizationType, Properties.ApiKeyRequired ?? false]).toEqual([
        route,
        labelled ? 'CUSTOM' : 'NONE',
        labelled,
      ]);
    }
  });

  it('throttles each operation as the list says for an account, and strangers together by 200 a second', () => {
    const plans = Object.values(resourcesOf(template, 'AWS::ApiGateway::UsagePlan'));
    expect(plans).toHaveLength(2);
    const [accounts, shared] = plans.map(({ Properties }) => Properties.ApiStages[0].Throttle);
    for (const { path, throttle } of operations) {
      expect(accounts[`${path}/POST`]).toEqual({ RateLimit: throttle.rate, BurstLimit: throttle.burst });
      expect(shared[`${path}/POST`]).toEqual({ RateLimit: 200, BurstLimit: 400 });
    }
  });

  it('stores no query string: no execution log, no data trace, no X-Ray, and an access log of listed fields', () => {
    const { Properties } = only('AWS::ApiGateway::Stage');
    for (const { LoggingLevel, DataTraceEnabled } of Properties.MethodSettings) {
      expect(LoggingLevel).toBe('OFF');
      expect(DataTraceEnabled).toBe(false);
    }
    expect(Properties.TracingEnabled ?? false).toBe(false);
    expect(Object.keys(JSON.parse(Properties.AccessLogSetting.Format)).sort()).toEqual(
      [
        'request_id',
        'extended_request_id',
        'time',
        'method',
        'resource',
        'status',
        'source_ip',
        'account_id',
        'latency_ms',
        'error',
      ].sort(),
    );
    expect(Properties.AccessLogSetting.Format).not.toMatch(/querystring|\$context\.path|apiKey|requestOverride/);
  });
});

/** Every response type that API Gateway has: its documentation's list. */
const RESPONSE_TYPES = [
  'ACCESS_DENIED',
  'API_CONFIGURATION_ERROR',
  'AUTHORIZER_CONFIGURATION_ERROR',
  'AUTHORIZER_FAILURE',
  'BAD_REQUEST_BODY',
  'BAD_REQUEST_PARAMETERS',
  'DEFAULT_4XX',
  'DEFAULT_5XX',
  'EXPIRED_TOKEN',
  'INTEGRATION_FAILURE',
  'INTEGRATION_TIMEOUT',
  'INVALID_API_KEY',
  'INVALID_SIGNATURE',
  'MISSING_AUTHENTICATION_TOKEN',
  'QUOTA_EXCEEDED',
  'REQUEST_TOO_LARGE',
  'RESOURCE_NOT_FOUND',
  'THROTTLED',
  'UNAUTHORIZED',
  'UNSUPPORTED_MEDIA_TYPE',
  'WAF_FILTERED',
];

describe('what API Gateway answers itself', () => {
  it('has an answer for every response type', () => {
    const types = Object.values(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse')).map(
      ({ Properties }) => Properties.ResponseType,
    );
    expect(types.sort()).toEqual(RESPONSE_TYPES);
  });

  it.each(RESPONSE_TYPES)(
    '%s has the envelope, the request id in body and header, and the status of its code',
    (type) => {
      const response = Object.values(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse')).find(
        ({ Properties }) => Properties.ResponseType === type,
      );
      const { StatusCode, ResponseParameters, ResponseTemplates } = response?.Properties ?? {};
      const body = JSON.parse(ResponseTemplates['application/json']);
      expect(body).toEqual({
        request_id: '$context.requestId',
        error: { code: expect.any(String), message: expect.any(String) },
      });
      expect(StatusCode).toBe(String(ERROR_CODES[body.error.code as keyof typeof ERROR_CODES].status));
      expect(ResponseParameters['gatewayresponse.header.Svc-Request-Id']).toBe('context.requestId');
      if (StatusCode === '429') expect(ResponseParameters['gatewayresponse.header.Retry-After']).toBe("'1'");
      expect(body.error.message).not.toContain('$');
    },
  );
});

describe('the table', () => {
  it('is on demand, encrypted, recoverable, protected, kept, with TTL and a stream of new images', () => {
    const { Properties, DeletionPolicy, UpdateReplacePolicy } = only('AWS::DynamoDB::GlobalTable');
    expect(Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      SSESpecification: { SSEEnabled: true },
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      Replicas: [
        { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
      ],
    });
    expect(Properties.LocalSecondaryIndexes).toBeUndefined();
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
  });

  it('that a destroyed stack left is used in place of a new one, with the same grants on it and its stream', () => {
    const table = 'arn:aws:dynamodb:eu-west-1:123456789012:table/Old-Table-1';
    const stream = `${table}/stream/2026-11-21T10:00:00.000`;
    const adopting = synthesize({ adoptTable: stream });
    expect(resourcesOf(adopting, 'AWS::DynamoDB::GlobalTable')).toEqual({});
    expect(adopting.Outputs?.TableName?.Value).toBe('Old-Table-1');
    for (const [name, { Properties }] of functionsOf(adopting))
      if ((GRANTS[name] ?? []).length > 0)
        expect([name, Properties.Environment.Variables.TABLE_NAME]).toEqual([name, 'Old-Table-1']);
    expect(Object.values(resourcesOf(adopting, 'AWS::Pipes::Pipe'))[0]?.Properties.Source).toBe(stream);
    const resources = Object.values(resourcesOf(adopting, 'AWS::IAM::Policy'))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .filter(({ Action }) => [Action].flat().some((action: string) => /^dynamodb:(?!ListStreams)/.test(action)))
      .map(({ Resource }) => Resource);
    expect([...new Set(resources)].sort()).toEqual([table, stream]);
  });
});

describe('the functions', () => {
  it('are those that have grants, on nodejs24.x and arm64, with traces, JSON logs that expire, and a timeout', () => {
    const functions = functionsOf(template);
    expect([...functions.keys()].sort()).toEqual(Object.keys(GRANTS).sort());
    for (const [name, { Properties }] of functions) {
      expect([name, Properties]).toMatchObject([
        name,
        {
          Runtime: 'nodejs24.x',
          Architectures: ['arm64'],
          TracingConfig: { Mode: 'Active' },
          LoggingConfig: { LogFormat: 'JSON' },
        },
      ]);
      // The authorizer has to leave time for the operation.
      if (name === 'label-caller') expect(Properties.Timeout).toBe(2);
      else expect(Properties.Timeout).toBeGreaterThan(3);
    }
    for (const { Properties } of Object.values(resourcesOf(template, 'AWS::Logs::LogGroup')))
      expect(Properties.RetentionInDays).toBe(30);
  });

  it.each(Object.keys(GRANTS).filter((name) => name !== 'refuse-route' && name !== 'describe-api'))(
    '%s has the whole environment that its settings demand',
    (name) => {
      const { Variables } = functionsOf(template).get(name)?.Properties.Environment ?? {};
      const flat = Object.fromEntries(
        Object.entries(Variables).map(([key, value]) => [key, typeof value === 'string' ? value : 'ref']),
      );
      expect(readSettings(flat)).toMatchObject({ tableName: 'ref', maxBodyBytes: 262_144, serviceMapEnabled: true });
      for (const setting of ['MAX_BODY_BYTES', 'APP_KEY_CACHE_SECONDS', 'RUM_CACHE_SECONDS', 'SERVICEMAP_ENABLED'])
        expect(flat).toHaveProperty(setting);
      if (name === 'label-caller') expect(flat.SHARED_GATEWAY_KEY).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  it('refuse-route knows what is served', () => {
    const { Variables } = functionsOf(template).get('refuse-route')?.Properties.Environment ?? {};
    expect(JSON.parse(Variables.ALLOWED_METHODS)).toEqual({
      ...Object.fromEntries(operations.map(({ path }) => [path, 'POST'])),
      '/openapi.json': 'GET',
    });
  });

  it('may do with the table what the list of grants says, on keys of the listed kinds, and nothing else', () => {
    const policies = Object.values(resourcesOf(template, 'AWS::IAM::Policy'));
    for (const [name, { Properties }] of functionsOf(template)) {
      const role = Properties.Role['Fn::GetAtt'][0];
      const statements = policies
        .filter((policy) => JSON.stringify(policy.Properties.Roles).includes(`"${role}"`))
        .flatMap((policy) => policy.Properties.PolicyDocument.Statement);
      const granted = statements
        .filter(({ Condition }: { Condition?: object }) => Condition)
        .map(
          (statement: { Action: string | string[]; Condition: Record<string, Record<string, string | string[]>> }) => ({
            actions: [statement.Action].flat().sort(),
            on: [statement.Condition['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []].flat().sort(),
          }),
        );
      expect([name, granted]).toEqual([
        name,
        (GRANTS[name] ?? []).map(({ actions, on }) => ({
          actions: actions.map((action) => `dynamodb:${action}`).sort(),
          on: on.map((kind) => LEADING_KEYS[kind]).sort(),
        })),
      ]);
      const others = statements
        .filter(({ Condition }: { Condition?: object }) => !Condition)
        .flatMap(({ Action }: { Action: string | string[] }) => [Action].flat());
      const allowed = /^(xray:Put\w+|logs:(CreateLogStream|PutLogEvents))$/;
      const queue = /^sqs:(ReceiveMessage|DeleteMessage|ChangeMessageVisibility|GetQueueAttributes|GetQueueUrl)$/;
      for (const action of others)
        if (!allowed.test(action)) expect([name, action]).toEqual(['finish-merges', expect.stringMatching(queue)]);
      expect(JSON.stringify(statements)).not.toMatch(/dynamodb:(\*|Scan|Delete)/);
    }
  });

  it('have each action in one statement, for a transaction may be looked at as a whole', () => {
    const policies = Object.values(resourcesOf(template, 'AWS::IAM::Policy'));
    const actions = policies.map(({ Properties }) =>
      Properties.PolicyDocument.Statement.filter(({ Condition }: { Condition?: object }) => Condition).flatMap(
        ({ Action }: { Action: string | string[] }) => Action,
      ),
    );
    expect(actions).toContainEqual(expect.arrayContaining(['dynamodb:ConditionCheckItem', 'dynamodb:UpdateItem']));
    for (const each of actions) expect(each).toHaveLength(new Set(each).size);
  });

  it('have leading keys that fit the keys which the code builds', () => {
    const fits = (pattern: string, pk: string) =>
      new RegExp(
        `^${pattern
          .split('*')
          .map((part) => part.replace(/[.#]/g, '\\$&'))
          .join('.*')}$`,
      ).test(pk);
    const built: Record<keyof typeof LEADING_KEYS, string> = {
      appKey: keys.appKey('a').pk,
      hosts: keys.host(1, 'h').pk,
      hostStatuses: keys.hostStatus(1, 'h').pk,
      rum: keys.rumUsage(1).pk,
      workItems: keys.workItem(1, 'w').pk,
      incidents: keys.incident(1, 'i').pk,
      alerts: keys.alert(1, 'a').pk,
      members: keys.member(1, 2).pk,
      feed: keys.feedEntry(1, 'i', 3).pk,
      merges: keys.mergeLedger(1).pk,
      idempotency: keys.idempotency(1, 'o', 'k').pk,
      rate: keys.rateCount(1, 'o', 3).pk,
    };
    for (const [kind, pk] of Object.entries(built))
      expect(
        Object.entries(LEADING_KEYS)
          .filter(([, pattern]) => fits(pattern, pk))
          .map(([name]) => name),
      ).toEqual([kind]);
  });

  it('the pipe sends the keys of large feed entries to a queue, and tries again until the stream forgets them', () => {
    const { SourceParameters, TargetParameters, RoleArn } = only('AWS::Pipes::Pipe').Properties;
    expect(SourceParameters).toEqual({
      FilterCriteria: {
        Filters: [{ Pattern: '{"eventName":["INSERT"],"dynamodb":{"NewImage":{"large":{"BOOL":[true]}}}}' }],
      },
      DynamoDBStreamParameters: {
        StartingPosition: 'TRIM_HORIZON',
        DeadLetterConfig: { Arn: expect.anything() },
      },
    });
    expect(TargetParameters.InputTemplate).toBe('{"pk": <$.dynamodb.Keys.pk.S>, "sk": <$.dynamodb.Keys.sk.S>}');
    const policy = Object.values(resourcesOf(template, 'AWS::IAM::Policy')).find(
      ({ Properties }) => Properties.Roles[0].Ref === RoleArn['Fn::GetAtt'][0],
    );
    const actions = policy?.Properties.PolicyDocument.Statement.flatMap(({ Action }: { Action: string[] }) => Action);
    for (const action of ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'])
      expect(actions).toContain(`dynamodb:${action}`);
    expect(actions).toContain('sqs:SendMessage');
  });

  it('finish-merges takes one message a call, with a whole CPU, after the calls have answered, through six hours of failures', () => {
    const { functions, queue } = readDeployment(template, 'table');
    const finishing = functions['finish-merges'];
    expect(only('AWS::Lambda::EventSourceMapping').Properties).toMatchObject({ BatchSize: 1 });
    expect(queue.functionName).toBe('finish-merges');
    expect(finishing?.memoryMb).toBe(1_769);
    expect(queue.delayMs).toBeGreaterThan(3_000);
    expect(queue.visibilityMs).toBeGreaterThanOrEqual(6 * (finishing?.timeoutMs ?? 0));
    expect(queue.maxReceives * queue.visibilityMs).toBeGreaterThan(6 * 3_600_000);
  });
});

describe('a wrong setting stops synthesis with a sentence', () => {
  it.each([
    ['stageName', 'v 1', 'Context stageName must be 1 to 128 letters, digits or underscores, not "v 1".'],
    ['serviceMapEnabled', 'yes', 'Context serviceMapEnabled must be true or false, not "yes".'],
    ['appKeyCacheSeconds', '31', 'Context appKeyCacheSeconds must be an integer from 0 to 30, not "31".'],
    ['rumCacheSeconds', '-1', 'Context rumCacheSeconds must be an integer from 0 to 3600, not "-1".'],
    ['maxBodyBytes', '3145729', 'Context maxBodyBytes must be an integer from 1024 to 3145728, not "3145729".'],
    ['maxBodyBytes', '1e6', 'Context maxBodyBytes must be an integer from 1024 to 3145728, not "1e6".'],
    ['logRetentionDays', '31', 'Context logRetentionDays must be one of 1, 3, 5,'],
    ['rollout', 'slowly', 'Context rollout must be all-at-once or canary, not "slowly".'],
    ['adoptTable', 'Old-Table-1', "Context adoptTable must be the LatestStreamArn of a table's description, not"],
    ['alarmEmail', 'ops', 'Context alarmEmail must be an e-mail address, not "ops".'],
  ])('%s = %s', (name, value, sentence) => {
    expect(() => synthesize({ [name]: value })).toThrow(sentence);
  });
});
