import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { THROTTLE } from '../../lib/http/operation.ts';
import { type ListedOperation, operations } from '../../lib/operations/index.ts';
import { chunksOf } from '../../lib/shared/concurrency.ts';
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
const isPart = (id: string) =>
  /^ErrorBudget\w+(Long|Short)$|^LambdaThrottled\d$|^(Feed|Merges|Events|Changes)NotRead$/.test(id);

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
  const period = `${datapoints} of ${periods} × ${seconds} s`;
  if (alarm.TreatMissingData === 'breaching') {
    expect([alarm.ComparisonOperator, Threshold]).toEqual(['LessThanThreshold', 0]);
    return `${metric} has no data, ${period}`;
  }
  // Otherwise the lack of data raises no alarm.
  expect(alarm).toMatchObject({
    TreatMissingData: 'notBreaching',
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
  });
  return `${metric} >= ${Number(Threshold.toFixed(6))}, ${period}`;
}

const inQueue = (queue: string, which = '') => `Maximum ApproximateNumberOfMessages${which}Visible ${queue}.QueueName`;
/** Calls of what a setting has switched off are refused, and do not count as failed. */
const failures = '(Sum FailedCalls - FILL(Sum Events event=refused_by_setting service=incident-monitoring-rum, 0))';
const failedShare = `${failures} / Sum AnsweredCalls`;
const enoughFailed = `IF(${failures} >= 5, ${failedShare}, 0)`;
const bothWindows = (id: string) => `(ALARM("Watch${id}Long.Arn") AND ALARM("Watch${id}Short.Arn"))`;
/** A sum in which a metric without data counts as 0. */
const sum = (...metrics: string[]) => metrics.map((metric) => `FILL(${metric}, 0)`).join(' + ');
/** The event source mappings. */
const SOURCES = {
  feed: 'ingestrecordsFunctionSqsEventSourceServiceFeedQueue6F865DE7',
  merges: 'finishmergesFunctionSqsEventSourceServiceMergesQueue2CB08CF4',
  events: 'relayFunctionSqsEventSourceServiceRelayEvents4DAE153D',
  changes: 'relayFunctionDynamoDBEventSourceServiceTable91BB1E3D',
};
/** A mapping that is disabled reads nothing, and has no data; an idle one reads 0 events. */
const notRead = (source: string) => `Sum PolledEventCount ${source} has no data, 3 of 3 × 300 s`;
const ageIn = (queue: string) => `Maximum ApproximateAgeOfOldestMessage ${queue}.QueueName`;
/** A share of which fewer than five count as none. */
const share = (part: string, whole: string) => `IF(FILL(${part}, 0) >= 5, ${part} / ${whole}, 0)`;
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

