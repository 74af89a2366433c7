import { CfnOutput, Duration, type Stack } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as IngestFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** Lambda gathers up to `size` messages for at most `window`, so that several records of a row become one write. */
const BATCH = { size: 100, window: Duration.seconds(1) } as const;
/** AWS recommends six time-outs of the function, so that a batch can be retried while Lambda throttles it. */
const TIMEOUTS_UNTIL_RETRY = 6;
/**
 * If the function cannot start, 100 attempts at one every six minutes take ten hours; if it can, it delays failed messages longer each
 * time, and 100 attempts take a day. So an outage of six hours loses nothing.
 */
const MAX_RECEIVES = 100;
const QUEUE = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} as const;

/** The queues of the feed: records from writers, those that were refused, and messages that failed for too long. */
export class Feed extends Construct {
  readonly queue: Queue;
  readonly refused: Queue;
  readonly deadLetters: Queue;

  /** @param timeout of the function that takes the records */
  constructor(scope: Construct, id: string, timeout: Duration) {
    super(scope, id);
    this.refused = new Queue(this, 'Refused', QUEUE);
    this.deadLetters = new Queue(this, 'DeadLetters', QUEUE);
    this.queue = new Queue(this, 'Queue', {
      ...QUEUE,
      visibilityTimeout: Duration.seconds(TIMEOUTS_UNTIL_RETRY * timeout.toSeconds()),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
  }

  /** Environment of the function: the URLs of the queues. */
  get environment(): Record<string, string> {
    return { FEED_URL: this.queue.queueUrl, REFUSED_URL: this.refused.queueUrl };
  }

  /**
   * Delivers the records to the function. While `enabled` is false, they wait in the queue.
   * @param maxConcurrency concurrent invocations, so that a backlog leaves table and Lambda capacity to the callers
   */
  deliverTo(
    ingestRecords: IngestFunction,
    { enabled, maxConcurrency }: { enabled: boolean; maxConcurrency: number },
  ): void {
    ingestRecords.addEventSource(
      new SqsEventSource(this.queue, {
        batchSize: BATCH.size,
        maxBatchingWindow: BATCH.window,
        maxConcurrency,
        reportBatchItemFailures: true,
        enabled,
      }),
    );
    ingestRecords.addToRolePolicy(
      new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.refused.queueArn] }),
    );
  }

  /** For writers: the address of the queue, and a policy that lets them send to it and do nothing else. */
  addOutputs(stack: Stack): void {
    const writers = new ManagedPolicy(this, 'Writers', {
      description: 'Send records to the feed',
      statements: [
        new PolicyStatement({
          actions: ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'],
          resources: [this.queue.queueArn],
        }),
      ],
    });
    const output = (name: string, value: string, description: string) =>
      new CfnOutput(stack, name, { value, description });
    output('FeedUrl', this.queue.queueUrl, 'Queue that writers send records to');
    output('FeedArn', this.queue.queueArn, 'The same, for event rules and policies');
    output('FeedWritersPolicyArn', writers.managedPolicyArn, 'Policy for writers: send to the feed, and nothing else');
    output('FeedRefusedUrl', this.refused.queueUrl, 'Queue of refused records, with reasons');
    output('FeedDeadLettersUrl', this.deadLetters.queueUrl, 'Queue of messages that failed for too long');
  }
}
