import { Duration } from 'aws-cdk-lib';
import type { IBackupVault } from 'aws-cdk-lib/aws-backup';
import { type Dashboard, type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { operations } from '../lib/operations/index.ts';
import { addCallCount, addLineCount, answeredWith, REFUSED_KEY_LINES } from './access-log.ts';
import { Alarms } from './alarms.ts';
import { addDashboard, type StackParts } from './dashboard.ts';
import { addIngestAlarms, addMergeAlarms, addSourceAlarm } from './queue-alarms.ts';
import { addServiceLevelAlarms } from './service-level.ts';
import { failedShare, PERIOD, replicationLatencies, sumOf, throttleEvents } from './stack-metrics.ts';
import { addThrottleAlarm } from './throttled-functions.ts';

/** Alarm at this share of the account's concurrent executions, and of the table's write units. */
const NEAR_LIMIT = 0.8;
/** Alarm at this many refused calls a minute: half of what the throttle of one route without a gateway key allows. */
const FLOOD = 3_000;
/** Alarm at this share of the authorizer's calls. */
const MAX_FAILED_SHARE = 0.05;
/** Alarm at this share of the calls that send to the feed. */
const MAX_REFUSED_SHARE = 0.1;
const FEED_CALLS_PERIOD = Duration.minutes(5);
/** Alarm at this many refusals, in an hour, of keys that were once issued: one sender that repeats every 20 minutes. */
const REFUSED_KEYS = 3;
const MAX_REPLICATION_LATENCY = Duration.minutes(1);

interface MonitoringProps extends StackParts {
  /** The vault of the table's backups, if there are any. */
  readonly backups: IBackupVault | undefined;
}

/** The dashboard, and the alarms, each with a runbook in docs/runbook.md. */
export class Monitoring extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { accessLog } = props.service;
    const alarms = new Alarms(this, props.settings);
    addServiceLevelAlarms(alarms, this, accessLog);
    const refused = addLineCount(this, accessLog, 'RefusedCalls', answeredWith('4*')).with({ period: PERIOD });
    addCallAlarms(alarms, props, refused);
    addMergeAlarms(alarms, props);
    addIngestAlarms(alarms, props);
    addSourceAlarm(alarms, props);
    this.addFeedCallAlarm(alarms, accessLog);
    alarms.ticket('AppKeysRefused', {
      description: 'A sender uses a key that has expired or is revoked, or whose account is suspended',
      metric: addLineCount(this, accessLog, 'RefusedAppKeys', REFUSED_KEY_LINES).with({
        period: Duration.hours(1),
      }),
      threshold: REFUSED_KEYS,
    });
    if (props.backups) addBackupAlarm(alarms, props.backups);
    addReplicationAlarm(alarms, replicationLatencies(props.table, props.settings.replicaRegions));
    this.dashboard = addDashboard(this, alarms.told, props);
  }

  /** Senders such as Alertmanager drop what is refused. */
  private addFeedCallAlarm(alarms: Alarms, accessLog: ILogGroup): void {
    const feed = operations.filter(({ tag }) => tag === 'Feed');
    const period = FEED_CALLS_PERIOD;
    const calls = addCallCount(this, accessLog, 'FeedCalls', feed).with({ period });
    const refused = addCallCount(this, accessLog, 'RefusedFeedCalls', feed, answeredWith('4*')).with({ period });
    alarms.ticket('FeedCallsRefused', {
      description: 'A tenth of the calls that send records or alerts are refused',
      metric: failedShare(refused, calls, { label: 'Refused, a share of all', period }),
      threshold: MAX_REFUSED_SHARE,
      periods: 3,
    });
  }
}

function addReplicationAlarm(alarms: Alarms, latencies: readonly IMetric[]): void {
  if (latencies.length === 0) return;
  const usingMetrics = Object.fromEntries(latencies.map((latency, index) => [`replica${index}`, latency]));
  alarms.page('ReplicationLate', {
    description: 'Another region gets the writes of this one over a minute late: a failover would lose them',
    metric: new MathExpression({
      expression: `MAX([${Object.keys(usingMetrics).join(', ')}])`,
      usingMetrics,
      label: 'Latency, ms',
      period: PERIOD,
    }),
    threshold: MAX_REPLICATION_LATENCY.toMilliseconds(),
    periods: 5,
  });
}

function addBackupAlarm(alarms: Alarms, { backupVaultName: BackupVaultName }: IBackupVault): void {
  const count = (jobs: string) =>
    new Metric({
      namespace: 'AWS/Backup',
      metricName: `NumberOf${jobs}`,
      dimensionsMap: { BackupVaultName },
      statistic: Stats.SUM,
      period: Duration.hours(1),
    });
  alarms.ticket('BackupsFailed', {
    description: 'A backup of the table, or its copy, failed',
    metric: sumOf(
      'Failed jobs',
      {
        backups: count('BackupJobsFailed'),
        copies: count('CopyJobsFailed'),
        aborted: count('BackupJobsAborted'),
        expired: count('BackupJobsExpired'),
      },
      Duration.hours(1),
    ),
  });
}

function addCallAlarms(alarms: Alarms, { table, functions, settings }: MonitoringProps, refused: IMetric): void {
  const authorizer = functions['usage-key-authorizer'];
  alarms.page('AuthorizerFailures', {
    description: 'The authorizer fails',
    metric: failedShare(authorizer.metricErrors({ period: PERIOD }), authorizer.metricInvocations({ period: PERIOD }), {
      label: 'Failed, a share of all',
      period: PERIOD,
    }),
    threshold: MAX_FAILED_SHARE,
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
  alarms.ticket('WritesNearLimit', {
    description: 'The table comes near its maximum of write units',
    metric: table.metricConsumedWriteCapacityUnits({ period: PERIOD, statistic: Stats.SUM }),
    threshold: NEAR_LIMIT * settings.maxWriteUnits * PERIOD.toSeconds(),
    periods: 5,
  });
  alarms.ticket('Flood', {
    description: 'Over 50 calls a second are refused',
    metric: refused,
    threshold: FLOOD,
    periods: 3,
  });
}
