import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operations } from '../../lib/operations/index.ts';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, idOfFunction, only, propertiesOf } from './stack.ts';
import { TOPIC, type Variant } from './templates.ts';

const NAMESPACE = 'IncidentMonitoringRum/Service';
const template = deployed();

/** All alarms by the beginnings of their ids. */
const alarmsOf = (variant?: Variant) =>
  Object.fromEntries(
    ['Alarm', 'CompositeAlarm'].flatMap((type) =>
      Object.entries(propertiesOf(`CloudWatch::${type}`, deployed(variant))).map(([id, properties]) => [
        id.replace(/^Watch/, ''),
        properties,
      ]),
    ),
  );
const alarms = alarmsOf();
/** Parts of composite alarms notify nobody. */
const isPart = (id: string) => /^ErrorBudget\w+(Long|Short)$|^FunctionsThrottled\d$/.test(id);

interface Metric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: string }[];
}
/** Statistic, metric and values of dimensions as text, with their names if the metric is the service's own. */
const metricText = (statistic: string, { Namespace, MetricName, Dimensions = [] }: Metric) => {
  const dimensions = Dimensions.map(({ Name, Value }) => (Namespace === NAMESPACE ? `${Name}=${Value}` : Value));
  return [statistic, MetricName, ...dimensions].join(' ');
};

/** When an alarm is raised, as text: `STATISTIC METRIC DIMENSIONS >= THRESHOLD, DATAPOINTS of PERIODS × SECONDS s`. */
function conditionOf(alarm: (typeof alarms)[string]) {
  if ('AlarmRule' in alarm) return alarm.AlarmRule;
  const { Metrics, Threshold, EvaluationPeriods: periods, DatapointsToAlarm: datapoints = periods } = alarm;
  // The lack of data raises no alarm.
  expect(alarm.TreatMissingData).toBe('notBreaching');
  let [metric, seconds] = [metricText(alarm.Statistic, alarm), alarm.Period];
  if (Metrics) {
    const [{ Expression }, ...parts] = Metrics;
    // CloudWatch allows ten metrics in an alarm, besides its expressions.
    expect(parts.length).toBeLessThanOrEqual(10);
    [metric, seconds] = [Expression, parts[0].MetricStat.Period];
    for (const { Id, MetricStat } of parts) {
      expect(MetricStat.Period).toBe(seconds);
      metric = metric.replaceAll(new RegExp(`\\b${Id}\\b`, 'g'), metricText(MetricStat.Stat, MetricStat.Metric));
    }
  }
  expect(alarm.ComparisonOperator).toBe('GreaterThanOrEqualToThreshold');
  return `${metric} >= ${Number(Threshold.toFixed(6))}, ${datapoints} of ${periods} × ${seconds} s`;
}

const inQueue = (queue: string, which = '') => `Maximum ApproximateNumberOfMessages${which}Visible ${queue}.QueueName`;
/** Calls of what a setting has switched off are refused, and do not count as failed. */
const failures = '(Sum FailedCalls - FILL(Sum Events event=refused_by_setting service=incident-monitoring-rum, 0))';
const failedShare = `${failures} / Sum AnsweredCalls`;
const enoughFailed = `IF(${failures} >= 5, ${failedShare}, 0)`;
const bothWindows = (id: string) => `(ALARM("Watch${id}Long.Arn") AND ALARM("Watch${id}Short.Arn"))`;
/** A sum in which a metric without data counts as 0. */
const sum = (...metrics: string[]) => metrics.map((metric) => `FILL(${metric}, 0)`).join(' + ');
const failedMessages = (source: string) => `Sum FailedInvokeEventCount ${source}`;
/** The throttles of the others are meant to limit callers without a key. */
const watched = [...functionsOf(template).keys()].filter((name) => !/fallback-route|openapi-document/.test(name));
/** A function with fewer than five throttled calls in a minute has a share of 0. */
const throttledShares = (names: string[]) => {
  const shares = names.map((name) => {
    const [throttled, invoked] = ['Throttles', 'Invocations'].map((of) => `Sum ${of} ${idOfFunction(name)}Function`);
    return `IF(FILL(${throttled}, 0) >= 5, ${throttled} / (${throttled} + FILL(${invoked}, 0)), 0)`;
  });
  return `MAX([${shares.join(', ')}]) >= 0.05, 2 of 2 × 60 s`;
};

