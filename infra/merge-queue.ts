import { Duration, Stack } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** Longer than a call takes: its own moves have ended by then. */
const DELIVERY_DELAY = Duration.seconds(5);
/** Time until a failed message is retried: AWS recommends six times the function's time-out. */
const TIMEOUTS_UNTIL_RETRY = 6;
/** Some eight hours at one attempt every three minutes: an outage of six hours loses no merge. */
const MOST_RECEIVES = 160;
const QUEUE = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} as const;

export interface MergeQueueProps {
  readonly table: ITableV2;
  readonly finishMerges: LambdaFunction;
  readonly timeout: Duration;
}

/**
 * Finishes large merges that their calls left pending: a pipe sends the key of each large feed entry from the table's stream to a
 * queue, which hands it to finish-merges, one per call, until it succeeds. What cannot be finished ends in the dead-letter queue.
 */
export class MergeQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly pipe: CfnPipe;

  constructor(scope: Construct, id: string, { table, finishMerges, timeout }: MergeQueueProps) {
    super(scope, id);
    if (table.tableStreamArn === undefined) throw new Error('the table needs a stream');
    this.deadLetters = new Queue(this, 'DeadLetters', QUEUE);
    this.queue = new Queue(this, 'Queue', {
      ...QUEUE,
      deliveryDelay: DELIVERY_DELAY,
      visibilityTimeout: Duration.seconds(TIMEOUTS_UNTIL_RETRY * timeout.toSeconds()),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MOST_RECEIVES },
    });
    finishMerges.addEventSource(new SqsEventSource(this.queue, { batchSize: 1 }));

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
          filters: [
            { pattern: JSON.stringify({ eventName: ['INSERT'], dynamodb: { NewImage: { large: { BOOL: [true] } } } }) },
          ],
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
