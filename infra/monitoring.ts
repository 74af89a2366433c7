import { Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  type AlarmBase,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { operations } from '../lib/api/operations.ts';
import { addDashboard } from './dashboard.ts';
import type { MergeQueue } from './merge-queue.ts';
import { eventMetric, PERIOD, SLOW_P99_MS, throttleEvents } from './metrics.ts';
import { ServiceLevel } from './service-level.ts';

/** A merge is finished within seconds: after this time an attempt, retried every three minutes, has failed. */
const PENDING_MINUTES = 5;

export interface MonitoringProps {
  readonly api: RestApi;
  readonly accessLog: ILogGroup;
  readonly table: ITableV2;
  readonly functions: Readonly<Record<string, IFunction>>;
  readonly mergeQueue: MergeQueue;
  readonly alarmEmail: string | undefined;
}

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

  private alarm(id: string, description: string, metric: IMetric, threshold: number, periods = 1): void {
    this.notifyOf(
      new Alarm(this, id, {
        alarmDescription: `${description}. What to do: docs/operate.md`,
        metric,
        threshold,
        evaluationPeriods: periods,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
    );
  }

  private addAlarms({ table, functions, mergeQueue }: MonitoringProps): void {
    for (const { name } of operations) {
      const fn = functions[name];
      if (fn)
        this.alarm(
          `Slow-${name}`,
          `${name}: the slowest 1 % of calls take ${SLOW_P99_MS} ms or more`,
          fn.metricDuration({ period: PERIOD, statistic: Stats.p(99) }),
          SLOW_P99_MS,
          5,
        );
    }
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
    this.alarm('MergesPending', 'A merge is pending for over five minutes', pending, 1, PENDING_MINUTES);
    const failed = new Metric({
      namespace: 'AWS/EventBridge/Pipes',
      metricName: 'ExecutionFailed',
      dimensionsMap: { PipeName: mergeQueue.pipe.ref },
      statistic: Stats.SUM,
      period: PERIOD,
    });
    this.alarm('MergePipeFailed', 'Merges do not get from the table stream to their queue', failed, 1, 2);
    const usageKeyAuthorizer = functions['usage-key-authorizer'];
    if (usageKeyAuthorizer)
      this.alarm(
        'AuthorizerFailures',
        'The authorizer fails',
        usageKeyAuthorizer.metricErrors({ period: PERIOD }),
        1,
        2,
      );
    this.alarm(
      'AccountsUnprovisioned',
      'Accounts without a gateway key share the throttle of strangers',
      eventMetric('account_without_gateway_key'),
      1,
    );
  }
}
