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
import { addDashboard, type DashboardSubjects } from './dashboard.ts';
import type { Relay } from './relay.ts';
import { ServiceLevel } from './service-level.ts';
import { createAlarm, eventMetric, ownMetric, PERIOD, SLOW_P99_MS, throttleEvents, whatToDo } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const FEED_BEHIND_SECONDS = 300;
/** A merge is finished within seconds, and a failed attempt is retried after minutes: by this time at least one has failed. */
const PENDING_MINUTES = 6;

export interface MonitoringProps extends DashboardSubjects {
  readonly accessLog: ILogGroup;
  readonly settings: DeploymentSettings;
  readonly relay: Relay;
}

/** Milliseconds. A change is usually relayed within two seconds. */
const LATE_MS = 60_000;

/** Alarms, each with one thing to do (docs/operate.md), and the dashboard. */
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
    // The policy made by `enforceSSL` replaces SNS's default, which lets the account's alarms publish.
    const ofThisAccount = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions: ofThisAccount }));
    return topic;
  }

  notifyOf(alarm: AlarmBase): void {
    alarm.addAlarmAction(...this.actions);
  }

  private alarm(id: string, description: string, ...raised: [metric: IMetric, threshold: number, periods?: number]) {
    this.notifyOf(createAlarm(this, id, `${description}. ${whatToDo(id)}`, ...raised));
  }

  private addAlarms({ table, functions, mergeQueue, feed, relay }: MonitoringProps): void {
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
    this.alarm(
      'DeadLetters',
      'A merge could not be finished',
      mergeQueue.deadLetters.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
      1,
    );
    // Not the age of the oldest message: SQS omits messages received three times.
    const pending = new MathExpression({
      expression: 'waiting + tried',
      usingMetrics: {
        waiting: mergeQueue.queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
        tried: mergeQueue.queue.metricApproximateNumberOfMessagesNotVisible({ period: PERIOD }),
      },
      label: 'Merges pending',
      period: PERIOD,
    });
    this.alarm('MergesPending', 'A merge is pending for over six minutes', pending, 1, PENDING_MINUTES);
    const count = (queue: Queue) => queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD });
    this.alarm('FeedRefused', 'Records of the feed are refused', ownMetric(METRICS.refused, {}), 1);
    this.alarm('FeedDeadLetters', 'Messages of the feed could not be processed', count(feed.deadLetters), 1);
    // SQS reports no age for messages received three times or more: these end in FeedDeadLetters.
    const oldest = feed.queue.metricApproximateAgeOfOldestMessage({ period: PERIOD, statistic: Stats.MAXIMUM });
    this.alarm('FeedBehind', 'Records wait in the feed for over five minutes', oldest, FEED_BEHIND_SECONDS, 2);
    this.alarm(
      'RelayLate',
      'Large merges and events have not been relayed from the table stream for a minute',
      relay.lambda.metric('IteratorAge', { period: PERIOD, statistic: Stats.MAXIMUM }),
      LATE_MS,
      5,
    );
    this.alarm(
      'RelayDeadLetters',
      'A change was not relayed',
      relay.deadLetters.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
      1,
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
}
