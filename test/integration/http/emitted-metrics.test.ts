/** The metrics that functions write to standard output have the names, dimensions and units that alarms and dashboard read. */
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { expect, inject, it, vi } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { createFinishMerges } from '../../../lib/operations/merge-alerts/finish.ts';
import { createMetrics } from '../../../lib/shared/log.ts';
import { keys } from '../../../lib/table/keys.ts';
import type { Template } from '../../../packages/local/template.ts';
import { only, propertiesOf } from '../../infra/stack.ts';
import { feedOver } from '../../support/feed.ts';
import { messagesOf, newAccount } from '../../support/incidents.ts';
import { callAlone, handlersOver, invokeAlone, newTable, put, testDeps } from '../../support/service.ts';

const NAMESPACE = 'IncidentMonitoringRum/Service';

/** A line of the embedded metric format. */
interface Line {
  _aws: {
    Timestamp: number;
    CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string; Unit: string }[] }[];
  };
  [member: string]: unknown;
}

/** A metric as text: its namespace, its name, and its dimensions in the order of their names. */
const textOf = (namespace: string, name: string, dimensions: [string, unknown][]) =>
  [namespace, name, ...dimensions.sort(([a], [b]) => a.localeCompare(b)).flat()].join(' ');

/** The metrics of a line, with the unit and the value of each. */
const metricsOf = (line: Line): [metric: string, unit: string, value: unknown][] =>
  line._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) =>
      Metrics.map(({ Name, Unit }): [string, string, unknown] => {
        const dimensions = names.map((name): [string, unknown] => [name, line[name]]);
        return [textOf(Namespace, Name, dimensions), Unit, line[Name]];
      }),
    ),
  );

/** The service's own metrics that alarms and dashboard read, but for those that CloudWatch makes of the access log. */
function metricsReadFrom(template: Template): string[] {
  const alarms = Object.values(propertiesOf('CloudWatch::Alarm', template)).flatMap(({ Metrics = [], ...alarm }) => [
    alarm,
    ...Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: object } }) => MetricStat?.Metric ?? []),
  ]);
  const ofAlarms = alarms.map(({ Namespace, MetricName, Dimensions = [] }) =>
    textOf(
      Namespace,
      MetricName,
      Dimensions.map(({ Name, Value }: { Name: string; Value: unknown }) => [Name, Value]),
    ),
  );
  const { widgets } = JSON.parse(only('CloudWatch::Dashboard', template).Properties.DashboardBody);
  const ofDashboard = widgets.flatMap(({ properties: { metrics = [] } }: { properties: { metrics?: unknown[][] } }) =>
    metrics.map((metric) => metric.slice(0, -1).join(' ')),
  );
  const own = [...ofAlarms, ...ofDashboard].filter((name) => name.startsWith(`${NAMESPACE} `));
  return [...new Set(own)].filter((name) => !/ (Answered|Failed|Refused)Calls/.test(name));
}

const writtenLines: Line[] = [];
const startedMs = Date.now();
const table = await newTable();
const tenant = await newAccount(table);
const deps = {
  ...testDeps(table),
  metrics: createMetrics({ namespace: NAMESPACE }),
};
const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
  if (String(text).startsWith('{"_aws":')) writtenLines.push(JSON.parse(String(text)));
  return true;
});
try {
  // A malformed row: InternalError.
  await put(table, keys.rumResource(tenant.account), { plan: 1 });
  await callAlone(handlersOver(deps), getRumResource, { appKey: tenant.appKey });
  const frozenDeps = { ...deps, settings: { ...deps.settings, writesFrozen: true } };
  const deletion = { appKey: tenant.appKey, body: { work_item_id: 'w', version: 1 } };
  await callAlone(handlersOver(frozenDeps), deleteWorkItem, deletion);
  const handlers = handlersOver({ ...deps, now: () => startedMs });
  for (let call = 0; call < 3; call += 1) await callAlone(handlers, browseFleet, { appKey: tenant.appKey });

  const methodArn = 'arn:aws:execute-api:eu-west-1:123456789012:a/prod/POST/alert/merge';
  const authorize = createUsageKeyAuthorizer(createAppKeys(deps), deps, 'shared');
  const event = { methodArn, queryStringParameters: { app_key: tenant.appKey } };
  await authorize(event as unknown as APIGatewayRequestAuthorizerEvent);

  const to = await tenant.incident();
  const smallMerge = tenant.event({ alert_ids: await tenant.alerts(3), incident_id: to });
  await invokeAlone(handlersOver(deps).mergeAlerts, smallMerge);
  const hurriedDeps = { ...deps, timeLimits: { ...deps.timeLimits, movesMs: 0 } };
  const largeMerge = tenant.event({ alert_ids: await tenant.alerts(5), incident_id: to });
  await invokeAlone(handlersOver(hurriedDeps, { transactionItems: 4 }).mergeAlerts, largeMerge);
  await createFinishMerges(deps)(messagesOf(await tenant.feed(to)), { getRemainingTimeInMillis: () => 60_000 });
  await feedOver(table, Date.now, deps).deliver(['not a record']);
} finally {
  write.mockRestore();
}

it('a call is counted once, with its duration in milliseconds, by operation and code; an event by its name', () => {
  const SERVICE = 'service incident-monitoring-rum';
  const call = (operation: string, code: string) => [
    [`${NAMESPACE} Calls code ${code} operation ${operation} ${SERVICE}`, 'Count', 1],
    [`${NAMESPACE} Duration code ${code} operation ${operation} ${SERVICE}`, 'Milliseconds', expect.any(Number)],
  ];
  const event = (name: string) => [[`${NAMESPACE} Events event ${name} ${SERVICE}`, 'Count', 1]];
  const records = { Records: 0, LateRecords: 0, RefusedRecords: 1, FailedRecords: 0 };
  expect(writtenLines.map(metricsOf)).toEqual([
    call('get-rum-resource', 'InternalError'),
    call('delete-work-item', 'ServiceUnavailable'),
    event('refused_by_setting'),
    ...['OK', 'OK', 'RequestTooFrequently'].map((code) => call('browse-fleet', code)),
    event('account_without_gateway_key'),
    call('merge-alerts', 'OK'),
    event('merge_left_pending'),
    call('merge-alerts', 'OK'),
    event('merge_finished_late'),
    Object.entries(records).map(([name, count]) => [`${NAMESPACE} ${name} ${SERVICE}`, 'Count', count]),
  ]);
  // CloudWatch would take a time in seconds for one of 1970, and drop data that old.
  for (const { _aws } of writtenLines) expect(Math.abs(_aws.Timestamp - startedMs)).toBeLessThan(60_000);
});

it('every metric that alarms and dashboard read is written', () => {
  const names = new Set(writtenLines.flatMap(metricsOf).map(([metric]) => metric));
  const read = metricsReadFrom(inject('template'));
  expect(read).toHaveLength(9);
  expect(read.filter((name) => !names.has(name))).toEqual([]);
});
