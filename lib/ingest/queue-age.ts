/** Reads from CloudWatch how old the oldest message of a queue is. */
import { CloudWatchClient, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { createHttpHandler, PATIENT } from '../aws/http-handler.ts';
import { createSigner } from '../aws/signer.ts';
import { LOCAL_CREDENTIALS } from '../aws/sqs.ts';

/** CloudWatch has a point for each minute, some minutes late. */
const WINDOW_MS = 10 * 60_000;

interface Options {
  queueUrl: string;
  region: string;
  /** A server in place of CloudWatch; undefined: AWS. */
  endpoint: string | undefined;
}

/**
 * @returns seconds: the most in the last ten minutes; 0 if there is no point, as of a queue that is empty. SQS leaves out a message that has
 *   failed three times (SQS Developer Guide, "Available CloudWatch metrics for Amazon SQS", ApproximateAgeOfOldestMessage)
 */
export function createQueueAge({ queueUrl, region, endpoint }: Options, now: () => number) {
  const client: CloudWatchClient = new CloudWatchClient({
    region,
    maxAttempts: PATIENT.maxAttempts,
    requestHandler: createHttpHandler(PATIENT.timeouts),
    signer: createSigner(() => client.config, 'monitoring'),
    ...(endpoint && { endpoint, credentials: LOCAL_CREDENTIALS }),
  });
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
