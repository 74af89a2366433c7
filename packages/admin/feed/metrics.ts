/** CloudWatch's metrics of the feed's queue. */
import { clientConfig } from '../aws/client-config.ts';

const PERIOD_SECONDS = 300;

export interface Metrics {
  /** Messages a second; absent: not known. */
  readonly rate?: number;
  /** Maximum age of the oldest message. */
  readonly oldestSeconds?: number;
}

/** Reads a queue's metrics of the last five minutes. */
export async function readMetrics(queueUrl: string, region: string | undefined, nowMs: number): Promise<Metrics> {
  const { CloudWatchClient, GetMetricDataCommand } = await import('@aws-sdk/client-cloudwatch');
  const client = new CloudWatchClient(clientConfig(region));
  const Dimensions = [{ Name: 'QueueName', Value: new URL(queueUrl).pathname.split('/').at(-1) }];
  const query = (Id: string, MetricName: string, Stat: string) => ({
    Id,
    MetricStat: { Metric: { Namespace: 'AWS/SQS', MetricName, Dimensions }, Period: PERIOD_SECONDS, Stat },
  });
  const { MetricDataResults = [] } = await client.send(
    new GetMetricDataCommand({
      StartTime: new Date(nowMs - 2 * PERIOD_SECONDS * 1_000),
      EndTime: new Date(nowMs),
      ScanBy: 'TimestampDescending',
      MetricDataQueries: [
        query('sent', 'NumberOfMessagesSent', 'Sum'),
        query('age', 'ApproximateAgeOfOldestMessage', 'Maximum'),
      ],
    }),
  );
  const [sent, age] = ['sent', 'age'].map((id) => MetricDataResults.find((one) => one.Id === id)?.Values?.[0]);
  return {
    ...(sent !== undefined && { rate: sent / PERIOD_SECONDS }),
    ...(age !== undefined && { oldestSeconds: age }),
  };
}
