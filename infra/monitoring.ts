import { type Dashboard, type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { METRICS } from '../lib/shared/log.ts';
import { addLineCount, answeredWith } from './access-log.ts';
import { Alarms } from './alarms.ts';
import { addDashboard, type DashboardProps } from './dashboard.ts';
import type { Relay } from './relay.ts';
import { addServiceLevelAlarms } from './service-level.ts';
import { PERIOD, serviceMetric, sumOf, throttleEvents } from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';
import { addThrottleAlarm } from './throttled-functions.ts';

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

export interface MonitoringProps extends DashboardProps {
  readonly accessLog: ILogGroup;
  readonly settings: Pick<DeploymentSettings, 'pageTo' | 'ticketTo' | 'runbookUrl'>;
  readonly relay: Relay;
}

/** The dashboard, and the alarms, each with a runbook in docs/operate.md. */
export class Monitoring extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const alarms = new Alarms(this, props.settings);
    addServiceLevelAlarms(alarms, this, props.accessLog);
    const refused = addLineCount(this, props.accessLog, 'RefusedCalls', answeredWith('4*')).with({ period: PERIOD });
    addCallAlarms(alarms, props, refused);
    addMergeAlarms(alarms, props);
    addFeedAlarms(alarms, props);
    this.dashboard = addDashboard(this, props);
  }
}

function addCallAlarms(alarms: Alarms, { table, functions }: MonitoringProps, refused: IMetric): void {
  alarms.page('AuthorizerFailures', {
    description: 'The authorizer fails',
    metric: functions['usage-key-authorizer'].metricErrors({ period: PERIOD }),
    periods: 2,
  });
  addThrottleAlarm(alarms, functions);
  alarms.ticket('ConcurrencyNearLimit', {
    description: 'The account comes near its quota of executions',
    metric: new MathExpression({
      expression: 'used / SERVICE_QUOTA(used)',
      usingMetrics: { used: LambdaFunction.metricAllConcurrentExecutions() },
      label: 'Share of the quota',
      period: PERIOD,
    }),
    threshold: NEAR_LIMIT,
    periods: 2,
  });
  alarms.ticket('TableThrottled', {
    description: 'DynamoDB throttles the table',
    metric: sumOf('Throttled rows', { reads: throttleEvents(table, 'Read'), writes: throttleEvents(table, 'Write') }),
    periods: 2,
  });
  alarms.ticket('Flood', {
    description: 'Over 50 calls a second are refused',
    metric: refused,
    threshold: FLOOD,
    periods: 3,
  });
}

function addMergeAlarms(alarms: Alarms, { mergeQueue: { queue, deadLetters }, relay }: MonitoringProps): void {
  alarms.page('MergesPending', {
    description: 'A merge is pending for over six minutes',
    // Does not use the age of the oldest message, since that metric omits messages that were received three times.
    metric: sumOf('Merges pending', {
      waiting: visibleIn(queue),
      inFlight: queue.metricApproximateNumberOfMessagesNotVisible({ period: PERIOD }),
    }),
    periods: PENDING_MINUTES,
  });
  alarms.ticket('DeadLetters', { description: 'A merge could not be finished', metric: visibleIn(deadLetters) });
  alarms.page('RelayLate', {
    description: 'Large merges or events wait',
    metric: new MathExpression({
      expression: `FILL(failed, 0) + (FILL(age, 0) >= ${RELAY_LATE_MS})`,
      usingMetrics: {
        failed: relay.failedEvents,
        age: relay.lambda.metric('IteratorAge', { period: PERIOD, statistic: Stats.MAXIMUM }),
      },
      period: PERIOD,
    }),
    periods: RELAY_LATE_MINUTES,
    datapoints: 2,
  });
  alarms.ticket('RelayDeadLetters', {
    description: 'A change could not be relayed',
    metric: visibleIn(relay.deadLetters),
  });
}

function addFeedAlarms(alarms: Alarms, { ingestQueues, functions }: MonitoringProps): void {
  const { queue, failedMessages } = ingestQueues;
  alarms.page('FeedBehind', {
    description: 'Records of the feed wait for over five minutes',
    // This metric, too, omits messages that were received three times: they raise FeedFailing.
    metric: queue.metricApproximateAgeOfOldestMessage({ period: PERIOD, statistic: Stats.MAXIMUM }),
    threshold: MAX_INGEST_AGE_SECONDS,
    periods: 2,
  });
  alarms.page('FeedFailing', {
    description: 'Records of the feed fail',
    metric: sumOf('Failures', {
      records: serviceMetric(METRICS.failed),
      messages: failedMessages,
      crashed: functions['ingest-records'].metricErrors({ period: PERIOD }),
    }),
    periods: FEED_FAILING_MINUTES,
    datapoints: 2,
  });
  alarms.ticket('FeedRefused', {
    description: 'Records of the feed are refused',
    metric: serviceMetric(METRICS.refused),
  });
}

const visibleIn = (queue: Queue) => queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD });
