/** Each function as it is deployed, with its log, and how functions share Lambda's concurrency. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MIN_RESERVED, reservedExecutions, totalReserved } from '../../infra/function-settings.ts';
import { type FunctionName, GRANTS } from '../../infra/grants.ts';
import { allowedMethods, type ListedOperation, operations } from '../../lib/operations/index.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import { SETTINGS, TIME_LIMITS } from '../../lib/shared/settings.ts';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, idOfFunction, propertiesOf, readable } from './stack.ts';
import { VARIANTS, type Variant } from './templates.ts';

const [INGEST_URL, REFUSED_URL] = ['FeedQueue', 'FeedRefused'];
const RELAY = {
  ...{ EVENT_BUS: 'RelayBus', EVENTS_URL: 'RelayEvents' },
  ...{ MERGE_QUEUE_URL: 'MergesQueue', RELAY_DEAD_LETTERS_URL: 'RelayDeadLetters' },
};
const NODE_OPTIONS = '--max-semi-space-size=2 --max-old-space-size=128';
/** Of the setting `reservedConcurrency`, in the variant `changed`. */
const RESERVED = 50;

type Row = [name: FunctionName, timeout: number, memory: number, share?: number | undefined, variables?: object];
/** Time-out in seconds, MB of memory, share of the reserved executions, variables. The authorizer leaves time for the operation; API Gateway waits 29 s. */
const FUNCTIONS: Row[] = [
  ...operations.map(({ name, memoryMb = 512, concurrencyShare, sendsTo }: ListedOperation): Row => {
    const variables = {
      ...(sendsTo?.includes('ingest') && { INGEST_URL }),
      ...(sendsTo?.includes('refused') && { REFUSED_URL }),
    };
    return [name, 29, memoryMb, concurrencyShare, variables];
  }),
  ['finish-merges', 300, 1_769],
  ['ingest-records', 60, 1_769, undefined, { NODE_OPTIONS, INGEST_URL, REFUSED_URL }],
  ['end-silent-alerts', 900, 1_769, undefined, { INGEST_URL }],
  ['relay', 60, 512, undefined, RELAY],
  ['usage-key-authorizer', 2, 512, 0.3, { SHARED_GATEWAY_KEY: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  ['fallback-route', 5, 256, 0.05, { ALLOWED_METHODS: JSON.stringify(allowedMethods()), STANDBY: 'false' }],
  ['openapi-document', 5, 256, 0.05],
];

it('the description of a function, the summary of an operation, has at least 16 characters and begins with a letter', () => {
  const descriptions = [...functionsOf(deployed())].map(([name, { Properties }]) => [name, Properties.Description]);
  expect(descriptions.filter(([, text]) => !/^\w.{15}/.test(text))).toEqual([]);
});

/** The variables of the settings: those of the context, or else the defaults. */
const settingsIn = (context: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(SETTINGS).map(([name, { env, default: value }]) => [env, context[name] ?? String(value)]),
  );

it.each<[variant: Variant | undefined, tableName: string, days: number]>([
  [undefined, 'Table', 30],
  ['changed', 'Table', 90],
  ['adopting', 'Old-Table-1', 30],
  ['standby', 'Old-Table-1', 30],
])('a function has these properties and no others, and a log: %s', (variant, TABLE_NAME, days) => {
  const template = deployed(variant);
  const METRICS_NAMESPACE = 'IncidentMonitoringRum/Service';
  const ofTable = { TABLE_NAME, ...settingsIn(variant ? VARIANTS[variant] : {}) };
  const expected = FUNCTIONS.map(([name, Timeout, MemorySize, share, variables]) => [
    name,
    {
      Code: expect.any(Object),
      Description: expect.any(String),
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout,
      MemorySize,
      // By default none is reserved: an account with a limit of 10 would refuse the deployment.
      ...(variant === 'changed' && share && { ReservedConcurrentExecutions: Math.floor(share * RESERVED) }),
      Role: `${idOfFunction(name)}Role.Arn`,
      LoggingConfig: { LogFormat: 'JSON', LogGroup: `${idOfFunction(name)}Logs` },
      Environment: {
        Variables: {
          METRICS_NAMESPACE,
          ...(GRANTS[name].length > 0 && ofTable),
          ...variables,
          ...(variables && 'STANDBY' in variables && { STANDBY: String(variant === 'standby') }),
        },
      },
    },
  ]);
  const found = [...functionsOf(template)].map(([name, { Properties }]) => [name, readable(Properties)]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  // CloudFormation names them: another name would replace them, and delete their lines.
  const kept = { RetentionInDays: days };
  expect(propertiesOf('Logs::LogGroup', template)).toEqual({
    ...Object.fromEntries(FUNCTIONS.map(([name]) => [`${idOfFunction(name)}Logs`, kept])),
    ServiceAccessLog: kept,
  });
});

it('docs/deploy.md says how many executions the merges of one account can hold, and when that is their whole share', () => {
  const held = mergeAlerts.throttle.rate * (TIME_LIMITS.callMs / 1_000);
  const enough = Array.from({ length: 1_000 }, (_, reserved) => reserved).find(
    (reserved) => (reservedExecutions('merge-alerts', reserved) ?? 0) >= held,
  );
  const text = readFileSync('docs/deploy.md', 'utf8').replace(/\s+/g, ' ');
  expect(text).toContain(`merges of one account hold ${held} executions`);
  expect(text).toContain(`below ${enough} that is their whole share`);
});

it('of the reserved executions each share is at least 1, and all are what is counted, no more than there are', () => {
  for (const reserved of [MIN_RESERVED, 999]) {
    const shares = FUNCTIONS.flatMap(([name]) => reservedExecutions(name, reserved) ?? []);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(shares.reduce((sum, share) => sum + share)).toBe(totalReserved(reserved));
    expect(totalReserved(reserved)).toBeLessThanOrEqual(reserved);
  }
  expect(totalReserved(1_000)).toBe(1_000);
});
