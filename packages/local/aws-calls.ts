/** The calls that functions make to CloudWatch and EventBridge, by the JSON protocol, as far as they use them. */
import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

interface GetMetricData {
  MetricDataQueries: { Id: string; MetricStat: { Metric: { Dimensions: { Value: string }[] } } }[];
}

interface Event {
  Source: string;
  DetailType: string;
  Detail: string;
  /** Unix time in seconds. */
  Time: number;
}

/** An event as EventBridge passes it to a rule's target, as a line of JSON. The detail is copied as text: parsing would round its integers. */
function lineOf(id: string, { Source: source, DetailType, Detail, Time }: Event): string {
  const time = new Date(Time * 1000).toISOString();
  const origin = { source, account: '000000000000', time, region: 'local', resources: [] };
  const event = JSON.stringify({ version: '0', id, 'detail-type': DetailType, ...origin });
  return `${event.slice(0, -1)},"detail":${Detail}}\n`;
}

/**
 * @param oldestMessageS gives the only metric there is, by the name of its queue: the age of the oldest message, in seconds
 * @param eventsFile to which each event is appended; if undefined, events are dropped
 * @returns a function that answers a request if it is such a call, and returns whether it was
 */
export function createAwsCalls(oldestMessageS: (queue: string) => number, eventsFile: string | undefined) {
  function readMetrics({ MetricDataQueries }: GetMetricData) {
    const MetricDataResults = MetricDataQueries.map(({ Id, MetricStat }) => ({
      Id,
      Values: [oldestMessageS(MetricStat.Metric.Dimensions[0]?.Value ?? '')],
    }));
    return { MetricDataResults };
  }

  async function putEvents({ Entries }: { Entries: Event[] }) {
    const events = Entries.map((event) => ({ event, id: randomUUID() }));
    const lines = events.map(({ event, id }) => lineOf(id, event));
    if (eventsFile !== undefined) await appendFile(eventsFile, lines.join(''), { mode: 0o600 });
    return { Entries: events.map(({ id }) => ({ EventId: id })), FailedEntryCount: 0 };
  }

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const target = request.method === 'POST' && request.headers['x-amz-target'];
    const isMetrics = target === 'GraniteServiceVersion20100801.GetMetricData';
    if (!isMetrics && target !== 'AWSEvents.PutEvents') return false;
    const answer = async () => {
      const call = await json(request);
      const result = isMetrics ? readMetrics(call as GetMetricData) : await putEvents(call as { Entries: Event[] });
      response.setHeader('Content-Type', 'application/x-amz-json-1.0').end(JSON.stringify(result));
    };
    answer().catch(() => response.destroy()); // the function calls again
    return true;
  };
}
