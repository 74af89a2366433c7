/** The dashboard's three questions (docs/operate.md), and what answers them. */
import { expect, it } from 'vitest';
import { deployed, idOfFunction, OPERATIONS, propertiesOf } from '../support/stack.ts';

type Metric = [namespace: string, name: string, ...dimensions: (string | { stat: string })[]];
interface Widget {
  properties: { markdown?: string; title?: string; metrics?: Metric[] };
}

const ofEach = (metric: string, stat: string) =>
  OPERATIONS.map(([, name]) => `AWS/Lambda ${metric} FunctionName ${idOfFunction(name)}Function, ${stat}`);
const event = (name: string) =>
  `IncidentMonitoringRum/Service Events event ${name} service incident-monitoring-rum, Sum`;

const GRAPHS: Record<string, string[]> = {
  '## Is it healthy?': [],
  'Calls and errors': [
    'AWS/ApiGateway Count ApiName Service, SampleCount',
    'AWS/ApiGateway 4XXError ApiName Service, Sum',
    'AWS/ApiGateway 5XXError ApiName Service, Sum',
  ],
  'p99, ms': ofEach('Duration', 'p99'),
  'Merges: left pending, finished late, dead letters': [
    event('merge_left_pending'),
    event('merge_finished_late'),
    'AWS/SQS ApproximateNumberOfMessagesVisible QueueName MergesDeadLetters.QueueName, Maximum',
  ],
  '## Who is throttled?': [],
  'Refused by the exact rate limit': [
    'IncidentMonitoringRum/Service Calls code RequestTooFrequently operation browse-fleet service incident-monitoring-rum, Sum',
  ],
  'Accounts without a gateway key': [event('account_without_gateway_key')],
  'DynamoDB throttles': ['Read', 'Write'].map((what) => `AWS/DynamoDB ${what}ThrottleEvents TableName Table, Sum`),
  '## What does it cost?': [],
  'Read and write units': ['Read', 'Write'].map(
    (what) => `AWS/DynamoDB Consumed${what}CapacityUnits TableName Table, Sum`,
  ),
  Invocations: ofEach('Invocations', 'Sum'),
  'Time billed, ms': ofEach('Duration', 'Sum'),
};

it('the dashboard reads these metrics, graph by graph', () => {
  const [dashboard] = Object.values(propertiesOf('AWS::CloudWatch::Dashboard', deployed()));
  const { widgets } = JSON.parse(dashboard.DashboardBody) as { widgets: Widget[] };
  const graphs = widgets.map(({ properties: { markdown, title, metrics = [] } }) => [
    markdown ?? title,
    metrics.map((metric) => {
      const { stat } = metric.at(-1) as { stat: string };
      return `${metric.slice(0, -1).join(' ')}, ${stat}`;
    }),
  ]);
  expect(graphs).toEqual(Object.entries(GRAPHS));
});
