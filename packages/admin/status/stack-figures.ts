/** Reads the figures of a deployed stack from CloudWatch. */
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { CloudWatch, paginateGetMetricData } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { ERROR_CODES } from '../../../lib/http/errors.ts';
import { operations } from '../../../lib/operations/index.ts';
import { chunksOf } from '../../../lib/shared/concurrency.ts';
import { METRICS, SERVICE } from '../../../lib/shared/log.ts';
import { clientConfig } from '../aws/client-config.ts';
import { type Measured, WINDOW_MINUTES } from './measured.ts';
import { readAlarms } from './stack-alarms.ts';
import { readAttempts, readRefusedKeys } from './stack-logs.ts';

/** CloudWatch takes at most this many queries in a call: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html */
const MAX_QUERIES = 500;
/** Length of a data point: with a longer one, the first point would begin before the window. */
const PERIOD_SECONDS = 300;
const CODES = Object.entries(ERROR_CODES).filter(
  ([code, { status }]) => code === 'OK' || (status >= 400 && code !== 'Unauthorized'),
);
const TABLE_OPERATIONS = ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'TransactWriteItems'];

/** The stack's resources whose figures are read. */
export interface StackResources {
  readonly stack: string;
  readonly tableName: string;
  readonly region: string | undefined;
  /** They name the log groups of two functions. */
  readonly outputs: ReadonlyMap<string, string>;
}

interface Query {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: string;
}

export async function measureStack({ region, ...resources }: StackResources, nowMs: number): Promise<Measured> {
  const config = clientConfig(region);
  const cloudWatch = new CloudWatch(config);
  const logs = new CloudWatchLogs(config);
  const cloudFormation = new CloudFormation(config);
  try {
    const [figures, alarms, attempts, refused_keys] = await Promise.all([
      readFigures(cloudWatch, resources, nowMs),
      readAlarms(cloudWatch, cloudFormation, resources.stack),
      readAttempts(logs, resources.outputs.get('FinishMergesLogs'), nowMs),
      readRefusedKeys(logs, resources.outputs.get('UsageKeyAuthorizerLogs'), nowMs),
    ]);
    return { ...figures, alarms, attempts, refused_keys };
  } finally {
    cloudWatch.destroy();
    logs.destroy();
    cloudFormation.destroy();
  }
}

const serviceMetricOf =
  (stack: string) =>
  (name: string, statistic: string, operation: string, code: string): Query => ({
    namespace: `${METRICS.namespace}/${stack}`,
    name,
    statistic,
    dimensions: { service: SERVICE, operation, code },
  });
const tableMetric = (name: string, statistic: string, TableName: string, Operation?: string): Query => ({
  namespace: 'AWS/DynamoDB',
  name,
  statistic,
  dimensions: { TableName, ...(Operation && { Operation }) },
});

async function readFigures(
  client: CloudWatch,
  { stack, tableName }: Pick<StackResources, 'stack' | 'tableName'>,
  nowMs: number,
) {
  const serviceMetric = serviceMetricOf(stack);
  const queries: Query[] = [];
  /** Adds a query. @returns its index, by which its points are found */
  const add = (query: Query) => queries.push(query) - 1;
  const queriesOf = operations.map(({ name: operation }) => ({
    operation,
    calls: CODES.map(([code, { status }]) => ({
      status,
      query: add(serviceMetric(METRICS.calls, 'Sum', operation, code)),
    })),
    p99: add(serviceMetric(METRICS.duration, 'p99', operation, 'OK')),
  }));
  const throttled = ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
    add(tableMetric(name, 'Sum', tableName)),
  );
  const latency = TABLE_OPERATIONS.map((name) => ({
    name,
    query: add(tableMetric('SuccessfulRequestLatency', 'Average', tableName, name)),
  }));
  const points = await readPoints(client, queries, nowMs);
  const pointsOf = (query: number) => points[query] ?? [];
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  return {
    operations: queriesOf.map(({ operation, calls, p99 }) => {
      const failed = calls.filter(({ status }) => status >= 500);
      const slowest = pointsOf(p99);
      return {
        operation,
        calls: sum(calls.flatMap(({ query }) => pointsOf(query))),
        failed: sum(failed.flatMap(({ query }) => pointsOf(query))),
        ...(slowest.length > 0 && { p99_ms: Math.round(Math.max(...slowest)) }),
      };
    }),
    dynamodb: {
      throttled: sum(throttled.flatMap(pointsOf)),
      latency_ms: Object.fromEntries(
        latency
          .map(({ name, query }) => ({ name, values: pointsOf(query) }))
          .filter(({ values }) => values.length > 0)
          .map(({ name, values }) => [name, Number((sum(values) / values.length).toFixed(1))]),
      ),
    },
  };
}

/** @returns the points of each query in the window */
export async function readPoints(client: CloudWatch, queries: readonly Query[], nowMs: number): Promise<number[][]> {
  const points: number[][] = queries.map(() => []);
  const wanted = queries.map(({ namespace, name, dimensions, statistic }, index) => ({
    Id: `q${index}`,
    MetricStat: {
      Metric: {
        Namespace: namespace,
        MetricName: name,
        Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
      },
      Period: PERIOD_SECONDS,
      Stat: statistic,
    },
  }));
  const window = { StartTime: new Date(nowMs - WINDOW_MINUTES * 60_000), EndTime: new Date(nowMs) };
  for (const MetricDataQueries of chunksOf(wanted, MAX_QUERIES))
    for await (const { MetricDataResults = [] } of paginateGetMetricData({ client }, { ...window, MetricDataQueries }))
      for (const { Id = '', Values = [] } of MetricDataResults) points[Number(Id.slice(1))]?.push(...Values);
  return points;
}
