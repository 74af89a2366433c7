/** Each alarm: what it reads, when it is raised, and that it is sent. Its runbook: test/integration/runbooks. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { functionsOf, resourcesOf, type Template } from '../../packages/local/template.ts';
import { deployed, idOfFunction, OPERATIONS, only, propertiesOf, readable } from '../support/stack.ts';

const PATHS = OPERATIONS.map(([route]) => route.replace('POST ', ''));
const NAMESPACE = 'IncidentMonitoringRum/Service';
const SETTINGS = {
  alarmEmail: 'ops@example.com',
  noTrafficMinutes: '30',
  smokeKeySecret: 'smoke-key',
  stageRate: '500',
};
const template = deployed(SETTINGS);

/** All alarms by the beginnings of their ids. */
const alarmsOf = (template: Template) =>
  Object.fromEntries(
    ['Alarm', 'CompositeAlarm'].flatMap((type) =>
      Object.entries(propertiesOf(`AWS::CloudWatch::${type}`, template)).map(([id, properties]) => [
        id.replace(/^Watch(ServiceLevel|Capacity|Callers)?/, ''),
        properties,
      ]),
    ),
  );

interface MetricOfAlarm {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: string }[];
}
/** Statistic, metric and dimensions as text. */
const metricText = (statistic: string, { Namespace, MetricName, Dimensions = [] }: MetricOfAlarm) =>
  [statistic, Namespace, MetricName, ...Dimensions.map(({ Name, Value }) => `${Name}=${Value}`)].join(' ');

const OPERATORS: Record<string, string> = {
  GreaterThanOrEqualToThreshold: '>=',
  GreaterThanThreshold: '>',
  LessThanThreshold: '<',
};
/**
 * When an alarm is raised, as text: `STATISTIC METRIC DIMENSION=VALUE >= THRESHOLD, PERIODS × SECONDS s`, or an expression in place of the
 * metric. Fails if the alarm has any other property.
 */
function conditionOf({ AlarmDescription, AlarmActions: _sent, ...alarm }: (typeof alarms)[string]): string {
  expect(AlarmDescription).toEqual(expect.any(String));
  if ('AlarmRule' in alarm) return alarm.AlarmRule;
  const { Metrics, Threshold, EvaluationPeriods, ComparisonOperator, TreatMissingData, ...single } = alarm;
  const { Namespace, MetricName, Dimensions, Statistic, ExtendedStatistic, Period, ...rest } = single;
  expect(rest).toEqual({});
  let [metric, seconds] = [metricText(Statistic ?? ExtendedStatistic, { Namespace, MetricName, Dimensions }), Period];
  if (Metrics) {
    const [{ Expression, Id: _id, Label: _label, ...returned }, ...parts] = Metrics;
    expect(returned).toEqual({ ReturnData: true });
    metric = Expression;
    for (const { Id, MetricStat, ...part } of parts) {
      expect(part).toEqual({ ReturnData: false });
      metric = metric.replaceAll(new RegExp(`\\b${Id}\\b`, 'g'), metricText(MetricStat.Stat, MetricStat.Metric));
      seconds = MetricStat.Period;
    }
    for (const { MetricStat } of parts) expect(MetricStat.Period).toBe(seconds);
  }
  const missing = { notBreaching: '', breaching: ', or without data' }[TreatMissingData as string];
  const threshold = Number(Threshold.toFixed(6));
  return `${metric} ${OPERATORS[ComparisonOperator]} ${threshold}, ${EvaluationPeriods} × ${seconds} s${missing}`;
}

const alarms = alarmsOf(template);

const inQueue = (queue: string, which = '') =>
  `Maximum AWS/SQS ApproximateNumberOfMessages${which}Visible QueueName=${queue}.QueueName`;
const failedShare = `Sum ${NAMESPACE} FailedCalls / Sum ${NAMESPACE} AnsweredCalls`;
const enoughFailed = `IF(Sum ${NAMESPACE} FailedCalls >= 5, ${failedShare}, 0)`;
const bothWindows = (id: string) =>
  `(ALARM("WatchServiceLevel${id}Long.Arn") AND ALARM("WatchServiceLevel${id}Short.Arn"))`;
const gateway = (metric: string) => `Sum AWS/ApiGateway ${metric} ApiName=Service`;
const callsOf = (path: string) => `Sum ${NAMESPACE} OperationCalls resource=${path}`;

