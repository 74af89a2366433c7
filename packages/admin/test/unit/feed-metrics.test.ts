import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readMetrics } from '../../feed/queues.ts';

const NOW = 1_795_000_000_000;

/**
 * Runs `act` with a server in place of CloudWatch, which answers as in the API reference of GetMetricData.
 * @returns the requests
 */
async function asking(results: object[], act: () => Promise<void>) {
  const asked: { MetricDataQueries: { Id: string; MetricStat: object }[]; StartTime: number; EndTime: number }[] = [];
  const server = createServer(async (request, response) => {
    asked.push(JSON.parse(await text(request)));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ Messages: [], MetricDataResults: results }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
  await act();
  return asked;
}

/** Newest first, as it was asked for. */
const result = (Id: string, Values: number[]) => ({
  ...{ Id, Label: Id, StatusCode: 'Complete', Values },
  Timestamps: Values.map((_, index) => (NOW - 300_000 * (index + 1)) / 1_000),
});

it.each([
  [
    'for the latest five minutes',
    [result('sent', [600, 3]), result('age', [12.5, 400])],
    { rate: 2, oldestSeconds: 12.5 },
  ],
  ['as unknown if there are no data points', [result('sent', []), result('age', [])], {}],
  ['by the ids of the results, in any order', [result('age', [0]), result('sent', [0])], { rate: 0, oldestSeconds: 0 }],
])('reads rate and age of a queue %s', async (_what, results, expected) => {
  const [asked] = await asking(results, async () => {
    expect(await readMetrics('https://sqs.eu-west-1.amazonaws.com/1/Stack-Feed', 'eu-west-1', NOW)).toEqual(expected);
  });
  expect(asked).toMatchObject({ StartTime: NOW / 1_000 - 600, EndTime: NOW / 1_000, ScanBy: 'TimestampDescending' });
  expect(asked?.MetricDataQueries.map(({ MetricStat }) => MetricStat)).toMatchObject([
    {
      Metric: {
        ...{ Namespace: 'AWS/SQS', MetricName: 'NumberOfMessagesSent' },
        Dimensions: [{ Name: 'QueueName', Value: 'Stack-Feed' }],
      },
      Stat: 'Sum',
    },
    { Metric: { MetricName: 'ApproximateAgeOfOldestMessage' }, Stat: 'Maximum' },
  ]);
});
