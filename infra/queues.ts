/** The queues of large merges and of the records that other systems send. The queue of events is in `relay.ts`. */

import { Duration, Stack } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { AccountPrincipal, ManagedPolicy, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption, type QueueProps as QueueOptions } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { QueueName } from '../lib/http/operation.ts';
import { MAX_MESSAGE_BYTES } from '../lib/ingest/queues.ts';
import { OVERDUE } from '../lib/operations/merge-alerts/finish.ts';
import type { CreateFunction } from './function.ts';
import { COUNTED, type EventCounts, eventCounts } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

/** A dead letter keeps the age that it had in its source, so it is kept longer, as long as SQS allows. */
const RETENTION = { source: Duration.days(10), deadLetters: Duration.days(14) } as const;

/** Creates a queue: one without dead letters of its own is for those of others. */
export const createQueue = (scope: Construct, id: string, options: QueueOptions = {}): Queue =>
  new Queue(scope, id, {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: options.deadLetterQueue ? RETENTION.source : RETENTION.deadLetters,
    ...options,
  });

const MERGES = {
  /** Moving the alerts of the largest merge takes seconds, or longer if the table is slow. */
  timeout: Duration.minutes(5),
  /** Longer than an API call takes, so that the call has stopped moving alerts when the message is delivered. */
  deliveryDelay: Duration.seconds(5),
  /**
   * A failed message is retried this long after the function's time-out. AWS recommends a visibility timeout of six function time-outs,
   * so that a throttled batch is not delivered twice. Here a second delivery does no harm, and with the shorter time a merge that needs
   * several invocations continues sooner.
   */
  retryDelay: Duration.seconds(30),
  /** With one attempt every five and a half minutes, over fourteen hours: an outage of six hours loses no merge. */
  maxReceiveCount: 160,
  /** How often finish-merges looks for pending merges whose message was lost. */
  sweepInterval: Duration.minutes(5),
} as const;

interface QueueProps {
  readonly create: CreateFunction;
  readonly settings: DeploymentSettings;
}

/**
 * Finishes large merges that their calls left pending. The function relay sends the key of each large merge's entry to the queue;
 * finish-merges handles one message at a time. Messages of merges that cannot be finished end in the dead-letter queue.
 */
export class MergeQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly events: EventCounts;

  constructor(scope: Construct, id: string, { create, settings }: QueueProps) {
    super(scope, id);
    // The messages wait in the queue of a standby.
    const enabled = !settings.standby;
    const finishMerges = create('finish-merges', 'Finish large merges that their calls left pending', MERGES.timeout);
    this.deadLetters = createQueue(this, 'DeadLetters');
    this.queue = createQueue(this, 'Queue', {
      deliveryDelay: MERGES.deliveryDelay,
      visibilityTimeout: MERGES.timeout.plus(MERGES.retryDelay),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MERGES.maxReceiveCount },
    });
    // A backlog of merges leaves Lambda's capacity to the callers.
    const maxConcurrency = settings.mergeConcurrency;
    const source = new SqsEventSource(this.queue, { batchSize: 1, enabled, maxConcurrency, ...COUNTED });
    finishMerges.addEventSource(source);
    this.events = eventCounts(source);
    new Rule(this, 'Sweep', {
      description: 'Finish merges whose message was lost',
      enabled,
      schedule: Schedule.rate(MERGES.sweepInterval),
      targets: [new FunctionTarget(finishMerges, { event: RuleTargetInput.fromObject(OVERDUE), retryAttempts: 0 })],
    });
  }
}

const SILENCE = {
  description: 'End alerts of which no record has come for long',
  /** An alert that has become silent ends at most this late. */
  interval: Duration.hours(1),
  /** It reads the rows of all open alerts. */
  timeout: Duration.minutes(15),
} as const;

const RECORDS = {
  /** Writing a batch takes seconds, or longer if the table is throttled. */
  timeout: Duration.minutes(1),
  /** Lambda gathers up to `batchSize` messages for at most `batchWindow`, so that several records for one row become one write. */
  batchSize: 100,
  batchWindow: Duration.seconds(1),
  /** Visibility timeout, in function time-outs. AWS recommends six, so that Lambda can retry a throttled batch before it appears again. */
  timeoutsUntilRetry: 6,
  /**
   * While the function cannot start, a message is tried every six minutes: 100 attempts take ten hours. While it starts but fails, it
   * delays messages longer each time: 100 attempts take half a day or more. So an outage of six hours loses nothing.
   */
  maxReceiveCount: 100,
  /** Node then frees memory early: any batch fits into 256 MB. */
  nodeOptions: '--max-semi-space-size=2 --max-old-space-size=128',
} as const;

