/** The queues, the functions that they and the table's stream call, and how messages outlast an outage of six hours. */
import { describe, expect, it } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, only, propertiesOf, readable } from './stack.ts';

const template = deployed();
const queues = propertiesOf('AWS::SQS::Queue', template);
const HOUR = 3_600;
const DAY = 24 * HOUR;
const timeoutOf = (name: string) => Number(functionsOf(template).get(name)?.Properties.Timeout);

it('all queues are encrypted and keep messages for 14 days, also dead letters', () => {
  const retention = { MessageRetentionPeriod: 14 * DAY, SqsManagedSseEnabled: true };
  const redriven = (to: string, maxReceiveCount: number) => ({
    RedrivePolicy: { deadLetterTargetArn: `${to}.Arn`, maxReceiveCount },
  });
  expect(queues).toEqual({
    MergesQueue: { ...retention, DelaySeconds: 5, VisibilityTimeout: 330, ...redriven('MergesDeadLetters', 160) },
    MergesDeadLetters: retention,
    FeedQueue: {
      ...retention,
      VisibilityTimeout: 6 * timeoutOf('ingest-records'),
      ...redriven('FeedDeadLetters', 100),
    },
    FeedRefused: retention,
    FeedDeadLetters: retention,
    RelayDeadLetters: retention,
  });
});

it('queues and stream call their functions with batches, of which only what failed comes again', () => {
  const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', template));
  expect(mappings).toHaveLength(3);
  const reported = { BatchSize: 100, FunctionResponseTypes: ['ReportBatchItemFailures'] };
  const stream = {
    ...{ EventSourceArn: 'Table.StreamArn', FunctionName: 'relayFunction' },
    // It also reads what was written before the mapping existed.
    StartingPosition: 'TRIM_HORIZON',
    BisectBatchOnFunctionError: true,
    DestinationConfig: { OnFailure: { Destination: 'RelayDeadLetters.Arn' } },
  };
  expect(mappings).toEqual(
    expect.arrayContaining([
      // Without FunctionResponseTypes, one failed message of a batch would bring back all the others, too.
      {
        ...{ EventSourceArn: 'MergesQueue.Arn', FunctionName: 'finishmergesFunction', BatchSize: 1 },
        ScalingConfig: { MaximumConcurrency: 20 },
      },
      {
        ...{ EventSourceArn: 'FeedQueue.Arn', FunctionName: 'ingestrecordsFunction', Enabled: true, ...reported },
        MaximumBatchingWindowInSeconds: 1,
        ScalingConfig: { MaximumConcurrency: 10 },
        // For the alarm FeedFailing.
        MetricsConfig: { Metrics: ['EventCount'] },
      },
      expect.objectContaining({ ...stream, ...reported }),
    ]),
  );
  const { FilterCriteria, MaximumRecordAgeInSeconds } = mappings.find((mapping) => 'FilterCriteria' in mapping) ?? {};
  expect(MaximumRecordAgeInSeconds).toBeGreaterThan(6 * HOUR);
  expect(MaximumRecordAgeInSeconds).toBeLessThanOrEqual(12 * HOUR);
  // AWS's default quota is five filters. Which rows they let through: test/integration/events.test.ts.
  expect(FilterCriteria.Filters.length).toBeLessThanOrEqual(5);
});

describe('the merge queue', () => {
  const timeout = timeoutOf('finish-merges');
  const { DelaySeconds: delay, VisibilityTimeout: retryAfter, RedrivePolicy } = queues.MergesQueue;
  const triedFor = RedrivePolicy.maxReceiveCount * retryAfter;

  it('delivers a merge after its call, which answers within 3 s, and again half a minute after an attempt has timed out', () => {
    expect(delay).toBeGreaterThan(3);
    expect(retryAfter).toBe(timeout + 30);
  });

  it('tries a merge for some fourteen hours, longer than an outage, and keeps its dead letter for a week more', () => {
    expect(Math.floor(triedFor / HOUR)).toBe(14);
    // A dead letter keeps the age of its message.
    expect(queues.MergesDeadLetters.MessageRetentionPeriod).toBeGreaterThan(triedFor + 7 * DAY);
  });

  it('raises MergesPending after one attempt has failed, and not before', () => {
    const { WatchMergesPending } = propertiesOf('AWS::CloudWatch::Alarm', template);
    const seconds = 60 * WatchMergesPending.EvaluationPeriods;
    expect(seconds).toBeGreaterThan(delay + retryAfter);
    expect(seconds).toBeLessThan(delay + 2 * retryAfter);
  });

  it('may lose a message: every five minutes finish-merges looks for overdue merges', () => {
    const rule = readable(only('AWS::Events::Rule', template).Properties);
    const target = { Arn: 'finishmergesFunction.Arn', Input: JSON.stringify({ finish: 'overdue' }) };
    expect(rule).toMatchObject({ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED', Targets: [target] });
  });
});

describe('the ingest queue', () => {
  it('keeps a message over an outage, also if the function does not start', () => {
    const { VisibilityTimeout, RedrivePolicy, MessageRetentionPeriod } = queues.FeedQueue;
    expect(VisibilityTimeout * RedrivePolicy.maxReceiveCount).toBeGreaterThan(6 * HOUR);
    // The function delays a failed message by 900 s at most.
    expect(MessageRetentionPeriod).toBeGreaterThan(RedrivePolicy.maxReceiveCount * 900);
  });

  it('takes messages from writers, who may do nothing else', () => {
    expect(readable(only('AWS::IAM::ManagedPolicy', template).Properties).PolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: 'FeedQueue.Arn' },
    ]);
  });
});
