/** The queues, the functions that they and the table's stream call, and how messages outlast an outage of six hours. */
import { describe, expect, it } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, only, propertiesOf, readable } from '../support/stack.ts';

const template = deployed();
const queues = propertiesOf('AWS::SQS::Queue', template);
const HOUR = 3_600;
const DAY = 24 * HOUR;

/** The one mapping from this source to a function. */
function mappingFrom(source: string) {
  const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', template));
  const [mapping, ...others] = mappings.filter(({ EventSourceArn }) => EventSourceArn === source);
  expect(others).toEqual([]);
  return mapping;
}
const timeoutOf = (name: string) => Number(functionsOf(template).get(name)?.Properties.Timeout);

it('all queues are encrypted and keep messages for 14 days, also dead letters', () => {
  const kept = { MessageRetentionPeriod: 14 * DAY, SqsManagedSseEnabled: true };
  const redriven = (to: string, maxReceiveCount: number) => ({
    RedrivePolicy: { deadLetterTargetArn: `${to}.Arn`, maxReceiveCount },
  });
  expect(queues).toEqual({
    MergesQueue: { ...kept, DelaySeconds: 5, VisibilityTimeout: 330, ...redriven('MergesDeadLetters', 160) },
    MergesDeadLetters: kept,
    FeedQueue: { ...kept, VisibilityTimeout: 6 * timeoutOf('ingest-records'), ...redriven('FeedDeadLetters', 100) },
    FeedRefused: kept,
    FeedDeadLetters: kept,
    RelayDeadLetters: kept,
  });
});

describe('the merge queue', () => {
  it('calls finish-merges with one message, without waiting for more, and at most twenty times at once', () => {
    // Without FunctionResponseTypes, one failed message of a batch would bring back all the others, too.
    expect(mappingFrom('MergesQueue.Arn')).toEqual({
      BatchSize: 1,
      EventSourceArn: 'MergesQueue.Arn',
      FunctionName: 'finishmergesFunction',
      ScalingConfig: { MaximumConcurrency: 20 },
    });
  });

  const timeout = timeoutOf('finish-merges');
  const { DelaySeconds: delay, VisibilityTimeout: retryAfter, RedrivePolicy } = queues.MergesQueue;
  const triedFor = RedrivePolicy.maxReceiveCount * retryAfter;

  it('delivers a merge when its call is over, which answers within 3 s, and again half a minute after an attempt', () => {
    expect(delay).toBeGreaterThan(3);
    expect(timeout).toBe(5 * 60);
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
    const { Targets, ...rule } = only('AWS::Events::Rule', template).Properties;
    expect(rule).toMatchObject({ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED' });
    expect(readable(Targets)).toEqual([
      expect.objectContaining({ Arn: 'finishmergesFunction.Arn', Input: JSON.stringify({ finish: 'overdue' }) }),
    ]);
  });
});

describe('the ingest queue', () => {
  it('calls ingest-records with batches, of which only the messages that failed come again', () => {
    expect(mappingFrom('FeedQueue.Arn')).toEqual({
      BatchSize: 100,
      Enabled: true,
      MaximumBatchingWindowInSeconds: 1,
      EventSourceArn: 'FeedQueue.Arn',
      FunctionName: 'ingestrecordsFunction',
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 10 },
    });
  });

  it('keeps a message over an outage, also if the function does not start', () => {
    const { VisibilityTimeout, RedrivePolicy, MessageRetentionPeriod } = queues.FeedQueue;
    expect(VisibilityTimeout * RedrivePolicy.maxReceiveCount).toBeGreaterThan(6 * HOUR);
    // The function delays a failed message by 900 s at most.
    expect(MessageRetentionPeriod).toBeGreaterThan(RedrivePolicy.maxReceiveCount * 900);
  });

  it('takes messages from writers, who may do nothing else', () => {
    expect(readable(only('AWS::IAM::ManagedPolicy', template).Properties).PolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'],
        Resource: 'FeedQueue.Arn',
      },
    ]);
  });
});

it("the table's stream calls relay with the rows that it sends on, from the oldest on, for longer than an outage", () => {
  const { FilterCriteria, MaximumRecordAgeInSeconds, ...rest } = mappingFrom('Table.StreamArn');
  expect(rest).toEqual({
    EventSourceArn: 'Table.StreamArn',
    FunctionName: 'relayFunction',
    // It also reads what was written before the mapping existed.
    StartingPosition: 'TRIM_HORIZON',
    BatchSize: 100,
    BisectBatchOnFunctionError: true,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    DestinationConfig: { OnFailure: { Destination: 'RelayDeadLetters.Arn' } },
  });
  expect(MaximumRecordAgeInSeconds).toBeGreaterThan(6 * HOUR);
  expect(MaximumRecordAgeInSeconds).toBeLessThanOrEqual(12 * HOUR);
  // Five are the most without a higher quota. Which rows they let through: test/integration/events.test.ts.
  expect(FilterCriteria.Filters.length).toBeLessThanOrEqual(5);
});
