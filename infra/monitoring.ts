import { Stack } from 'aws-cdk-lib';
import { type AlarmBase, type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { operations } from '../lib/http/operations.ts';
import { addDashboard, type DashboardSubjects } from './dashboard.ts';
import type { Relay } from './relay.ts';
import { ServiceLevel } from './service-level.ts';
import { createAlarm, eventMetric, PERIOD, SLOW_P99_MS, throttleEvents } from './stack-metrics.ts';

/** A merge is finished within seconds: after this time an attempt, retried every three minutes, has failed. */
const PENDING_MINUTES = 6;

export interface MonitoringProps extends DashboardSubjects {
  readonly accessLog: ILogGroup;
  readonly relay: Relay;
  readonly alarmEmail: string | undefined;
}

/** Milliseconds: what is relayed is there within a second or two. */
const LATE_MS = 60_000;

/** Alarms, each with one thing to do (docs/operate.md), and the dashboard. */
export class Monitoring extends Construct {
  private readonly topic: Topic | undefined;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    if (props.alarmEmail !== undefined) this.topic = this.createTopic(props.alarmEmail);
    for (const alarm of new ServiceLevel(this, 'ServiceLevel', props.accessLog).alarms) this.notifyOf(alarm);
    this.addAlarms(props);
    addDashboard(this, props);
  }

  private createTopic(email: string): Topic {
    const topic = new Topic(this, 'Alarms', { enforceSSL: true });
    topic.addSubscription(new EmailSubscription(email));
    // The policy made by `enforceSSL` replaces SNS's default, which lets the account's alarms publish.
    const ofThisAccount = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions: ofThisAccount }));
    return topic;
  }

  private notifyOf(alarm: AlarmBase): void {
    if (this.topic) alarm.addAlarmAction(new SnsAction(this.topic));
  }

  private alarm(id: string, description: string, ...raised: [metric: IMetric, threshold: number, periods?: number]) {
    this.notifyOf(createAlarm(this, id, `${description}. What to do: docs/operate.md`, ...raised));
  }

  private addAlarms({ table, functions, mergeQueue, relay }: MonitoringProps): void {
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
      'Accounts without a gateway key share the throttle of strangers',
      eventMetric('account_without_gateway_key'),
      1,
    );
  }
}
