import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as FinishFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { OVERDUE } from '../lib/operations/merge-alerts/finish.ts';

/** Longer than a call takes: its own moves have ended by then. */
const DELIVERY_DELAY = Duration.seconds(5);
/**
 * Beyond the function's time-out, until a failed message is retried: a merge that goes on slowly continues at once. AWS recommends
 * six time-outs where batches are retried while Lambda throttles the function; a message is finished twice without harm.
 */
const RETRY_DELAY = Duration.seconds(30);
/** Some fourteen hours at one attempt every five and a half minutes: an outage of six hours loses no merge. */
const MOST_RECEIVES = 160;
/** How often merges are looked for whose message was lost. */
const SWEEP_INTERVAL = Duration.minutes(5);
const QUEUE = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} as const;

export interface MergeQueueProps {
  readonly finishMerges: FinishFunction;
  readonly timeout: Duration;
  /** Most merges that are finished at a time: a backlog of them leaves Lambda to the callers. */
  readonly maxConcurrency: number;
}

/**
 * Finishes large merges that their calls left pending: relay sends the key of each large feed entry to a queue, which hands it to
 * finish-merges, one per call, until it succeeds. What cannot be finished ends in the dead-letter queue.
 */
export class MergeQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { finishMerges, timeout, maxConcurrency }: MergeQueueProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', QUEUE);
    this.queue = new Queue(this, 'Queue', {
      ...QUEUE,
      deliveryDelay: DELIVERY_DELAY,
      visibilityTimeout: timeout.plus(RETRY_DELAY),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MOST_RECEIVES },
    });
    finishMerges.addEventSource(new SqsEventSource(this.queue, { batchSize: 1, maxConcurrency }));
    new Rule(this, 'Sweep', {
      description: 'Finish merges whose message was lost',
      schedule: Schedule.rate(SWEEP_INTERVAL),
      targets: [new LambdaFunction(finishMerges, { event: RuleTargetInput.fromObject(OVERDUE), retryAttempts: 0 })],
    });
  }
}
