import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TextWidget,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { operations } from '../lib/api/operations.ts';
import { SERVICE } from '../lib/log.ts';
import { METRICS, type OperationalEvent } from '../lib/metrics.ts';

const PERIOD = Duration.minutes(1);
/** Milliseconds: an answer takes at most 3 s when a dependency is slow, so this is trouble before callers see errors. */
const SLOW_P99_MS = 2_000;

export interface WatchProps {
  readonly api: RestApi;
  readonly table: ITableV2;
  readonly functions: Readonly<Record<string, IFunction>>;
  readonly deadLetters: IQueue;
  readonly alarmEmail: string | undefined;
}

const own = (metricName: string, dimensionsMap: Record<string, string>, statistic: string = Stats.SUM) =>
  new Metric({
    namespace: METRICS.namespace,
    metricName,
    dimensionsMap: { service: SERVICE, ...dimensionsMap },
    statistic,
    period: PERIOD,
  });
const eventMetric = (event: OperationalEvent) => own(METRICS.events, { event });

/** Alarms that each mean one thing to do (docs/operate.md), and a dashboard: is it healthy, who is throttled, what does it cost. */
export class Watch extends Construct {
  private readonly topic: Topic | undefined;

  constructor(scope: Construct, id: string, props: WatchProps) {
    super(scope, id);
    if (props.alarmEmail !== undefined) {
      this.topic = new Topic(this, 'Alarms', { enforceSSL: true });
      this.topic.addSubscription(new EmailSubscription(props.alarmEmail));
    }
    this.addAlarms(props);
    this.addDashboard(props);
  }

  private alarm(id: string, description: string, metric: IMetric, threshold: number, periods = 1): void {
    const alarm = new Alarm(this, id, {
      alarmDescription: description,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (this.topic) alarm.addAlarmAction(new SnsAction(this.topic));
  }

  private addAlarms({ api, table, functions, deadLetters }: WatchProps): void {
    const rate = new MathExpression({
      expression: 'IF(calls >= 20, 100 * errors / calls, 0)',
      usingMetrics: { errors: api.metricServerError({ period: PERIOD }), calls: api.metricCount({ period: PERIOD }) },
      label: '5xx per cent',
      period: PERIOD,
    });
    this.alarm('ServerErrors', '1 % of calls or more fail with 5xx', rate, 1, 3);
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
    this.alarm('TableThrottled', 'DynamoDB throttles', throttledRequests(table), 1, 2);
    this.alarm(
      'DeadLetters',
      'A merge could not be finished',
      deadLetters.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
      1,
    );
    const finishMerges = functions['finish-merges'];
    if (finishMerges) {
      // The stream hands a record over at once: one that is older than a minute is a merge that pends for that long.
      const age = finishMerges.metric('IteratorAge', { period: PERIOD, statistic: Stats.MAXIMUM });
      this.alarm('MergesPending', 'A merge is pending for over a minute', age, 60_000);
    }
    const labelCaller = functions['label-caller'];
    if (labelCaller)
      this.alarm('AuthorizerFailures', 'The authorizer fails', labelCaller.metricErrors({ period: PERIOD }), 1, 2);
    this.alarm(
      'CallersNotLabelled',
      'Callers cannot be looked up for the usage plan',
      eventMetric('caller_not_labelled'),
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

  private addDashboard({ api, table, functions, deadLetters }: WatchProps): void {
    const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left, width: 8, height: 6 });
    const heading = (text: string) => new TextWidget({ markdown: `## ${text}`, width: 24, height: 1 });
    const perOperation = (metricOf: (fn: IFunction) => IMetric) =>
      operations
        .map(({ name }) => functions[name])
        .filter((fn) => fn !== undefined)
        .map(metricOf);
    const code = (name: string) =>
      operations.map((operation) => own(METRICS.calls, { operation: operation.name, code: name }));
    new Dashboard(this, 'Dashboard', {
      widgets: [
        [heading('Is it healthy?')],
        [
          graph('Calls and errors', [api.metricCount(), api.metricClientError(), api.metricServerError()]),
          graph(
            'p99, ms',
            perOperation((fn) => fn.metricDuration({ statistic: Stats.p(99) })),
          ),
          graph('Merges: left pending, finished late, dead letters', [
            eventMetric('merge_left_pending'),
            eventMetric('merge_finished_late'),
            deadLetters.metricApproximateNumberOfMessagesVisible(),
          ]),
        ],
        [heading('Who is throttled?')],
        [
          graph('Refused by the exact limit', code('RequestTooFrequently')),
          graph('Accounts without a gateway key', [eventMetric('account_without_gateway_key')]),
          graph('DynamoDB throttles', [throttledRequests(table)]),
        ],
        [heading('What does it cost?')],
        [
          graph('Read and write units', [
            table.metricConsumedReadCapacityUnits({ statistic: Stats.SUM }),
            table.metricConsumedWriteCapacityUnits({ statistic: Stats.SUM }),
          ]),
          graph(
            'Invocations',
            perOperation((fn) => fn.metricInvocations()),
          ),
          graph(
            'Time billed, ms',
            perOperation((fn) => fn.metricDuration({ statistic: Stats.SUM })),
          ),
        ],
      ],
    });
  }
}

/** Throttled requests of the actions that the service uses. */
function throttledRequests(table: ITableV2): IMetric {
  const actions = ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'TransactWriteItems'];
  const metrics = Object.fromEntries(
    actions.map((action, at) => [
      `m${at}`,
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName: 'ThrottledRequests',
        dimensionsMap: { TableName: table.tableName, Operation: action },
        statistic: Stats.SUM,
        period: PERIOD,
      }),
    ]),
  );
  return new MathExpression({
    expression: 'SUM(METRICS())',
    usingMetrics: metrics,
    label: 'Throttled requests',
    period: PERIOD,
  });
}
