/** The part of CloudWatch that the function `end-silent-alerts` uses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

interface GetMetricData {
  MetricDataQueries: { Id: string; MetricStat: { Metric: { Dimensions: { Value: string }[] } } }[];
}

/**
 * Answers a request if it reads metrics. The only one there is the age of the oldest message of a queue.
 * @param oldestMessageS gives it by the name of the queue, in seconds
 * @returns whether it was such a request
 */
export function answerMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  oldestMessageS: (queue: string) => number,
): boolean {
  if (request.method !== 'POST' || !String(request.headers['x-amz-target']).endsWith('.GetMetricData')) return false;
  const answer = async () => {
    const { MetricDataQueries } = (await json(request)) as GetMetricData;
    const MetricDataResults = MetricDataQueries.map(({ Id, MetricStat }) => ({
      Id,
      Values: [oldestMessageS(MetricStat.Metric.Dimensions[0]?.Value ?? '')],
    }));
    response.setHeader('Content-Type', 'application/x-amz-json-1.0').end(JSON.stringify({ MetricDataResults }));
  };
  answer().catch(() => response.destroy());
  return true;
}
