import { Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type Dashboard,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { METRICS } from '../lib/shared/log.ts';
import { addLineCount, answeredWith } from './access-log.ts';
import { addDashboard, type DashboardProps } from './dashboard.ts';
import type { Relay } from './relay.ts';
import { addServiceLevelAlarms } from './service-level.ts';
import { PERIOD, serviceMetric, sumOf, throttleEvents } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

const MAX_INGEST_AGE_SECONDS = 300;
/**
 * A message that fails comes again after at most 15 minutes. One alone raises FeedFailing when it fails twice within this time, usually
 * after ten seconds, and after six minutes if the function crashes.
 */
const FEED_FAILING_MINUTES = 20;
/**
 * Finishing a merge takes seconds, and a failed attempt is repeated after five and a half minutes. So a merge that is pending after six
 * minutes has had a failed attempt.
 */
const PENDING_MINUTES = 6;
/** A change is usually relayed within two seconds. */
const RELAY_LATE_MS = 60_000;
/** An event that fails comes again after six minutes, so one alone raises RelayLate then. */
const RELAY_LATE_MINUTES = 20;
/** Alarm at this share of the account's concurrent executions. */
const NEAR_LIMIT = 0.8;
/** Alarm at this many refused calls a minute: half of what the throttle of one route without a gateway key allows. */
const FLOOD = 3_000;

/** Alarms that can wait for the next working day. All others page somebody. */
const TICKETS: readonly string[] = [
  'ErrorBudgetSlow',
  'ConcurrencyNearLimit',
  'TableThrottled',
  'Flood',
  'DeadLetters',
  'RelayDeadLetters',
  'FeedRefused',
];
/** Their throttles are meant to limit callers without a key. */
const LIMITED_FUNCTIONS: readonly string[] = ['fallback-route', 'openapi-document'];

export interface MonitoringProps extends DashboardProps {
  readonly accessLog: ILogGroup;
  readonly settings: Pick<DeploymentSettings, 'pageTo' | 'ticketTo' | 'runbookUrl'>;
  readonly relay: Relay;
}

/** The dashboard, and the alarms, each with a runbook in docs/operate.md. */
export class Monitoring extends Construct {
  readonly dashboard: Dashboard;
  private readonly runbook: string;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { pageTo, ticketTo = pageTo, runbookUrl } = props.settings;
    this.runbook = runbookUrl;
    const alarms = [
      ...addServiceLevelAlarms(this, props.accessLog, this.whatToDo),
      ...this.callAlarms(props),
      ...this.mergeAlarms(props),
      ...this.feedAlarms(props),
    ];
    const page = this.topic('Page', pageTo);
    const ticket = ticketTo === pageTo ? page : this.topic('Ticket', ticketTo);
    for (const alarm of alarms) {
      const topic = TICKETS.includes(alarm.node.id) ? ticket : page;
      if (!topic) continue;
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    }
    this.dashboard = addDashboard(this, props);
  }

  private topic(id: string, to: string | undefined): ITopic | undefined {
    if (to === undefined) return undefined;
    if (to.startsWith('arn:')) return Topic.fromTopicArn(this, id, to);
    const topic = new Topic(this, id, { enforceSSL: true });
    topic.addSubscription(new EmailSubscription(to));
    // `enforceSSL` adds a topic policy. It replaces SNS's default policy, which lets the account's alarms publish.
    const ofThisAccount = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions: ofThisAccount }));
    return topic;
  }

  private readonly whatToDo = (alarmId: string) => `What to do: ${this.runbook}#${alarmId.toLowerCase()}`;

  /** An alarm that is raised when the metric reaches the threshold in `datapoints` of the last `minutes`. No data counts as below it. */
  private alarm(
    id: string,
    description: string,
    metric: IMetric,
    threshold = 1,
    minutes = 1,
    datapointsToAlarm = minutes,
  ): Alarm {
    return new Alarm(this, id, {
      alarmDescription: `${description}. ${this.whatToDo(id)}`,
      metric,
      threshold,
      evaluationPeriods: minutes,
      datapointsToAlarm,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  private callAlarms({ accessLog, table, functions }: MonitoringProps): Alarm[] {
    const errors = functions['usage-key-authorizer'].metricErrors({ period: PERIOD });
    const watched = Object.entries(functions).filter(([name]) => !LIMITED_FUNCTIONS.includes(name));
    const throttles = watched.map(([, fn], index) => [`function${index}`, fn.metricThrottles({ period: PERIOD })]);
    const throttledCalls = sumOf('Throttled calls', Object.fromEntries(throttles));
    const shareOfQuota = new MathExpression({
      expression: 'used / SERVICE_QUOTA(used)',
      usingMetrics: { used: LambdaFunction.metricAllConcurrentExecutions() },
      label: 'Share of the quota',
      period: PERIOD,
    });
    const throttledRows = sumOf('Throttled rows', {
      reads: throttleEvents(table, 'Read'),
      writes: throttleEvents(table, 'Write'),
    });
    const refused = addLineCount(this, accessLog, 'RefusedCalls', answeredWith('4*')).with({ period: PERIOD });
    return [
      this.alarm('AuthorizerFailures', 'The authorizer fails', errors, 1, 2),
      this.alarm('FunctionsThrottled', 'Lambda throttles functions', throttledCalls, 1, 2),
      this.alarm('ConcurrencyNearLimit', 'The account comes near its quota of executions', shareOfQuota, NEAR_LIMIT, 2),
      this.alarm('TableThrottled', 'DynamoDB throttles the table', throttledRows, 1, 2),
      this.alarm('Flood', 'Over 50 calls a second are refused', refused, FLOOD, 3),
    ];
  }

  private mergeAlarms({ mergeQueue: { queue, deadLetters }, relay }: MonitoringProps): Alarm[] {
    // Does not use the age of the oldest message, since that metric omits messages that were received three times.
    const pending = sumOf('Merges pending', {
      waiting: visibleIn(queue),
      inFlight: queue.metricApproximateNumberOfMessagesNotVisible({ period: PERIOD }),
    });
    const late = new MathExpression({
      expression: `FILL(failed, 0) + (FILL(age, 0) >= ${RELAY_LATE_MS})`,
      usingMetrics: {
        failed: relay.failedEvents,
        age: relay.lambda.metric('IteratorAge', { period: PERIOD, statistic: Stats.MAXIMUM }),
      },
      period: PERIOD,
    });
    return [
      this.alarm('MergesPending', 'A merge is pending for over six minutes', pending, 1, PENDING_MINUTES),
      this.alarm('DeadLetters', 'A merge could not be finished', visibleIn(deadLetters)),
      this.alarm('RelayLate', 'Large merges or events wait', late, 1, RELAY_LATE_MINUTES, 2),
      this.alarm('RelayDeadLetters', 'A change could not be relayed', visibleIn(relay.deadLetters)),
    ];
  }

  private feedAlarms({ ingestQueues, functions }: MonitoringProps): Alarm[] {
    const { queue, failedMessages } = ingestQueues;
    // This metric, too, omits messages that were received three times: they raise FeedFailing.
    const age = queue.metricApproximateAgeOfOldestMessage({ period: PERIOD, statistic: Stats.MAXIMUM });
    const failures = sumOf('Failures', {
      records: serviceMetric(METRICS.failed),
      messages: failedMessages,
      crashed: functions['ingest-records'].metricErrors({ period: PERIOD }),
    });
    return [
      this.alarm('FeedBehind', 'Records of the feed wait for over five minutes', age, MAX_INGEST_AGE_SECONDS, 2),
      this.alarm('FeedFailing', 'Records of the feed fail', failures, 1, FEED_FAILING_MINUTES, 2),
      this.alarm('FeedRefused', 'Records of the feed are refused', serviceMetric(METRICS.refused)),
    ];
  }
}

const visibleIn = (queue: Queue) => queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD });
