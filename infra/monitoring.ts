import { Stack } from 'aws-cdk-lib';
import { type AlarmBase, type Dashboard, type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { operations } from '../lib/http/operations.ts';
import { METRICS } from '../lib/shared/metrics.ts';
import { CallerAlarms } from './caller-alarms.ts';
import { CapacityAlarms } from './capacity-alarms.ts';
import { addDashboard, type DashboardProps } from './dashboard.ts';
import type { IngestQueues } from './ingest-queues.ts';
import type { Relay } from './relay.ts';
import { ServiceLevel } from './service-level.ts';
import {
  createAlarm,
  eventMetric,
  PERIOD,
  SLOW_P99_MS,
  serviceMetric,
  throttleEvents,
  whatToDo,
} from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const MAX_INGEST_AGE_SECONDS = 300;
/** Finishing a merge takes seconds, and a failed attempt is repeated after five and a half minutes: by this time one has failed. */
const PENDING_MINUTES = 6;
/** A change is usually relayed within two seconds. */
const RELAY_LATE_MS = 60_000;

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
    const { accessLog, settings } = props;
    this.actions = this.topics(settings).map((topic) => new SnsAction(topic));
    const alarms = [
      ...new ServiceLevel(this, 'ServiceLevel', accessLog).alarms,
      ...new CapacityAlarms(this, 'Capacity', settings.concurrencyLimit).alarms,
      ...new CallerAlarms(this, 'Callers', props).alarms,
    ];
    for (const alarm of alarms) this.notifyOf(alarm);
    this.addAlarms(props);
    this.dashboard = addDashboard(this, props);
  }

  private topics({ alarmEmail, alarmTopicArn }: DeploymentSettings): ITopic[] {
    return [
      ...(alarmEmail === undefined ? [] : [this.createTopic(alarmEmail)]),
      ...(alarmTopicArn === undefined ? [] : [Topic.fromTopicArn(this, 'AlarmTopic', alarmTopicArn)]),
    ];
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
    this.notifyOf(createAlarm(this, id, `${description}. ${whatToDo(id)}`, ...condition));
  }

  private addAlarms({ table, functions, mergeQueue, ingestQueues, relay }: MonitoringProps): void {
    const visibleIn = (queue: Queue) => queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD });
    for (const { name } of operations)
      this.alarm(
        `Slow-${name}`,
        `${name}: the slowest 1 % of calls take ${SLOW_P99_MS} ms or more`,
        functions[name].metricDuration({ period: PERIOD, statistic: Stats.p(99) }),
        SLOW_P99_MS,
        5,
      );
    this.alarm('TableReadThrottled', 'DynamoDB throttles reads', throttleEvents(table, 'Read'), 1, 2);
    this.alarm('TableWriteThrottled', 'DynamoDB throttles writes', throttleEvents(table, 'Write'), 1, 2);
    this.alarm('DeadLetters', 'A merge could not be finished', visibleIn(mergeQueue.deadLetters), 1);
    // In place of the age of the oldest message, in which SQS omits messages that were received three times.
    const pending = new MathExpression({
      expression: 'waiting + tried',
      usingMetrics: {
        waiting: visibleIn(mergeQueue.queue),
        tried: mergeQueue.queue.metricApproximateNumberOfMessagesNotVisible({ period: PERIOD }),
      },
      label: 'Merges pending',
      period: PERIOD,
    });
    this.alarm('MergesPending', 'A merge is pending for over six minutes', pending, 1, PENDING_MINUTES);
    this.alarm('FeedRefused', 'Records sent to the feed are refused', serviceMetric(METRICS.refused, {}), 1);
    this.alarm(
      'FeedDeadLetters',
      'Messages sent to the feed could not be processed',
      visibleIn(ingestQueues.deadLetters),
      1,
    );
    // SQS omits messages that were received three times: if they go on failing, they raise FeedDeadLetters.
    const age = ingestQueues.queue.metricApproximateAgeOfOldestMessage({ period: PERIOD, statistic: Stats.MAXIMUM });
    this.alarm('FeedBehind', 'Records sent to the feed wait for over five minutes', age, MAX_INGEST_AGE_SECONDS, 2);
    this.alarm(
      'RelayLate',
      'Large merges and events have not been relayed from the table stream for a minute',
      relay.lambda.metric('IteratorAge', { period: PERIOD, statistic: Stats.MAXIMUM }),
      RELAY_LATE_MS,
      5,
    );
    this.alarm('RelayDeadLetters', 'A change could not be relayed', visibleIn(relay.deadLetters), 1);
    const authorizerErrors = functions['usage-key-authorizer'].metricErrors({ period: PERIOD });
    this.alarm('AuthorizerFailures', 'The authorizer fails', authorizerErrors, 1, 2);
    this.alarm(
      'AccountsUnprovisioned',
      'Accounts without a gateway key share the throttle of unknown callers',
      eventMetric('account_without_gateway_key'),
      1,
    );
  }
}
