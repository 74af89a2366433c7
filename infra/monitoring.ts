import { Stack } from 'aws-cdk-lib';
import { type AlarmBase, type Dashboard, type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { operations } from '../lib/http/operations.ts';
import { METRICS } from '../lib/shared/metrics.ts';
import { addCallerAlarms } from './caller-alarms.ts';
import { addDashboard, type DashboardProps } from './dashboard.ts';
import { ServiceFunction } from './function.ts';
import type { IngestQueues } from './queues.ts';
import type { Relay } from './relay.ts';
import { addServiceLevelAlarms } from './service-level.ts';
import {
  createRunbookAlarm,
  eventMetric,
  PERIOD,
  SLOW_P99_MS,
  serviceMetric,
  throttleEvents,
} from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const MAX_INGEST_AGE_SECONDS = 300;
/**
 * Finishing a merge takes seconds, and a failed attempt is repeated after five and a half minutes. So a merge that is pending after six
 * minutes has had a failed attempt.
 */
const PENDING_MINUTES = 6;
/** A change is usually relayed within two seconds. */
const RELAY_LATE_MS = 60_000;
/** Alarm at this share of the account's concurrent executions. */
const NEAR_LIMIT = 0.8;

export interface MonitoringProps extends DashboardProps {
  readonly accessLog: ILogGroup;
  readonly settings: DeploymentSettings;
  readonly ingestQueues: IngestQueues;
  readonly relay: Relay;
}

/** The dashboard, and the alarms, each with a runbook in docs/operate.md. */
export class Monitoring extends Construct {
  readonly dashboard: Dashboard;
  private readonly actions: readonly SnsAction[];

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.actions = this.topics(props.settings).map((topic) => new SnsAction(topic));
    const alarms = [...addServiceLevelAlarms(this, props.accessLog), ...addCallerAlarms(this, props)];
    for (const alarm of alarms) this.notifyOf(alarm);
    this.addCapacityAlarms(props.settings.concurrencyLimit);
    this.addOperationAlarms(props);
    this.addTableAlarms(props);
    this.addQueueAlarms(props);
    this.dashboard = addDashboard(this, props);
  }

  private topics({ alarmEmail, alarmTopicArn }: DeploymentSettings): ITopic[] {
    const topics: ITopic[] = [];
    if (alarmEmail !== undefined) topics.push(this.createTopic(alarmEmail));
    if (alarmTopicArn !== undefined) topics.push(Topic.fromTopicArn(this, 'AlarmTopic', alarmTopicArn));
    return topics;
  }

  private createTopic(email: string): Topic {
    const topic = new Topic(this, 'Alarms', { enforceSSL: true });
    topic.addSubscription(new EmailSubscription(email));
    // `enforceSSL` adds a topic policy. It replaces SNS's default policy, which lets the account's alarms publish.
    const ofThisAccount = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions: ofThisAccount }));
    return topic;
  }

  /** Sends the alarm to the topics that the settings name. */
  notifyOf(alarm: AlarmBase): void {
    alarm.addAlarmAction(...this.actions);
  }

  private alarm(id: string, description: string, ...condition: [metric: IMetric, threshold: number, periods?: number]) {
    this.notifyOf(createRunbookAlarm(this, id, description, ...condition));
  }

  /** Alarms on the throttles of every function that is in the stack by now, and on the concurrency of the account in the region. */
  private addCapacityAlarms(concurrencyLimit: number): void {
    const scope = new Construct(this, 'Capacity');
    const alarm = (id: string, description: string, metric: IMetric, threshold: number) =>
      this.notifyOf(createRunbookAlarm(scope, id, description, metric, threshold, 2));
    const functions = Stack.of(this)
      .node.findAll()
      .filter((construct) => construct instanceof ServiceFunction);
    for (const { name, lambda } of functions)
      alarm(`Throttled-${name}`, `Lambda throttles ${name}`, lambda.metricThrottles({ period: PERIOD }), 1);
    alarm(
      'ConcurrencyNearLimit',
      'The account comes near its limit of concurrent executions',
      LambdaFunction.metricAllConcurrentExecutions({ period: PERIOD }),
      Math.ceil(NEAR_LIMIT * concurrencyLimit),
    );
  }

  private addOperationAlarms({ functions }: MonitoringProps): void {
    for (const { name } of operations)
      this.alarm(
        `Slow-${name}`,
        `${name}: the slowest 1 % of calls take ${SLOW_P99_MS} ms or more`,
        functions[name].metricDuration({ period: PERIOD, statistic: Stats.p(99) }),
        SLOW_P99_MS,
        5,
      );
    const authorizerErrors = functions['usage-key-authorizer'].metricErrors({ period: PERIOD });
    this.alarm('AuthorizerFailures', 'The authorizer fails', authorizerErrors, 1, 2);
    this.alarm(
      'AccountsUnprovisioned',
      'Accounts without a gateway key share the throttle of unknown callers',
      eventMetric('account_without_gateway_key'),
      1,
    );
  }

  private addTableAlarms({ table, relay }: MonitoringProps): void {
    this.alarm('TableReadThrottled', 'DynamoDB throttles reads', throttleEvents(table, 'Read'), 1, 2);
    this.alarm('TableWriteThrottled', 'DynamoDB throttles writes', throttleEvents(table, 'Write'), 1, 2);
    this.alarm(
      'RelayLate',
      'Large merges and events have not been relayed from the table stream for a minute',
      relay.lambda.metric('IteratorAge', { period: PERIOD, statistic: Stats.MAXIMUM }),
      RELAY_LATE_MS,
      5,
    );
  }

  private addQueueAlarms({ mergeQueue, ingestQueues, relay }: MonitoringProps): void {
    const visibleIn = (queue: Queue) => queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD });
    this.alarm('DeadLetters', 'A merge could not be finished', visibleIn(mergeQueue.deadLetters), 1);
    this.alarm('RelayDeadLetters', 'A change could not be relayed', visibleIn(relay.deadLetters), 1);
    this.alarm(
      'FeedDeadLetters',
      'Messages sent to the feed could not be processed',
      visibleIn(ingestQueues.deadLetters),
      1,
    );
    this.alarm('FeedRefused', 'Records sent to the feed are refused', serviceMetric(METRICS.refused, {}), 1);
    // Does not use the age of the oldest message, since that metric omits messages that were received three times.
    const pending = new MathExpression({
      expression: 'waiting + inFlight',
      usingMetrics: {
        waiting: visibleIn(mergeQueue.queue),
        inFlight: mergeQueue.queue.metricApproximateNumberOfMessagesNotVisible({ period: PERIOD }),
      },
      label: 'Merges pending',
      period: PERIOD,
    });
    this.alarm('MergesPending', 'A merge is pending for over six minutes', pending, 1, PENDING_MINUTES);
    // This metric, too, omits messages that were received three times: if they go on failing, they raise FeedDeadLetters.
    const age = ingestQueues.queue.metricApproximateAgeOfOldestMessage({ period: PERIOD, statistic: Stats.MAXIMUM });
    this.alarm('FeedBehind', 'Records sent to the feed wait for over five minutes', age, MAX_INGEST_AGE_SECONDS, 2);
  }
}
