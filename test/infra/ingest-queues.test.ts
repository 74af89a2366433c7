/** The ingest queue (docs/feed.md), the queues beside it, its function, and what writers may do. */
import { describe, expect, it } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, propertiesOf } from '../support/stack.ts';

const template = deployed();
const { FeedQueue, FeedRefused, FeedDeadLetters } = propertiesOf('AWS::SQS::Queue', template);
const DAY = 24 * 3600;

it('hands messages to ingest-records in batches, of which only those that failed come again', () => {
  const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', template));
  expect(mappings.find(({ EventSourceArn }) => EventSourceArn === 'FeedQueue.Arn')).toEqual({
    BatchSize: 100,
    Enabled: true,
    MaximumBatchingWindowInSeconds: 1,
    EventSourceArn: 'FeedQueue.Arn',
    FunctionName: 'ingestrecordsFunction',
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ScalingConfig: { MaximumConcurrency: 10 },
  });
});

describe('a message that fails', () => {
  const { VisibilityTimeout: retryAfter, RedrivePolicy, MessageRetentionPeriod: kept } = FeedQueue;

  it('outlasts an outage of six hours, also one in which the function does not start, and is kept for two weeks', () => {
    expect(retryAfter).toBe(6 * Number(functionsOf(template).get('ingest-records')?.Properties.Timeout));
    expect(RedrivePolicy).toEqual({ deadLetterTargetArn: 'FeedDeadLetters.Arn', maxReceiveCount: 100 });
    expect(retryAfter * RedrivePolicy.maxReceiveCount).toBeGreaterThan(6 * 3600);
    for (const queue of [FeedQueue, FeedRefused, FeedDeadLetters])
      expect(queue).toMatchObject({ MessageRetentionPeriod: 14 * DAY, SqsManagedSseEnabled: true });
    // The function delays a failed message by 900 s at most.
    expect(kept).toBeGreaterThan(100 * 900);
  });
});

it('writers may send to the ingest queue, and do nothing else', () => {
  const [policy, ...others] = Object.values(propertiesOf('AWS::IAM::ManagedPolicy', template));
  expect(others).toEqual([]);
  expect(policy.PolicyDocument.Statement).toEqual([
    {
      Effect: 'Allow',
      Action: ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'],
      Resource: 'FeedQueue.Arn',
    },
  ]);
});
