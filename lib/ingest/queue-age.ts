/** Reads from CloudWatch how old the oldest message of a queue is. */
import { CloudWatchClient, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { patientOptions, type Server } from '../aws/patient-client.ts';

/** CloudWatch has a point for each minute, some minutes late. */
const WINDOW_MS = 10 * 60_000;

/**
 * @returns seconds: the most in the last ten minutes; 0 if there is no point, as of a queue that is empty. SQS leaves out a message that has
 *   failed three times (SQS Developer Guide, "Available CloudWatch metrics for Amazon SQS", ApproximateAgeOfOldestMessage)
 */
export function createQueueAge({ queueUrl, ...server }: { queueUrl: string } & Server, now: () => number) {
  const client: CloudWatchClient = new CloudWatchClient(patientOptions('monitoring', () => client.config, server));
  const QueueName = queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
  return async function oldestMessageS(): Promise<number> {
    const command = new GetMetricDataCommand({
      StartTime: new Date(now() - WINDOW_MS),
      EndTime: new Date(now()),
      MetricDataQueries: [
        {
          Id: 'age',
          MetricStat: {
            Metric: {
              Namespace: 'AWS/SQS',
              MetricName: 'ApproximateAgeOfOldestMessage',
              Dimensions: [{ Name: 'QueueName', Value: QueueName }],
            },
            Period: 60,
            Stat: 'Maximum',
          },
        },
      ],
    });
    const { MetricDataResults = [] } = await client.send(command);
    return Math.max(0, ...MetricDataResults.flatMap(({ Values = [] }) => Values));
  };
}