/** Four fifths of maxWriteUnits, in each of five minutes. */
const writesOver = (units: number) => `Sum ConsumedWriteCapacityUnits Table >= ${0.8 * 60 * units}, 5 of 5 × 60 s`;

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
  LambdaThrottled: `(${watched
    .filter((_name, index) => index % 5 === 0)
    .map((_name, index) => `ALARM("WatchLambdaThrottled${index + 1}.Arn")`)
    .join(' OR ')})`,
  // Each reads five functions, since an alarm reads ten metrics.
  ...Object.fromEntries(
    watched.flatMap((_name, index) =>
      index % 5 === 0
        ? [[`LambdaThrottled${index / 5 + 1}`, throttledShares(watched.slice(index, index + 5))] as const]
        : [],
    ),
  ),
  TableThrottled: `${sum('Sum ReadThrottleEvents Table', 'Sum WriteThrottleEvents Table')} >= 1, 2 of 2 × 60 s`,
  AuthorizerFailures: `${share('Sum Errors usagekeyauthorizerFunction', 'Sum Invocations usagekeyauthorizerFunction')} >= 0.05, 2 of 2 × 60 s`,
  Flood: 'Sum RefusedCalls >= 3000, 3 of 3 × 60 s',

  // A failed merge comes again after 5.5 minutes: one alone has failed twice and waits for over six minutes. Merges that only follow each other raise nothing.
  MergesPending: `${sum(failedMessages(SOURCES.merges), 'Sum Errors finishmergesFunction')} + (${sum(ageIn('MergesQueue'))} >= 360) >= 1, 3 of 20 × 60 s`,
  SilenceFailing: 'Sum Errors endsilentalertsFunction >= 1, 2 of 2 × 3600 s',
  DeadLetters: `${inQueue('MergesDeadLetters')} >= 1, 1 of 1 × 60 s`,
  RelayLate: `${sum(failedMessages(SOURCES.events))} + (${sum('Maximum IteratorAge relayFunction')} >= 60000) + (${sum(ageIn('RelayEvents'))} >= 300) >= 1, 2 of 20 × 60 s`,
  RelayDeadLetters: `${inQueue('RelayDeadLetters')} >= 1, 1 of 1 × 60 s`,
  // One tenant's backlog makes its group a noisy one, and delays no other.
  FeedBehind:
    `IF(${sum('Maximum ApproximateNumberOfNoisyGroups FeedQueue.QueueName')} > 0, ${sum(`${ageIn('FeedQueue')}InQuietGroups`)}, ${sum(ageIn('FeedQueue'))}) >= 300, 2 of 2 × 60 s`.replaceAll(
      ' FeedQueue.QueueNameInQuietGroups',
      'InQuietGroups FeedQueue.QueueName',
    ),
  FeedBacklog: `${ageIn('FeedQueue')} >= 3600, 5 of 5 × 60 s`,
  WritesNearLimit: writesOver(4_000),
  FeedFailing: `${sum(
    'Sum FailedRecords service=incident-monitoring-rum',
    failedMessages(SOURCES.feed),
    'Sum Errors ingestrecordsFunction',
  )} >= 1, 2 of 20 × 60 s`,
  // Refused records, and messages that failed a hundred times.
  FeedRefused: `${inQueue('FeedRefused')} >= 1, 1 of 1 × 60 s`,
  AppKeysRefused: 'Sum RefusedAppKeys >= 3, 1 of 1 × 3600 s',
  FeedCallsRefused: `${share('Sum RefusedFeedCalls', 'Sum FeedCalls')} >= 0.1, 3 of 3 × 300 s`,

  SourceNotRead: `(${['Feed', 'Merges', 'Events', 'Changes'].map((source) => `ALARM("Watch${source}NotRead.Arn")`).join(' OR ')})`,
  FeedNotRead: notRead(SOURCES.feed),
  MergesNotRead: notRead(SOURCES.merges),
  EventsNotRead: notRead(SOURCES.events),
  ChangesNotRead: notRead(SOURCES.changes),
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
    `${others} metrics at 0.10, four composite ones at 0.50: ${(others * 0.1 + 4 * 0.5).toFixed(2)}.`,
  );
});

it('docs/cost.md works out a month of hosts by its own prices and the limits', () => {
  const text = readFileSync('docs/cost.md', 'utf8');
  const price = (of: RegExp) => Number(of.exec(text.replace(/\s+/g, ' '))?.[1] ?? expect.fail(`no price: ${of}`));
  const [hosts, batch, minutes] = [10_000, 1_000, 30 * 24 * 60];
  const millions = (hosts * minutes) / 1e6;
  const write = price(/write units ([\d.]+)\./);
  const call = price(/- Calls: ([\d.]+),/);
  const message = price(/Feed messages of up to 64 KB: at most ([\d.]+),/);
  const monthly = [/four composite ones at 0\.50/, /The dashboard/, /every 20 s/, /at 0\.30/].map((row) =>
    price(new RegExp(`${row.source}: ([\\d.]+)\\.`)),
  );
  // The page names the number, so that a further operation does not change it.
  const count = price(/monthly amounts, of (\d+) operations/);
  const fixed = monthly.reduce((sum, amount) => sum + amount) + count * price(/operation adds two metrics: ([\d.]+)\./);
  // A call of 256 KiB takes four messages, and a write unit for its count.
  const [batched, single] = [(millions / batch) * (call + write + 4 * message), millions * (call + write + message)];
  const row = (what: string, ...amounts: number[]) => `| ${[what, ...amounts.map(Math.round)].join(' | ')} |`;
  const writes = millions * write;
  for (const line of [
    `each minute: ${millions} million records`,
    row('writes', writes, writes),
    row('calls and messages', batched, single),
    row(`monthly amounts, of ${count} operations`, fixed, fixed),
    row('together', writes + batched + fixed, writes + single + fixed),
  ])
    expect(text).toContain(line);
  const perSecond = Math.round(hosts / 60);
  expect(readFileSync('docs/feed.md', 'utf8').replace(/\s+/g, ' ')).toContain(
    `that each call every minute make ${perSecond} calls a second, of which ${THROTTLE.rate} are served`,
  );
});

