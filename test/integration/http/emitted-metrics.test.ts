/** The metrics that functions write to standard output have the names, dimensions and units that alarms and dashboard read. */
import { expect, inject, it, vi } from 'vitest';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { createMetrics } from '../../../lib/shared/log.ts';
import { only, propertiesOf } from '../../infra/stack.ts';
import { feedOver } from '../../support/feed.ts';
import { newAccount } from '../../support/incidents.ts';
import { callAlone, handlersOver, newTable, testDeps } from '../../support/service.ts';

const NAMESPACE = 'IncidentMonitoringRum/Service';
const SERVICE = 'service incident-monitoring-rum';

interface Dimension {
  Name: string;
  Value: unknown;
}
/** A metric as text: its namespace, its name, and its dimensions in the order of their names. */
const textOf = (namespace: string, name: string, dimensions: Dimension[]) =>
  [namespace, name, ...dimensions.map(({ Name, Value }) => `${Name} ${Value}`).sort()].join(' ');

/** A line of the embedded metric format. */
interface Line {
  _aws: {
    Timestamp: number;
    CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string; Unit: string }[] }[];
  };
  [member: string]: unknown;
}

/** The metrics of a line, with the unit and the value of each. */
const metricsOf = (line: Line): [metric: string, unit: string, value: unknown][] =>
  line._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) =>
      Metrics.map(({ Name, Unit }): [string, string, unknown] => {
        const dimensions = names.map((name) => ({ Name: name, Value: line[name] }));
        return [textOf(Namespace, Name, dimensions), Unit, line[Name]];
      }),
    ),
  );

it('a call is written with its duration, an event with its name, and how many records came of the feed', async () => {
  const lines: Line[] = [];
  const startedMs = Date.now();
  const table = await newTable();
  const { appKey } = await newAccount(table);
  const deps = { ...testDeps(table), metrics: createMetrics({ namespace: NAMESPACE }) };
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    if (String(text).startsWith('{"_aws":')) lines.push(JSON.parse(String(text)));
    return true;
  });
  try {
    await callAlone(handlersOver(deps), browseFleet, { appKey });
    const frozen = handlersOver({ ...deps, settings: { ...deps.settings, writesFrozen: true } });
    await callAlone(frozen, deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } });
    await feedOver(table, Date.now, deps).deliver(['not a record']);
  } finally {
    write.mockRestore();
  }
  const call = (operation: string, code: string) => [
    [`${NAMESPACE} Calls code ${code} operation ${operation} ${SERVICE}`, 'Count', 1],
    [`${NAMESPACE} Duration code ${code} operation ${operation} ${SERVICE}`, 'Milliseconds', expect.any(Number)],
  ];
  const records = { Records: 0, LateRecords: 0, RefusedRecords: 1, FailedRecords: 0 };
  expect(lines.map(metricsOf)).toEqual([
    call('browse-fleet', 'OK'),
    call('delete-work-item', 'ServiceUnavailable'),
    [[`${NAMESPACE} Events event refused_by_setting ${SERVICE}`, 'Count', 1]],
    Object.entries(records).map(([name, count]) => [`${NAMESPACE} ${name} ${SERVICE}`, 'Count', count]),
  ]);
  // CloudWatch would take a time in seconds for one of 1970, and drop data that old.
  for (const { _aws } of lines) expect(Math.abs(_aws.Timestamp - startedMs)).toBeLessThan(60_000);
});

it('alarms and dashboard read these metrics', () => {
  const template = inject('template');
  const alarms = Object.values(propertiesOf('CloudWatch::Alarm', template)).flatMap(({ Metrics = [], ...alarm }) => [
    alarm,
    ...Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: object } }) => MetricStat?.Metric ?? []),
  ]);
  const ofAlarms = alarms.map(({ Namespace, MetricName, Dimensions }) =>
    textOf(Namespace, MetricName, Dimensions ?? []),
  );
  const { widgets } = JSON.parse(only('CloudWatch::Dashboard', template).Properties.DashboardBody);
  const ofDashboard = widgets.flatMap(({ properties: { metrics = [] } }: { properties: { metrics?: unknown[][] } }) =>
    metrics.map((metric) => metric.slice(0, -1).join(' ')),
  );
  const own = [...ofAlarms, ...ofDashboard].filter((name) => name.startsWith(`${NAMESPACE} `));
  const events = ['account_without_gateway_key', 'merge_finished_late', 'merge_left_pending', 'refused_by_setting'];
  expect([...new Set(own)].sort()).toEqual(
    [
      ...['AnsweredCalls', `Calls code RequestTooFrequently operation browse-fleet ${SERVICE}`],
      ...events.map((event) => `Events event ${event} ${SERVICE}`),
      ...['FailedCalls', `FailedRecords ${SERVICE}`, `LateRecords ${SERVICE}`, `Records ${SERVICE}`],
      ...['RefusedCalls', `RefusedRecords ${SERVICE}`],
    ].map((metric) => `${NAMESPACE} ${metric}`),
  );
});