/**
 * Other systems send records to the ingest queue, from which ingest-records writes them to the table. Settings, outputs, alarms and
 * commands call it the *feed* (docs/feed.md).
 */
export class IngestQueues extends Construct {
  readonly queue: Queue;
  /** Records that ingest-records refused, with the reasons, and messages that failed `maxReceiveCount` times. */
  readonly refused: Queue;
  readonly events: EventCounts;
  /** Lets other systems send to the ingest queue, and do nothing else. EventBridge rules and SNS topics of this account do not need it. */
  readonly writersPolicy: ManagedPolicy;

  constructor(scope: Construct, id: string, { create, settings }: QueueProps) {
    super(scope, id);
    this.refused = createQueue(this, 'Refused');
    this.queue = createQueue(this, 'Queue', {
      maxMessageSizeBytes: MAX_MESSAGE_BYTES,
      visibilityTimeout: Duration.seconds(RECORDS.timeoutsUntilRetry * RECORDS.timeout.toSeconds()),
      deadLetterQueue: { queue: this.refused, maxReceiveCount: RECORDS.maxReceiveCount },
    });
    // Granted in this stack, since a queue has only one policy: one from another stack would replace it, and with it the rule for TLS.
    const rules = Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName: '*' });
    const topics = Stack.of(this).formatArn({ service: 'sns', region: '*', resource: '*' });
    for (const [service, source] of [
      ['events', rules],
      ['sns', topics],
    ]) {
      const conditions = { ArnLike: { 'aws:SourceArn': source } };
      this.queue.grant(new ServicePrincipal(`${service}.amazonaws.com`, { conditions }), 'sqs:SendMessage');
    }
    for (const account of settings.feedAccounts) this.queue.grant(new AccountPrincipal(account), 'sqs:SendMessage');
    // With another description CloudFormation would replace the policy, which writers have attached.
    this.writersPolicy = new ManagedPolicy(this, 'Writers', { description: 'Send records to the feed' });
    // `grantSendMessages` would allow more actions.
    this.queue.grant(this.writersPolicy, 'sqs:SendMessage');

    const { queueUrl: INGEST_URL } = this.queue;
    const ingestRecords = create('ingest-records', 'Write the records that are sent to the feed', RECORDS.timeout, {
      NODE_OPTIONS: RECORDS.nodeOptions,
      INGEST_URL,
    });
    this.letSend(ingestRecords, 'refused');
    const source = new SqsEventSource(this.queue, {
      batchSize: RECORDS.batchSize,
      maxBatchingWindow: RECORDS.batchWindow,
      reportBatchItemFailures: true,
      // While messages are not delivered, they wait in the queue.
      enabled: !(settings.writesFrozen || settings.standby),
      // A backlog leaves table and Lambda capacity to the callers.
      maxConcurrency: settings.feedConcurrency,
      ...COUNTED,
    });
    ingestRecords.addEventSource(source);
    this.events = eventCounts(source);

    const { description, interval, timeout } = SILENCE;
    const endSilentAlerts = create('end-silent-alerts', description, timeout, { INGEST_URL });
    // The age of the oldest message of the queue. The action has no resources.
    endSilentAlerts.addToRolePolicy(new PolicyStatement({ actions: ['cloudwatch:GetMetricData'], resources: ['*'] }));
    new Rule(this, 'Silence', {
      description,
      enabled: !(settings.writesFrozen || settings.standby),
      schedule: Schedule.rate(interval),
      targets: [new FunctionTarget(endSilentAlerts, { retryAttempts: 0 })],
    });
  }

  /** Lets a function send to a queue, and gives it the queue's address. */
  letSend(fn: LambdaFunction, name: QueueName): void {
    const queue = name === 'ingest' ? this.queue : this.refused;
    fn.addEnvironment(`${name.toUpperCase()}_URL`, queue.queueUrl);
    // `grantSendMessages` would allow more actions.
    queue.grant(fn, 'sqs:SendMessage');
  }
}
