/** Each function as it is deployed, what each setting of docs/deploy.md does, and how functions share Lambda's concurrency. */

import { describe, expect, it } from 'vitest';
import { allowedMethods } from '../../lib/operations/index.ts';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, idOfFunction, only, propertiesOf, readable } from './stack.ts';

const template = deployed();
const METRICS_NAMESPACE = 'IncidentMonitoringRum/Service';
const SETTINGS = {
  METRICS_NAMESPACE,
  TABLE_NAME: 'Table',
  MAX_BODY_BYTES: '262144',
  WRITES_FROZEN: 'false',
  SERVICEMAP_ENABLED: 'true',
};
const RELAY = {
  ...{ EVENT_BUS: 'RelayBus', EVENTS_URL: 'RelayEvents' },
  ...{ MERGE_QUEUE_URL: 'MergesQueue', RELAY_DEAD_LETTERS_URL: 'RelayDeadLetters' },
};
const INGEST = {
  NODE_OPTIONS: '--max-semi-space-size=2 --max-old-space-size=128',
  ...{ FEED_URL: 'FeedQueue', REFUSED_URL: 'FeedRefused' },
};

/** Seconds and MB. The authorizer has to leave time for the operation; API Gateway waits 29 s. */
const FUNCTIONS: [name: string, timeout: number, memory: number, environment: object][] = [
  ['browse-fleet', 29, 512, SETTINGS],
  ['get-rum-resource', 29, 512, SETTINGS],
  ['delete-work-item', 29, 512, SETTINGS],
  ['merge-alerts', 29, 512, SETTINGS],
  ['send-records', 29, 512, { ...SETTINGS, FEED_URL: 'FeedQueue' }],
  ['send-notification', 29, 1_769, { ...SETTINGS, FEED_URL: 'FeedQueue', REFUSED_URL: 'FeedRefused' }],
  ['finish-merges', 300, 1_769, SETTINGS],
  ['ingest-records', 60, 1_769, { ...SETTINGS, ...INGEST }],
  ['relay', 60, 512, { ...SETTINGS, ...RELAY }],
  ['usage-key-authorizer', 2, 512, { ...SETTINGS, SHARED_GATEWAY_KEY: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  ['fallback-route', 5, 256, { METRICS_NAMESPACE, ALLOWED_METHODS: JSON.stringify(allowedMethods()) }],
  ['openapi-document', 5, 256, { METRICS_NAMESPACE }],
];

it('a function has these properties and no others', () => {
  const expected = FUNCTIONS.map(([name, Timeout, MemorySize, Variables]) => [
    name,
    {
      Code: expect.any(Object),
      Description: expect.any(String),
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout,
      MemorySize,
      Role: `${idOfFunction(name)}Role.Arn`,
      LoggingConfig: { LogFormat: 'JSON', LogGroup: `${idOfFunction(name)}Logs` },
      Environment: { Variables },
    },
  ]);
  const found = [...functionsOf(template)].map(([name, { Properties }]) => [name, readable(Properties)]);
  // Another property, such as a reserved concurrency, would be a limit that nobody knows of.
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
});

describe('the settings', () => {
  const changed = deployed({
    stageName: 'v2',
    writesFrozen: 'true',
    serviceMapEnabled: 'false',
    maxBodyBytes: '2048',
    stageRate: '11',
    logRetentionDays: '90',
    mergeConcurrency: '3',
    feedConcurrency: '4',
  });

  it('reach each function that uses them', () => {
    const variables = { MAX_BODY_BYTES: '2048', WRITES_FROZEN: 'true', SERVICEMAP_ENABLED: 'false' };
    for (const [name, , , environment] of FUNCTIONS)
      if ('TABLE_NAME' in environment)
        expect(functionsOf(changed).get(name)?.Properties.Environment.Variables, name).toMatchObject(variables);
  });

  it('bound what a backlog takes of the concurrency; writesFrozen lets records wait in the ingest queue', () => {
    const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', changed));
    const mappingOf = (queue: string) => mappings.find(({ EventSourceArn }) => EventSourceArn === `${queue}.Arn`);
    expect(mappingOf('MergesQueue')).toMatchObject({ ScalingConfig: { MaximumConcurrency: 3 } });
    expect(mappingOf('FeedQueue')).toMatchObject({ ScalingConfig: { MaximumConcurrency: 4 }, Enabled: false });
  });

  it('reach the API', () => {
    const { StageName, MethodSettings } = only('AWS::ApiGateway::Stage', changed).Properties;
    expect(StageName).toBe('v2');
    for (const { HttpMethod, ThrottlingRateLimit, ThrottlingBurstLimit } of MethodSettings)
      if (HttpMethod === 'POST') expect([ThrottlingRateLimit, ThrottlingBurstLimit]).toEqual([11, 22]);
  });

  it('reach each log: those of the functions and the access log', () => {
    const logs = [...FUNCTIONS.map(([name]) => `${idOfFunction(name)}Logs`), 'ServiceAccessLog'];
    const kept = (RetentionInDays: number) => Object.fromEntries(logs.map((id) => [id, { RetentionInDays }]));
    expect(propertiesOf('AWS::Logs::LogGroup', template)).toEqual(kept(30));
    expect(propertiesOf('AWS::Logs::LogGroup', changed)).toEqual(kept(90));
  });
});

// By default no concurrency is reserved: an account with a limit of 10 would refuse the deployment.
it.each([
  [900, 270, 225, 135, 180, 45, 45],
  [20, 6, 5, 3, 4, 1, 1],
])('%d reserved concurrent executions are divided, and all functions together get no more', (total, ...shares) => {
  const names = ['usage-key-authorizer', 'browse-fleet', 'get-rum-resource', 'merge-alerts'];
  const expected = [...names, 'fallback-route', 'openapi-document'].map((name, index) => [name, shares[index]]);
  const functions = functionsOf(deployed({ reservedConcurrency: String(total) }));
  const reserved = [...functions].map(([name, { Properties }]) => [name, Properties.ReservedConcurrentExecutions]);
  expect(Object.fromEntries(reserved.filter(([, share]) => share !== undefined))).toEqual(Object.fromEntries(expected));
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(total);
});
