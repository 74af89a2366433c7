/** The queues, what they and the table's stream call, and how messages outlast an outage of six hours. */
import { expect, it } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, propertiesOf } from './stack.ts';
import { OLD_STREAM, type Variant } from './templates.ts';

const template = deployed();
const queues = propertiesOf('SQS::Queue', template);
const HOUR = 3_600;
const DAY = 24 * HOUR;
const rule = (id: string, of: typeof template) => propertiesOf('Events::Rule', of)[id];
const timeoutOf = (name: string) => Number(functionsOf(template).get(name)?.Properties.Timeout);

it('all queues are encrypted and keep messages for ten days, dead letters for 14, since these keep their age', () => {
  const retention = { MessageRetentionPeriod: 14 * DAY, SqsManagedSseEnabled: true };
  const redriven = (to: string, maxReceiveCount: number) => ({
    MessageRetentionPeriod: 10 * DAY,
    RedrivePolicy: { deadLetterTargetArn: `${to}.Arn`, maxReceiveCount },
  });
  expect(queues).toEqual({
    // A call answers within 3 s. 160 attempts take 15 hours.
    MergesQueue: {
      ...{ ...retention, DelaySeconds: 5, ...redriven('MergesDeadLetters', 160) },
      VisibilityTimeout: timeoutOf('finish-merges') + 30,
    },
    MergesDeadLetters: retention,
    // The function delays a failed message by 450 s at least: 100 attempts take 12 hours.
    FeedQueue: {
      ...{ ...retention, VisibilityTimeout: 6 * timeoutOf('ingest-records'), ...redriven('FeedRefused', 100) },
      // With the reason and other attributes of a refusal, 4 KB and some more, it fits into the other queue.
      MaximumMessageSize: 2 ** 20 - 16 * 1024,
    },
    FeedRefused: retention,
    RelayEvents: { ...retention, VisibilityTimeout: 6 * timeoutOf('relay'), ...redriven('RelayDeadLetters', 100) },
    RelayDeadLetters: retention,
  });
});

type Enabled = Record<'merges' | 'feed' | 'changes', boolean>;
const ALL: Enabled = { merges: true, feed: true, changes: true };

it.each<[variant: Variant | undefined, stream: string, merges: number, batches: number, enabled: Enabled]>([
  [undefined, 'Table.StreamArn', 20, 10, ALL],
  // Records that are sent while writes are frozen wait in the queue.
  ['changed', 'Table.StreamArn', 3, 4, { ...ALL, feed: false }],
  ['adopting', OLD_STREAM, 20, 10, ALL],
  // Another region writes, and publishes. Events that wait are still published.
  ['standby', OLD_STREAM, 20, 10, { merges: false, feed: false, changes: false }],
])('queues and stream call functions with batches: %s', (variant, stream, merges, batches, enabled) => {
  const mappings = Object.values(propertiesOf('Lambda::EventSourceMapping', deployed(variant)));
  const reported = { FunctionResponseTypes: ['ReportBatchItemFailures'] };
  const limited = (MaximumConcurrency: number) => ({ ScalingConfig: { MaximumConcurrency } });
  // For alarms.
  const counted = { MetricsConfig: { Metrics: ['EventCount'] } };
  expect(mappings).toHaveLength(4);
  expect(mappings).toEqual(
    expect.arrayContaining([
      {
        EventSourceArn: 'MergesQueue.Arn',
        FunctionName: 'finishmergesFunction',
        BatchSize: 1,
        Enabled: enabled.merges,
        ...limited(merges),
        ...counted,
      },
      {
        ...{ EventSourceArn: 'FeedQueue.Arn', FunctionName: 'ingestrecordsFunction', Enabled: enabled.feed },
        ...{ BatchSize: 100, MaximumBatchingWindowInSeconds: 1, ...limited(batches), ...reported, ...counted },
      },
      {
        ...{ EventSourceArn: 'RelayEvents.Arn', FunctionName: 'relayFunction', ...reported, ...counted },
        ...limited(2),
      },
      {
        ...{ EventSourceArn: stream, FunctionName: 'relayFunction', BatchSize: 100, ...reported, ...counted },
        Enabled: enabled.changes,
        // It also reads what was written before the mapping existed.
        ...{ StartingPosition: 'TRIM_HORIZON', BisectBatchOnFunctionError: true },
        // Longer than an outage of six hours; then there is still time to replay the stream, which keeps a day.
        MaximumRecordAgeInSeconds: 8 * HOUR,
        DestinationConfig: { OnFailure: { Destination: 'RelayDeadLetters.Arn' } },
        // Which rows they let through: test/integration/events.test.ts. AWS's default quota is five.
        FilterCriteria: { Filters: expect.toSatisfy((filters: object[]) => filters.length <= 5) },
      },
    ]),
  );
});

it('every five minutes finish-merges looks for merges whose message is lost, except in a standby', () => {
  const { ScheduleExpression, State, Targets } = rule('MergesSweep', template);
  expect([ScheduleExpression, State]).toEqual(['rate(5 minutes)', 'ENABLED']);
  expect(Targets).toMatchObject([{ Arn: 'finishmergesFunction.Arn', Input: '{"finish":"overdue"}' }]);
  expect(rule('MergesSweep', deployed('standby')).State).toBe('DISABLED');
});

it('every hour end-silent-alerts ends alerts, except in a standby or while writes are frozen, and is not repeated', () => {
  const { ScheduleExpression, State, Targets } = rule('FeedSilence', template);
  expect([ScheduleExpression, State]).toEqual(['rate(1 hour)', 'ENABLED']);
  expect(Targets).toMatchObject([{ Arn: 'endsilentalertsFunction.Arn', RetryPolicy: { MaximumRetryAttempts: 0 } }]);
  for (const name of ['standby', 'changed'] as const)
    expect(rule('FeedSilence', deployed(name)).State).toBe('DISABLED');
});