const CONDITIONS = {
  // The objective is 99.9 %. Its error budget burns 14.4 (or 6) times too fast in a long window, and still does in a short one.
  ErrorBudgetFast: bothWindows('ErrorBudgetFast'),
  ErrorBudgetFastLong: `${enoughFailed} >= 0.0144, 1 of 1 × 3600 s`,
  ErrorBudgetFastShort: `${failedShare} >= 0.0144, 1 of 1 × 300 s`,
  ErrorBudgetSlow: bothWindows('ErrorBudgetSlow'),
  ErrorBudgetSlowLong: `${enoughFailed} >= 0.006, 1 of 1 × 21600 s`,
  ErrorBudgetSlowShort: `${failedShare} >= 0.006, 1 of 1 × 1800 s`,

  // Without dimensions it is the account's metric, not a function's.
  ConcurrencyNearLimit:
    'Maximum ConcurrentExecutions / SERVICE_QUOTA(Maximum ConcurrentExecutions) >= 0.8, 2 of 2 × 60 s',
  FunctionsThrottled: `(${watched
    .filter((_name, index) => index % 5 === 0)
    .map((_name, index) => `ALARM("WatchFunctionsThrottled${index + 1}.Arn")`)
    .join(' OR ')})`,
  // Each reads five functions, since an alarm reads ten metrics.
  ...Object.fromEntries(
    watched.flatMap((_name, index) =>
      index % 5 === 0
        ? [[`FunctionsThrottled${index / 5 + 1}`, throttledShares(watched.slice(index, index + 5))] as const]
        : [],
    ),
  ),
  TableThrottled: `${sum('Sum ReadThrottleEvents Table', 'Sum WriteThrottleEvents Table')} >= 1, 2 of 2 × 60 s`,
  AuthorizerFailures: 'Sum Errors usagekeyauthorizerFunction >= 1, 2 of 2 × 60 s',
  Flood: 'Sum RefusedCalls >= 3000, 3 of 3 × 60 s',

  // Messages that wait and messages that were tried.
  MergesPending: `${sum(inQueue('MergesQueue'), inQueue('MergesQueue', 'Not'))} >= 1, 6 of 6 × 60 s`,
  DeadLetters: `${inQueue('MergesDeadLetters')} >= 1, 1 of 1 × 60 s`,
  RelayLate: `${sum(failedMessages('relayFunctionSqsEventSourceServiceRelayEvents4DAE153D'))} + (${sum('Maximum IteratorAge relayFunction')} >= 60000) >= 1, 2 of 20 × 60 s`,
  RelayDeadLetters: `${inQueue('RelayDeadLetters')} >= 1, 1 of 1 × 60 s`,
  FeedBehind: 'Maximum ApproximateAgeOfOldestMessage FeedQueue.QueueName >= 300, 2 of 2 × 60 s',
  FeedFailing: `${sum(
    'Sum FailedRecords service=incident-monitoring-rum',
    failedMessages('ingestrecordsFunctionSqsEventSourceServiceFeedQueue6F865DE7'),
    'Sum Errors ingestrecordsFunction',
  )} >= 1, 2 of 20 × 60 s`,
  FeedRefused: 'Sum RefusedRecords service=incident-monitoring-rum >= 1, 1 of 1 × 60 s',
};

it('docs/cost.md has the price of the alarms', () => {
  const metrics = Object.values(propertiesOf('CloudWatch::Alarm', template)).reduce(
    (count, { Metrics = [{ MetricStat: {} }] }) =>
      count + Metrics.filter((part: object) => 'MetricStat' in part).length,
    0,
  );
  // Each operation has two.
  const others = metrics - 2 * operations.length;
  expect(readFileSync('docs/cost.md', 'utf8')).toContain(
    `${others} metrics at 0.10, three composite ones at 0.50 | ${(others * 0.1 + 3 * 0.5).toFixed(2)} |`,
  );
});