const CONDITIONS = {
  // The objective is 99.9 %. Its error budget burns 14.4 (or 6) times too fast in a long window, and still does in a short one.
  ErrorBudgetFast: bothWindows('ErrorBudgetFast'),
  ErrorBudgetFastLong: `${enoughFailed} > 0.0144, 1 × 3600 s`,
  ErrorBudgetFastShort: `${failedShare} > 0.0144, 1 × 300 s`,
  ErrorBudgetSlow: bothWindows('ErrorBudgetSlow'),
  ErrorBudgetSlowLong: `${enoughFailed} > 0.006, 1 × 21600 s`,
  ErrorBudgetSlowShort: `${failedShare} > 0.006, 1 × 1800 s`,

  ...Object.fromEntries(
    OPERATIONS.map(([, name]) => [
      `Slow${idOfFunction(name)}`,
      `p99 AWS/Lambda Duration FunctionName=${idOfFunction(name)}Function >= 2000, 5 × 60 s`,
    ]),
  ),
  ...Object.fromEntries(
    [...functionsOf(template).keys()].map((name) => [
      `Throttled${name.replaceAll('-', '')}`,
      `Sum AWS/Lambda Throttles FunctionName=${idOfFunction(name)}Function >= 1, 2 × 60 s`,
    ]),
  ),
  // Without dimensions it is the account's metric, not a function's.
  ConcurrencyNearLimit: 'Maximum AWS/Lambda ConcurrentExecutions >= 800, 2 × 60 s',
  TableReadThrottled: 'Sum AWS/DynamoDB ReadThrottleEvents TableName=Table >= 1, 2 × 60 s',
  TableWriteThrottled: 'Sum AWS/DynamoDB WriteThrottleEvents TableName=Table >= 1, 2 × 60 s',
  AuthorizerFailures: 'Sum AWS/Lambda Errors FunctionName=labelcallerFunction >= 1, 2 × 60 s',
  AccountsUnprovisioned: `Sum ${NAMESPACE} Events event=account_without_gateway_key service=incident-monitoring-rum >= 1, 1 × 60 s`,

  // Messages that wait and messages that were tried.
  MergesPending: `${inQueue('MergesQueue')} + ${inQueue('MergesQueue', 'Not')} >= 1, 6 × 60 s`,
  DeadLetters: `${inQueue('MergesDeadLetters')} >= 1, 1 × 60 s`,
  RelayLate: 'Maximum AWS/Lambda IteratorAge FunctionName=relayFunction >= 60000, 5 × 60 s',
  RelayDeadLetters: `${inQueue('RelayDeadLetters')} >= 1, 1 × 60 s`,
  FeedBehind: 'Maximum AWS/SQS ApproximateAgeOfOldestMessage QueueName=FeedQueue.QueueName >= 300, 2 × 60 s',
  FeedRefused: `Sum ${NAMESPACE} RefusedRecords service=incident-monitoring-rum >= 1, 1 × 60 s`,
  FeedDeadLetters: `${inQueue('FeedDeadLetters')} >= 1, 1 × 60 s`,

  ManyRefused: `IF(Sum ${NAMESPACE} RefusedCalls >= 300, Sum ${NAMESPACE} RefusedCalls / Sum ${NAMESPACE} AnsweredCalls, 0) >= 0.1, 3 × 300 s`,
  ManyClientErrors: `IF(${gateway('4XXError')} >= 300, ${gateway('4XXError')} / ${gateway('Count')}, 0) >= 0.5, 3 × 300 s`,
  StageRateNear: `MAX([${PATHS.map(callsOf).join(', ')}]) / 60 >= 400, 2 × 60 s`,
  Flood: `Sum ${NAMESPACE} OtherCalls >= 3000, 3 × 60 s`,
  NoTraffic: `${gateway('Count')} < 1, 1 × 1800 s, or without data`,
  SmokeFailed: 'Sum AWS/Events FailedInvocations RuleName=SmokeSchedule >= 1, 2 × 300 s',
};

