import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type HorizontalAnnotation,
  type IAlarm,
  type IMetric,
  MathExpression,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { operations } from '../lib/operations/index.ts';
import { METRICS } from '../lib/shared/log.ts';
import type { ServiceApi } from './api.ts';
import type { FunctionName } from './grants.ts';
import type { IngestQueues, MergeQueue } from './queues.ts';
import type { Relay } from './relay.ts';
import {
  operationalEventMetric,
  PERIOD,
  replicationLatencies,
  serviceMetric,
  throttleEvents,
} from './stack-metrics.ts';
import type { DeploymentSettings } from './stack-settings.ts';

/** The parts of a stack that its operators see. */
export interface StackParts {
  readonly settings: DeploymentSettings;
  readonly service: ServiceApi;
  readonly table: ITableV2;
  readonly functions: Readonly<Record<FunctionName, LambdaFunction>>;
  readonly mergeQueue: MergeQueue;
  readonly ingestQueues: IngestQueues;
  readonly relay: Relay;
}

export function addDashboard(
  scope: Construct,
  alarms: IAlarm[],
  { service: { api }, table, functions, mergeQueue, ingestQueues: { queue, events }, relay, settings }: StackParts,
): Dashboard {
  const graph = (title: string, left: IMetric[], leftAnnotations: HorizontalAnnotation[] = []) =>
    new GraphWidget({ title, left, leftAnnotations, width: 8, height: 6 });
  const heading = (text: string) => new TextWidget({ markdown: `## ${text}`, width: 24, height: 1 });
  const perOperation = (title: string, metricOf: (fn: IFunction) => IMetric) =>
    graph(
      title,
      operations.map(({ name }) => metricOf(functions[name])),
    );
  const authorizer = functions['usage-key-authorizer'];
  const used = LambdaFunction.metricAllConcurrentExecutions();
  const units = table.metricConsumedWriteCapacityUnits({ statistic: Stats.SUM, period: PERIOD });
  const replication = replicationLatencies(table, settings.replicaRegions);
  const rateLimited = operations.filter((operation) => 'rateWindows' in operation);
  return new Dashboard(scope, 'Dashboard', {
    widgets: [
      [heading('Is it healthy?')],
      [new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: 4 })],
      [
        graph('Calls and errors', [api.metricCount(), api.metricClientError(), api.metricServerError()]),
        graph(
          'p99 of the duration, ms',
          Object.values(functions).map((fn) => fn.metricDuration({ statistic: Stats.p(99) })),
        ),
        graph('Merges: left pending, finished late, dead letters', [
          operationalEventMetric('merge_left_pending'),
          operationalEventMetric('merge_finished_late'),
          mergeQueue.deadLetters.metricApproximateNumberOfMessagesVisible(),
        ]),
      ],
      [
        graph('Feed: messages sent, messages failed', [queue.metricNumberOfMessagesSent(), events.failed]),
        graph(
          'Age of the oldest message, s',
          [queue, mergeQueue.queue, relay.eventsQueue].map((of) => of.metricApproximateAgeOfOldestMessage()),
        ),
        graph(
          'Feed: records, late, refused, failed',
          [METRICS.records, METRICS.late, METRICS.refused, METRICS.failed].map((name) => serviceMetric(name)),
        ),
      ],
      ...(replication.length > 0 ? [[graph('Replication latency, ms', replication)]] : []),
      [heading('Who is throttled?')],
      [
        graph(
          'Refused by the exact rate limit',
          rateLimited.map(({ name }) =>
            serviceMetric(METRICS.calls, { operation: name, code: 'RequestTooFrequently' }),
          ),
        ),
        graph('Accounts without a gateway key', [operationalEventMetric('account_without_gateway_key')]),
        graph('DynamoDB throttles', [throttleEvents(table, 'Read'), throttleEvents(table, 'Write')]),
      ],
      [
        graph('Authorizer', [authorizer.metricErrors(), authorizer.metricThrottles()]),
        graph('Concurrent executions, and their quota', [
          used,
          new MathExpression({ expression: 'SERVICE_QUOTA(used)', usingMetrics: { used }, label: 'Quota' }),
        ]),
        graph(
          'Write units a second, and maxWriteUnits',
          [new MathExpression({ expression: 'units / PERIOD(units)', usingMetrics: { units }, period: PERIOD })],
          [{ value: settings.maxWriteUnits, label: 'maxWriteUnits' }],
        ),
      ],
      [heading('What does it cost?')],
      [
        graph('Read and write units', [
          table.metricConsumedReadCapacityUnits({ statistic: Stats.SUM }),
          table.metricConsumedWriteCapacityUnits({ statistic: Stats.SUM }),
        ]),
        perOperation('Invocations', (fn) => fn.metricInvocations()),
        perOperation('Time billed, ms', (fn) => fn.metricDuration({ statistic: Stats.SUM })),
      ],
    ],
  });
}