describe('the alarms', () => {
  it('are these, each with its condition; an ephemeral stage has none', () => {
    const found = Object.entries(alarms).map(([id, alarm]) => [id, conditionOf(alarm)]);
    expect(Object.fromEntries(found)).toEqual(CONDITIONS);
    expect(alarmsOf('ephemeral')).toEqual({});
  });

  const TICKETS =
    /^(ErrorBudgetSlow|ConcurrencyNearLimit|TableThrottled|Flood|DeadLetters|RelayDeadLetters|FeedRefused)$/;
  it.each<[to: string, variant?: Variant, page?: string, ticket?: string]>([
    ['nobody'],
    ['a page and tickets', 'changed', 'WatchPage', TOPIC],
    ['a page only', 'adopting', TOPIC, TOPIC],
  ])('tell of their begin and end, except parts of composite alarms: %s', (_to, variant, page, ticket) => {
    for (const [id, { AlarmActions, OKActions }] of Object.entries(alarmsOf(variant))) {
      const to = isPart(id) ? undefined : TICKETS.test(id) ? ticket : page;
      expect([id, AlarmActions, OKActions]).toEqual([id, to && [to], to && [to]]);
    }
  });

  it('are sent by e-mail if the setting is an address, and make no topic of their own otherwise', () => {
    const mailed = { Endpoint: 'ops@example.com', Protocol: 'email', TopicArn: 'WatchPage' };
    expect(only('SNS::Subscription', deployed('changed')).Properties).toEqual(mailed);
    expect(Object.keys(propertiesOf('SNS::Topic', deployed('changed')))).toEqual(['WatchPage']);
    expect(propertiesOf('SNS::Topic', deployed('adopting'))).toEqual({});
  });

  it.each<[runbook: string, variant?: Variant]>([['docs/operate.md'], ['https://wiki.example.com/on-call', 'changed']])(
    'say what they mean, and name their section of the runbook %s',
    (runbook, variant) => {
      for (const [id, { AlarmDescription }] of Object.entries(alarmsOf(variant))) {
        const end = isPart(id) ? /^Part of \w+: / : `. What to do: ${runbook}#${id.toLowerCase()}`;
        expect(AlarmDescription).toMatch(end);
        expect(AlarmDescription).toMatch(/^\w.{20}/);
      }
    },
  );
});

it('the dashboard reads metrics that the functions write: integration/http/emitted-metrics', () => {
  const { widgets } = JSON.parse(only('CloudWatch::Dashboard', template).Properties.DashboardBody);
  const read: unknown[][] = widgets.flatMap(
    ({ properties }: { properties: { metrics?: unknown[][] } }) => properties.metrics ?? [],
  );
  const own = read.filter(([namespace]) => namespace === NAMESPACE).map((metric) => metric.slice(1, -1).join(' '));
  const service = 'service incident-monitoring-rum';
  expect(own.sort()).toEqual([
    `Calls code RequestTooFrequently operation browse-fleet ${service}`,
    `Events event account_without_gateway_key ${service}`,
    `Events event merge_finished_late ${service}`,
    `Events event merge_left_pending ${service}`,
    ...['Failed', 'Late', '', 'Refused'].map((which) => `${which}Records ${service}`),
  ]);
});

it('calls are counted in the access log, whether a function or API Gateway answered them', () => {
  // Patterns are limited to 1,024 characters: many-operations.test.ts.
  const lines = operations.map(({ path }) => `($.resource = "${path}")`).join(' || ');
  const counted = (MetricName: string, FilterPattern: string) => ({
    FilterPattern,
    LogGroupName: 'ServiceAccessLog',
    MetricTransformations: [{ MetricNamespace: NAMESPACE, MetricName, MetricValue: '1', DefaultValue: 0 }],
  });
  expect(Object.values(propertiesOf('Logs::MetricFilter', template))).toEqual([
    counted('AnsweredCalls', `{ ${lines} }`),
    counted('FailedCalls', `{ (${lines}) && ($.status = "5*") }`),
    counted('RefusedCalls', '{ $.status = "4*" }'),
  ]);
});
