/** Each function as it is deployed, and what each setting of docs/deploy.md does. */
import { describe, expect, it } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, idOfFunction, only, propertiesOf, readable } from '../support/stack.ts';

const template = deployed();
const METRICS_NAMESPACE = 'IncidentMonitoringRum/Service';
const SETTINGS = {
  METRICS_NAMESPACE,
  TABLE_NAME: 'Table',
  MAX_BODY_BYTES: '262144',
  APP_KEY_CACHE_SECONDS: '30',
  RUM_CACHE_SECONDS: '60',
  WRITES_FROZEN: 'false',
  SERVICEMAP_ENABLED: 'true',
};

/** Seconds and MB. The authorizer has to leave time for the operation; API Gateway waits 29 s. */
const FUNCTIONS: [name: string, timeout: number, memory: number, environment: object][] = [
  ['browse-fleet', 29, 512, SETTINGS],
  ['get-rum-resource', 29, 512, SETTINGS],
  ['delete-work-item', 29, 512, SETTINGS],
  ['merge-alerts', 29, 512, SETTINGS],
  ['finish-merges', 300, 1_769, SETTINGS],
  ['ingest-records', 60, 1_769, { ...SETTINGS, FEED_URL: 'FeedQueue', REFUSED_URL: 'FeedRefused' }],
  [
    'relay',
    60,
    512,
    {
      ...SETTINGS,
      ...{ EVENT_BUS: 'RelayBus', MERGE_QUEUE_URL: 'MergesQueue', RELAY_DEAD_LETTERS_URL: 'RelayDeadLetters' },
    },
  ],
  ['usage-key-authorizer', 2, 512, { ...SETTINGS, SHARED_GATEWAY_KEY: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  ['fallback-route', 5, 256, { METRICS_NAMESPACE, ALLOWED_METHODS: expect.any(String) }],
  ['openapi-document', 5, 256, { METRICS_NAMESPACE }],
];

describe('a function', () => {
  it('has these properties and no others', () => {
    const expected = FUNCTIONS.map(([name, timeout, memory, environment]) => [
      name,
      {
        Code: expect.any(Object),
        Description: expect.any(String),
        Handler: 'index.handler',
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: timeout,
        MemorySize: memory,
        Role: `${idOfFunction(name)}Role.Arn`,
        LoggingConfig: { LogFormat: 'JSON', LogGroup: `${idOfFunction(name)}Logs` },
        Environment: { Variables: environment },
      },
    ]);
    const found = [...functionsOf(template)].map(([name, { Properties }]) => [name, readable(Properties)]);
    // Another property, such as a reserved concurrency, would be a limit that nobody knows of.
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });

  it('fallback-route has the list of allowed methods', () => {
    const { Variables } = functionsOf(template).get('fallback-route')?.Properties.Environment ?? {};
    expect(JSON.parse(Variables.ALLOWED_METHODS)).toEqual({
      '/monit/servicemap/fleet': 'POST',
      '/rum/resource/info': 'POST',
      '/incident/work-item/delete': 'POST',
      '/alert/merge': 'POST',
      '/openapi.json': 'GET',
    });
  });
});

describe('every setting', () => {
  const set = deployed({
    stageName: 'v2',
    writesFrozen: 'true',
    serviceMapEnabled: 'false',
    appKeyCacheSeconds: '7',
    rumCacheSeconds: '8',
    authorizerCacheSeconds: '9',
    maxBodyBytes: '2048',
    stageRate: '11',
    stageBurst: '12',
    logRetentionDays: '90',
  });

  it('reaches each function that uses it', () => {
    const variables = {
      ...{ MAX_BODY_BYTES: '2048', APP_KEY_CACHE_SECONDS: '7', RUM_CACHE_SECONDS: '8' },
      ...{ WRITES_FROZEN: 'true', SERVICEMAP_ENABLED: 'false' },
    };
    for (const [name, , , environment] of FUNCTIONS)
      if ('TABLE_NAME' in environment)
        expect(functionsOf(set).get(name)?.Properties.Environment.Variables, name).toMatchObject(variables);
  });

  it('writesFrozen lets records wait in the ingest queue', () => {
    const enabled = [template, set].map((each) =>
      Object.entries(propertiesOf('AWS::Lambda::EventSourceMapping', each)).flatMap(([id, { Enabled }]) =>
        id.startsWith('ingestrecords') ? [Enabled] : [],
      ),
    );
    expect(enabled).toEqual([[true], [false]]);
  });

  it('reaches the API', () => {
    const { StageName, MethodSettings } = only('AWS::ApiGateway::Stage', set).Properties;
    expect(StageName).toBe('v2');
    for (const { HttpMethod, ThrottlingRateLimit, ThrottlingBurstLimit } of MethodSettings)
      if (HttpMethod === 'POST') expect([ThrottlingRateLimit, ThrottlingBurstLimit]).toEqual([11, 12]);
    expect(only('AWS::ApiGateway::Authorizer', set).Properties.AuthorizerResultTtlInSeconds).toBe(9);
  });

  it('reaches each log: those of the functions and the access log', () => {
    const logs = [...FUNCTIONS.map(([name]) => `${idOfFunction(name)}Logs`), 'ServiceAccessLog'];
    const kept = (RetentionInDays: number) => Object.fromEntries(logs.map((id) => [id, { RetentionInDays }]));
    expect(propertiesOf('AWS::Logs::LogGroup', template)).toEqual(kept(30));
    expect(propertiesOf('AWS::Logs::LogGroup', set)).toEqual(kept(90));
  });
});