describe('the alarms', () => {
  it('are these, each with its condition', () => {
    const found = Object.entries(alarms).map(([id, alarm]) => [id, conditionOf(alarm)]);
    expect(Object.fromEntries(found)).toEqual(CONDITIONS);
  });

  it('are sent to the address and the topic of the settings, except parts of composite alarms', () => {
    const alarmTopicArn = 'arn:aws:sns:eu-west-1:123456789012:on-call';
    for (const [settings, topics] of [
      [SETTINGS, ['WatchAlarms']],
      [{ ...SETTINGS, alarmTopicArn }, ['WatchAlarms', alarmTopicArn]],
    ] as const)
      for (const [id, { AlarmActions }] of Object.entries(alarmsOf(deployed(settings))))
        expect([id, AlarmActions]).toEqual([id, /^ErrorBudget\w+(Long|Short)$/.test(id) ? undefined : topics]);
    expect(propertiesOf('AWS::SNS::Subscription', template)).toEqual({
      WatchAlarmsopsexamplecom: { Endpoint: 'ops@example.com', Protocol: 'email', TopicArn: 'WatchAlarms' },
    });
    for (const settings of [{}, { alarmTopicArn }])
      expect(resourcesOf(deployed(settings), 'AWS::SNS::Topic')).toEqual({});
  });

  it('are published by CloudWatch for this account, since the topic policy replaces the default one, and only with TLS', () => {
    const { PolicyDocument, Topics } = propertiesOf('AWS::SNS::TopicPolicy', template).WatchAlarmsPolicy;
    expect(Topics).toEqual(['WatchAlarms']);
    const publish = { Sid: expect.any(String), Action: 'sns:Publish', Resource: 'WatchAlarms' };
    expect(PolicyDocument.Statement).toEqual([
      { ...publish, Effect: 'Deny', Principal: '*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      {
        ...publish,
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': 'AWS::AccountId' } },
      },
    ]);
  });

  it('cost what docs/cost.md lists', () => {
    const metricsOf = (template: Template) =>
      Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).flatMap(
        ({ Properties: { Metrics } }) =>
          Metrics?.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat) ?? [{}],
      ).length;
    const metricCount = metricsOf(deployed());
    const [composites, canary] = [2, metricsOf(deployed({ rollout: 'canary' })) - metricCount];
    const dollars = (metrics: number) => (0.1 * metrics + 0.5 * composites).toFixed(2);
    expect(readFileSync('docs/cost.md', 'utf8')).toContain(
      `| alarms: ${metricCount} metrics at 0.10, two composite ones at 0.50 (\`rollout=canary\`: ${canary} more metrics)` +
        ` | ${dollars(metricCount)} (${dollars(metricCount + canary)}) |`,
    );
  });
});

describe('calls are counted in the access log, whether a function or API Gateway answered them', () => {
  const operations = PATHS.map((path) => `($.resource = "${path}")`).join(' || ');
  const others = PATHS.map((path) => `($.resource != "${path}")`).join(' && ');

  it('by operation, by outcome, and those of no operation', () => {
    const counted = (MetricName: string, FilterPattern: string, more: object = { DefaultValue: 0 }) => ({
      FilterPattern,
      LogGroupName: 'ServiceAccessLog',
      MetricTransformations: [{ MetricNamespace: NAMESPACE, MetricName, MetricValue: '1', ...more }],
    });
    expect(Object.values(propertiesOf('AWS::Logs::MetricFilter', template))).toEqual([
      counted('AnsweredCalls', `{ ${operations} }`),
      counted('FailedCalls', `{ (${operations}) && ($.status = "5*") }`),
      // A metric with dimensions cannot have a default value.
      counted('OperationCalls', `{ ${operations} }`, { Dimensions: [{ Key: 'resource', Value: '$.resource' }] }),
      counted('RefusedCalls', `{ (${operations}) && ($.status = "429") }`),
      counted('OtherCalls', `{ ${others} }`),
    ]);
  });

  it('and one rule ranks the refused accounts, whatever their number', () => {
    const { RuleBody, ...rule } = readable(only('AWS::CloudWatch::InsightRule', template).Properties);
    expect(rule).toEqual({ RuleName: 'Service-refused-accounts', RuleState: 'ENABLED' });
    expect(JSON.parse(RuleBody)).toEqual({
      Schema: { Name: 'CloudWatchLogRule', Version: 1 },
      LogGroupNames: ['ServiceAccessLog'],
      LogFormat: 'JSON',
      Contribution: { Keys: ['$.account_id', '$.resource', '$.error'], Filters: [{ Match: '$.status', In: ['429'] }] },
      AggregateOn: 'Count',
    });
  });
});

describe('the scheduled call', () => {
  it('has an app key from a secret, comes every five minutes, and is not repeated when it fails', () => {
    const { AuthParameters } = readable(only('AWS::Events::Connection', template).Properties);
    expect(AuthParameters.InvocationHttpParameters.QueryStringParameters).toEqual([
      { Key: 'app_key', Value: '{{resolve:secretsmanager:smoke-key:SecretString:::}}', IsValueSecret: true },
    ]);
    const { InvocationEndpoint, HttpMethod } = readable(only('AWS::Events::ApiDestination', template).Properties);
    expect([HttpMethod, InvocationEndpoint]).toEqual(['POST', expect.stringMatching(/\/rum\/resource\/info$/)]);
    expect(propertiesOf('AWS::Events::Rule', template).SmokeSchedule).toMatchObject({
      ScheduleExpression: 'rate(5 minutes)',
      Targets: [{ Input: '{}', RetryPolicy: { MaximumRetryAttempts: 0 } }],
    });
  });

  it('and the alarm on no traffic are off by default', () => {
    const defaultTemplate = deployed();
    const optional = Object.keys(alarms).filter((id) => !(id in alarmsOf(defaultTemplate)));
    expect(optional).toEqual(['NoTraffic', 'SmokeFailed']);
    expect(propertiesOf('AWS::Events::Connection', defaultTemplate)).toEqual({});
  });
});