describe('the alarms', () => {
  it('are these, each with its condition; an ephemeral stage has none', () => {
    const found = Object.entries(alarms).map(([id, alarm]) => [id, conditionOf(alarm)]);
    expect(Object.fromEntries(found)).toEqual(CONDITIONS);
    expect(alarmsOf('ephemeral')).toEqual({});
  });

  it('depend on the settings: while writes are frozen, the feed waits; failed backups and copies are told', () => {
    const changed = alarmsOf('changed');
    expect(conditionOf(changed.WritesNearLimit)).toBe(writesOver(500));
    const jobs = ['Backup', 'Copy'].map((kind) => `Sum NumberOf${kind}JobsFailed BackupsVault.BackupVaultName`);
    const others = ['Aborted', 'Expired'].map((state) => `Sum NumberOfBackupJobs${state} BackupsVault.BackupVaultName`);
    expect(conditionOf(changed.BackupsFailed)).toBe(`${sum(...jobs, ...others)} >= 1, 1 of 1 × 3600 s`);
    const missing = Object.keys(alarms).filter((id) => !(id in changed));
    expect(missing).toEqual(['FeedBehind', 'FeedBacklog', 'FeedNotRead']);
  });

  it('tell that a replica is late; the dashboard shows it', () => {
    const late = conditionOf(alarmsOf('replicated').ReplicationLate);
    const latencies = ['eu-central-1', 'us-east-1'].map((region) => `Average ReplicationLatency ${region} Table`);
    expect(late).toBe(`MAX([${latencies.join(', ')}]) >= 60000, 5 of 5 × 60 s`);
    const { DashboardBody } = only('CloudWatch::Dashboard', deployed('replicated')).Properties;
    expect(DashboardBody).toContain('"AWS/DynamoDB","ReplicationLatency","ReceivingRegion","us-east-1","TableName"');
  });

  it('of a standby are raised by records that are sent to it, not by what it does not read otherwise', () => {
    const standby = alarmsOf('standby');
    const missing = Object.keys(alarms).filter((id) => !(id in standby));
    expect(missing.sort()).toEqual(['ChangesNotRead', 'FeedNotRead', 'MergesNotRead']);
    expect(conditionOf(standby.SourceNotRead)).toBe('(ALARM("WatchEventsNotRead.Arn"))');
    // What waits in its queue of merges waits by intention.
    expect(conditionOf(standby.MergesPending)).not.toContain('AgeOfOldestMessage');
  });

  const [, listed = ''] =
    /Tickets can wait: ([\w\s,]+); others\s+page/.exec(readFileSync('docs/runbook.md', 'utf8')) ?? [];
  const tickets = listed.split(/,? and |,\s+|\s+and\s+/);
  it.each<[to: string, variant?: Variant, page?: string, ticket?: string]>([
    ['nobody'],
    ['a page and tickets', 'changed', 'WatchPage', TOPIC],
    ['a page only', 'adopting', TOPIC, TOPIC],
  ])(
    'tell of their begin and end, tickets as docs/runbook.md lists them, except parts of composite alarms: %s',
    (_to, variant, page, ticket) => {
      for (const [id, { AlarmActions, OKActions }] of Object.entries(alarmsOf(variant))) {
        const to = isPart(id) ? undefined : tickets.includes(id) ? ticket : page;
        expect([id, AlarmActions, OKActions]).toEqual([id, to && [to], to && [to]]);
      }
    },
  );

  it('are sent by e-mail if the setting is an address, and make no topic of their own otherwise', () => {
    const mailed = { Endpoint: 'ops@example.com', Protocol: 'email', TopicArn: 'WatchPage' };
    expect(only('SNS::Subscription', deployed('changed')).Properties).toEqual(mailed);
    expect(Object.keys(propertiesOf('SNS::Topic', deployed('changed')))).toEqual(['WatchPage']);
    expect(propertiesOf('SNS::Topic', deployed('adopting'))).toEqual({});
  });

  it.each<[runbook: string, variant?: Variant]>([['docs/runbook.md'], ['https://wiki.example.com/on-call', 'changed']])(
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

const { widgets } = JSON.parse(only('CloudWatch::Dashboard', template).Properties.DashboardBody);

it('the dashboard shows the state of each alarm, and beside its limit what is used up', () => {
  const states = widgets.find(({ type }: { type: string }) => type === 'alarm').properties.alarms;
  const told = Object.keys(alarms).filter((id) => !isPart(id));
  expect(states.sort()).toEqual(told.map((id) => `Watch${id}.Arn`).sort());
  const graph = (title: string) =>
    widgets.find(({ properties }: { properties: { title?: string } }) => properties.title === title).properties;
  /** What a graph reads: metrics by name and dimensions, or expressions. */
  const readBy = (title: string) =>
    graph(title).metrics.map((metric: unknown[]) => {
      const [first, ...more] = metric.filter((part) => typeof part === 'string');
      const { expression } = metric.at(-1) as { expression?: string };
      return expression ?? [first, ...more].join(' ');
    });
  const age = (queue: string) => `AWS/SQS ApproximateAgeOfOldestMessage QueueName ${queue}.QueueName`;
  expect(readBy('Age of the oldest message, s')).toEqual(['FeedQueue', 'MergesQueue', 'RelayEvents'].map(age));
  const ofAuthorizer = 'FunctionName usagekeyauthorizerFunction';
  expect(readBy('Authorizer')).toEqual(['Errors', 'Throttles'].map((metric) => `AWS/Lambda ${metric} ${ofAuthorizer}`));
  expect(readBy('Concurrent executions, and their quota')).toEqual([
    'AWS/Lambda ConcurrentExecutions',
    'SERVICE_QUOTA(used)',
  ]);
  expect(readBy('Write units a second, and maxWriteUnits')).toContain('units / PERIOD(units)');
  expect(graph('Write units a second, and maxWriteUnits').annotations.horizontal).toMatchObject([{ value: 4_000 }]);
  expect(readBy('p99 of the duration, ms')).toEqual(
    [...functionsOf(template).keys()].map((name) => `AWS/Lambda Duration FunctionName ${idOfFunction(name)}Function`),
  );
});

it('the dashboard reads metrics that the functions write: integration/http/emitted-metrics', () => {
  const read: unknown[][] = widgets.flatMap(
    ({ properties }: { properties: { metrics?: unknown[][] } }) => properties.metrics ?? [],
  );
  const own = read.filter(([namespace]) => namespace === NAMESPACE).map((metric) => metric.slice(1, -1).join(' '));
  const service = 'service incident-monitoring-rum';
  const limited = operations.filter((operation: ListedOperation) => operation.rateWindows !== undefined);
  expect(own.sort()).toEqual([
    ...limited.map(({ name }) => `Calls code RequestTooFrequently operation ${name} ${service}`).sort(),
    `Events event account_without_gateway_key ${service}`,
    `Events event merge_finished_late ${service}`,
    `Events event merge_left_pending ${service}`,
    ...['Failed', 'Late', '', 'Refused'].map((which) => `${which}Records ${service}`),
  ]);
});

it('calls are counted in the access log, whether a function or API Gateway answered them', () => {
  const linesOf = ([path, ...others]: string[]) =>
    others.length === 0
      ? `$.resource = "${path}"`
      : [path, ...others].map((each) => `($.resource = "${each}")`).join(' || ');
  // Patterns are limited to 1,024 characters: many-operations.test.ts.
  const lines = chunksOf(
    operations.map(({ path }) => path),
    10,
  ).map(linesOf);
  const feedLines = linesOf(operations.map(({ path }) => path).filter((path) => path.startsWith('/feed/')));
  const counted = (MetricName: string, FilterPattern: string) => ({
    FilterPattern,
    LogGroupName: 'ServiceAccessLog',
    MetricTransformations: [{ MetricNamespace: NAMESPACE, MetricName, MetricValue: '1', DefaultValue: 0 }],
  });
  expect(Object.values(propertiesOf('Logs::MetricFilter', template))).toEqual([
    ...lines.map((some) => counted('AnsweredCalls', `{ ${some} }`)),
    ...lines.map((some) => counted('FailedCalls', `{ (${some}) && ($.status = "5*") }`)),
    counted('RefusedCalls', '{ $.status = "4*" }'),
    counted('FeedCalls', `{ ${feedLines} }`),
    counted('RefusedFeedCalls', `{ (${feedLines}) && ($.status = "4*") }`),
    // Of keys that the authorizer found in the table: others have a hyphen.
    counted('RefusedAppKeys', '{ ($.status = "401") && ($.refused_app_key != "-") }'),
  ]);
});
