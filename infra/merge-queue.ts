import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as FinishFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { OVERDUE } from '../lib/operations/merge-alerts/finish.ts';

/** Longer than a call takes, so that the call itself has stopped moving alerts by then. */
const DELIVERY_DELAY = Duration.seconds(5);
/**
 * A failed message is retried this long after the function's time-out. AWS recommends to wait for six time-outs, so that a throttled
 * batch is not delivered twice. Here that does no harm, and a merge that needs several invocations continues sooner.
 */
const RETRY_DELAY = Duration.seconds(30);
/** One attempt every five and a half minutes makes over fourteen hours: an outage of six hours loses no merge. */
const MAX_RECEIVES = 160;
/** How often finish-merges looks for pending merges whose message was lost. */
const SWEEP_INTERVAL = Duration.minutes(5);
const QUEUE = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} as const;

export interface MergeQueueProps {
  readonly finishMerges: FinishFunction;
  /** Of `finishMerges`. */
  readonly timeout: Duration;
  /** Concurrent invocations, so that a backlog of merges leaves Lambda's capacity to the callers. */
  readonly maxConcurrency: number;
}

/**
 * Finishes large merges that their calls left pending. The function relay sends the key of each large merge's feed entry to the queue;
 * finish-merges takes one message at a time. Messages of merges that cannot be finished end in the dead-letter queue.
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
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
    finishMerges.addEventSource(new SqsEventSource(this.queue, { batchSize: 1, maxConcurrency }));
    new Rule(this, 'Sweep', {
      description: 'Finish merges whose message was lost',
      schedule: Schedule.rate(SWEEP_INTERVAL),
      targets: [new LambdaFunction(finishMerges, { event: RuleTargetInput.fromObject(OVERDUE), retryAttempts: 0 })],
    });
  }
}
