import { Duration } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as IngestFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** Lambda gathers up to `size` messages for at most `window`, so that several records for one row become one write. */
const BATCH = { size: 100, window: Duration.seconds(1) } as const;
/** AWS recommends six time-outs of the function, so that Lambda can retry a throttled batch before its messages appear again. */
const TIMEOUTS_UNTIL_RETRY = 6;
/**
 * If the function cannot start, a message is tried every six minutes: 100 attempts take ten hours. If it can, it delays failed messages
 * longer each time: they take a day. So an outage of six hours loses nothing.
 */
const MAX_RECEIVES = 100;
const QUEUE = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} as const;

/**
 * The way in for rows: other systems send records to the ingest queue, from which ingest-records writes them to the table. The names of
 * settings, outputs, alarms and commands say *feed* for it (docs/feed.md). It is not an incident's feed, which is its history.
 */
export class IngestQueues extends Construct {
  /** The ingest queue. */
  readonly queue: Queue;
  /** Records that ingest-records refused, with the reasons. */
  readonly refused: Queue;
  /** Messages that failed `MAX_RECEIVES` times. */
  readonly deadLetters: Queue;
  /** Lets other systems send to the ingest queue, and do nothing else. */
  readonly writersPolicy: ManagedPolicy;

  /** @param timeout of ingest-records */
  constructor(scope: Construct, id: string, timeout: Duration) {
    super(scope, id);
    this.refused = new Queue(this, 'Refused', QUEUE);
    this.deadLetters = new Queue(this, 'DeadLetters', QUEUE);
    this.queue = new Queue(this, 'Queue', {
      ...QUEUE,
      visibilityTimeout: Duration.seconds(TIMEOUTS_UNTIL_RETRY * timeout.toSeconds()),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
    this.writersPolicy = new ManagedPolicy(this, 'Writers', {
      // With another description CloudFormation would replace the policy, which writers have attached.
      description: 'Send records to the feed',
      statements: [
        new PolicyStatement({
          actions: ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'],
          resources: [this.queue.queueArn],
        }),
      ],
    });
  }

  /** The variables of ingest-records that name its queues. */
  get environment(): Record<string, string> {
    return { FEED_URL: this.queue.queueUrl, REFUSED_URL: this.refused.queueUrl };
  }

  /**
   * Delivers messages to ingest-records. While `enabled` is false, they wait in the queue.
   * @param maxConcurrency concurrent invocations at most, so that a backlog leaves table and Lambda capacity to the callers
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
}
