import { Duration } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type Function as LambdaFunction, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ALERT_EVENTS } from '../lib/model/alert.ts';

import type { CreateFunction } from './function.ts';
import { createQueue } from './queues.ts';
import { COUNTED, type EventCounts, eventCounts } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const ANY_VALUE = [{ exists: true }];

/**
 * Filters of the stream, one for each kind of change that is relayed. Most other changes do not invoke the function, and cost nothing.
 * Some pass, such as updates of history entries and `completed` of an undo: `eventOf` and `largeMergeKeyOf` drop them. No filter uses
 * `eventName`: Lambda's guide says that filters apply only to what is under `dynamodb`.
 */
const NEW_IMAGES = [
  { kind: { S: ['merge', 'merge_undone'] }, merge_id: { S: ANY_VALUE } }, // an entry of an incident's history
  { completed: { M: { sequence: { N: ANY_VALUE } } } }, // the log head, when a large entry is finished
  { deleted_at_ms: { N: ANY_VALUE } }, // a deleted work item
  { event: { S: ALERT_EVENTS } }, // an alert that a record or silence has opened or ended
  { command: { S: ANY_VALUE }, result: { S: ANY_VALUE } }, // an operator's command
];

/**
 * How long a failed record is retried: longer than an outage of six hours, but well below the 24 hours that the stream keeps it. The
 * dead letter that Lambda then sends has only the record's position in the stream, so the operator needs the rest of the day to replay.
 */
const MAX_RETRY = Duration.hours(8);
const TIMEOUT = Duration.minutes(1);
/** An event that EventBridge does not take is tried every six function time-outs, as AWS recommends: 100 attempts take ten hours. */
const EVENTS_RETRY = { visibilityTimeout: Duration.minutes(6 * TIMEOUT.toMinutes()), maxReceiveCount: 100 } as const;

export interface RelayProps {
  readonly create: CreateFunction;
  readonly settings: DeploymentSettings;
  readonly table: ITableV2;
  readonly mergeQueue: Queue;
}

/**
 * Relays changes from the table's stream to the merge queue and, by a queue of their own, as events to the bus. A change that cannot be
 * relayed becomes a dead letter.
 */
export class Relay extends Construct {
  readonly lambda: LambdaFunction;
  readonly bus: EventBus;
  readonly deadLetters: Queue;
  /** Events that wait for the bus. */
  readonly eventsQueue: Queue;
  /** Of the queue of events. */
  readonly events: EventCounts;
  /** Of the table's stream. */
  readonly changes: EventCounts;

  constructor(scope: Construct, id: string, { create, settings, table, mergeQueue }: RelayProps) {
    super(scope, id);
    this.bus = new EventBus(this, 'Bus', { description: 'Events of the service: docs/events.md' });
    this.deadLetters = createQueue(this, 'DeadLetters');
    const { visibilityTimeout, maxReceiveCount } = EVENTS_RETRY;
    this.eventsQueue = createQueue(this, 'Events', {
      visibilityTimeout,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount },
    });
    this.lambda = create('relay', 'Send large merges to their queue, and events to the bus', TIMEOUT, {
      EVENT_BUS: this.bus.eventBusName,
      EVENTS_URL: this.eventsQueue.queueUrl,
      MERGE_QUEUE_URL: mergeQueue.queueUrl,
      RELAY_DEAD_LETTERS_URL: this.deadLetters.queueUrl,
    });
    this.bus.grantPutEventsTo(this.lambda);
    // Others of the AWS account could otherwise forge events.
    this.bus.addToResourcePolicy(
      new PolicyStatement({
        sid: 'OnlyRelay',
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['events:PutEvents'],
        resources: [this.bus.eventBusArn],
        conditions: { ArnNotEquals: { 'aws:PrincipalArn': this.lambda.role?.roleArn } },
      }),
    );
    // Not only `sqs:SendMessage`: for the dead letters, `SqsDlq` below allows the rest anyway, so one statement suffices.
    for (const queue of [mergeQueue, this.eventsQueue, this.deadLetters]) queue.grantSendMessages(this.lambda);
    // On the stream's ARN, as `DynamoEventSource` grants it, this action allows nothing.
    this.lambda.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:ListStreams'], resources: ['*'] }));
    const changes = new DynamoEventSource(table, {
      // LATEST would miss changes that are made before a new mapping starts to read.
      startingPosition: StartingPosition.TRIM_HORIZON,
      // Changes are relayed in one region only, since the stream of each replica has those of all.
      enabled: !settings.standby,
      filters: NEW_IMAGES.map((NewImage) => ({ pattern: JSON.stringify({ dynamodb: { NewImage } }) })),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      maxRecordAge: MAX_RETRY,
      onFailure: new SqsDlq(this.deadLetters),
      ...COUNTED,
    });
    this.lambda.addEventSource(changes);
    this.changes = eventCounts(changes);
    const events = new SqsEventSource(this.eventsQueue, {
      maxConcurrency: 2,
      reportBatchItemFailures: true,
      ...COUNTED,
    });
    this.lambda.addEventSource(events);
    this.events = eventCounts(events);
  }
}
