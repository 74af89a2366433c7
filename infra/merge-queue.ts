import { Duration, Stack } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as FinishFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
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

/** The attributes that a large feed entry has, and no row of another kind. */
const LARGE_ENTRY = { large: { BOOL: [true] }, kind: { S: ['merge', 'merge_undone'] } };

export interface MergeQueueProps {
  readonly table: ITableV2;
  readonly finishMerges: FinishFunction;
  readonly timeout: Duration;
  /** Most merges that are finished at a time: a backlog of them leaves Lambda to the callers. */
  readonly maxConcurrency: number;
}

/**
 * Finishes large merges that their calls left pending: a pipe sends the key of each large feed entry from the table's stream to a
 * queue, which hands it to finish-merges, one per call, until it succeeds. What cannot be finished ends in the dead-letter queue.
 */
export class MergeQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly pipe: CfnPipe;

  constructor(scope: Construct, id: string, { table, finishMerges, timeout, maxConcurrency }: MergeQueueProps) {
    super(scope, id);
    if (table.tableStreamArn === undefined) throw new Error('the table needs a stream');
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

    const role = new Role(this, 'PipeRole', {
      assumedBy: new ServicePrincipal('pipes.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    });
    table.grantStreamRead(role);
    this.queue.grantSendMessages(role);
    this.deadLetters.grantSendMessages(role);
    this.pipe = new CfnPipe(this, 'Pipe', {
      description: 'Large merges, from their commit to finish-merges',
      roleArn: role.roleArn,
      source: table.tableStreamArn,
      sourceParameters: {
        filterCriteria: {
          filters: [{ pattern: JSON.stringify({ eventName: ['INSERT'], dynamodb: { NewImage: LARGE_ENTRY } }) }],
        },
        // Retried until the record leaves the stream, after 24 hours.
        dynamoDbStreamParameters: {
          startingPosition: 'TRIM_HORIZON',
          deadLetterConfig: { arn: this.deadLetters.queueArn },
        },
      },
      target: this.queue.queueArn,
      targetParameters: { inputTemplate: '{"pk": <$.dynamodb.Keys.pk.S>, "sk": <$.dynamodb.Keys.sk.S>}' },
    });
    this.pipe.node.addDependency(role); // with its policy: the pipe is refused without
  }
}
