/** The queue of large merges and its function, against the promises that need them. */
import { describe, expect, it } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, only, propertiesOf, readable } from '../support/stack.ts';

const template = deployed();
const { MergesQueue, MergesDeadLetters } = propertiesOf('AWS::SQS::Queue', template);
const queues = { MergesQueue, MergesDeadLetters };
const DAY = 24 * 3600;

it('the queue and its dead letters are encrypted, and keep messages for 14 days', () => {
  expect(queues).toEqual({
    MergesQueue: {
      DelaySeconds: 5,
      VisibilityTimeout: 330,
      RedrivePolicy: { deadLetterTargetArn: 'MergesDeadLetters.Arn', maxReceiveCount: 160 },
      MessageRetentionPeriod: 14 * DAY,
      SqsManagedSseEnabled: true,
    },
    MergesDeadLetters: { MessageRetentionPeriod: 14 * DAY, SqsManagedSseEnabled: true },
  });
});

it('finish-merges takes one message a call, at once, and twenty at a time', () => {
  // Without FunctionResponseTypes, one failed message of a batch would bring back all the others, too.
  const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', template));
  expect(mappings.find(({ EventSourceArn }) => EventSourceArn === 'MergesQueue.Arn')).toEqual({
    BatchSize: 1,
    EventSourceArn: 'MergesQueue.Arn',
    FunctionName: 'finishmergesFunction',
    ScalingConfig: { MaximumConcurrency: 20 },
  });
});

describe('a merge that its call left', () => {
  const timeout = Number(functionsOf(template).get('finish-merges')?.Properties.Timeout);
  const {
    DelaySeconds: delay,
    VisibilityTimeout: retryAfter,
    RedrivePolicy,
    MessageRetentionPeriod,
  } = queues.MergesQueue;
  const attempts = RedrivePolicy.maxReceiveCount;

  it('is looked at when its call is over, which answers within 3 s', () => {
    expect(delay).toBeGreaterThan(3);
  });

  it('gets five minutes for each attempt, enough on a slow table, too', () => {
    expect(timeout).toBe(5 * 60);
  });

  it('is tried again half a minute after an attempt has timed out', () => {
    expect(retryAfter).toBe(timeout + 30);
  });

  it('is given up after 160 attempts, some fourteen hours: not within an outage of six', () => {
    expect([attempts, Math.floor((attempts * retryAfter) / 3600)]).toEqual([160, 14]);
    expect(attempts * retryAfter).toBeGreaterThan(6 * 3600);
  });

  it('whose message was lost is looked for every five minutes', () => {
    const { ScheduleExpression, State, Targets } = only('AWS::Events::Rule', template).Properties;
    expect({ ScheduleExpression, State }).toEqual({ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED' });
    expect(readable(Targets)).toEqual([
      expect.objectContaining({ Arn: 'finishmergesFunction.Arn', Input: JSON.stringify({ finish: 'overdue' }) }),
    ]);
  });

  it('is not forgotten before it is given up, nor for a week after: a dead letter keeps the age of its message', () => {
    expect(MessageRetentionPeriod).toBeGreaterThan(attempts * retryAfter);
    expect(queues.MergesDeadLetters.MessageRetentionPeriod).toBeGreaterThan(attempts * retryAfter + 7 * DAY);
  });

  it('raises MergesPending after one attempt has failed, and not before', () => {
    const { WatchMergesPending } = propertiesOf('AWS::CloudWatch::Alarm', template);
    const seconds = 60 * WatchMergesPending.EvaluationPeriods;
    expect(seconds).toBeGreaterThan(delay + retryAfter);
    expect(seconds).toBeLessThan(delay + 2 * retryAfter);
  });
});
