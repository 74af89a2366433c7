import { expect, it, onTestFinished } from 'vitest';
import { readMetrics } from '../../feed/queues.ts';
import { enterJsonAws } from '../support/aws.ts';

const NOW = 1_795_000_000_000;

/** The values of a metric, newest first, as the request asks for them. */
const result = (Id: string, Values: number[]) => ({ Id, Values });

it.each([
  [
    'for the latest five minutes',
    [result('sent', [600, 3]), result('age', [12.5, 400])],
    { rate: 2, oldestSeconds: 12.5 },
  ],
  ['as unknown if there are no data points', [result('sent', []), result('age', [])], {}],
  ['by the ids of the results, in any order', [result('age', [0]), result('sent', [0])], { rate: 0, oldestSeconds: 0 }],
])('reads rate and age of a queue %s', async (_what, MetricDataResults, expected) => {
  const requests: object[] = [];
  const { leave } = await enterJsonAws({
    GetMetricData(request) {
      requests.push(request);
      return { MetricDataResults };
    },
  });
  onTestFinished(leave);
  expect(await readMetrics('https://sqs.eu-west-1.amazonaws.com/1/Stack-Feed', 'eu-west-1', NOW)).toEqual(expected);
  const Dimensions = [{ Name: 'QueueName', Value: 'Stack-Feed' }];
  const query = (MetricName: string, Stat: string) => ({
    MetricStat: { Metric: { Namespace: 'AWS/SQS', MetricName, Dimensions }, Stat },
  });
  expect(requests).toMatchObject([
    {
      ...{ StartTime: NOW / 1_000 - 600, EndTime: NOW / 1_000, ScanBy: 'TimestampDescending' },
      MetricDataQueries: [query('NumberOfMessagesSent', 'Sum'), query('ApproximateAgeOfOldestMessage', 'Maximum')],
    },
  ]);
});
