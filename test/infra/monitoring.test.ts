import { describe, expect, it } from 'vitest';
import { functionsOf, resourcesOf, type Template } from '../../packages/local/template.ts';
import { deployed, idOfFunction, OPERATIONS, propertiesOf } from './stack.ts';

const NAMESPACE = 'IncidentMonitoringRum/Service';
const SETTINGS = { alarmEmail: 'ops@example.com' };
const template = deployed(SETTINGS);

/** All alarms by the beginnings of their ids. */
const alarmsOf = (template: Template) =>
  Object.fromEntries(
    ['Alarm', 'CompositeAlarm'].flatMap((type) =>
      Object.entries(propertiesOf(`AWS::CloudWatch::${type}`, template)).map(([id, properties]) => [
        id.replace(/^Watch(ServiceLevel)?/, ''),
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

const OPERATORS: Record<string, string> = { GreaterThanOrEqualToThreshold: '>=', GreaterThanThreshold: '>' };
/**
 * When an alarm is raised, as text: `STATISTIC METRIC DIMENSION=VALUE >= THRESHOLD, PERIODS × SECONDS s`, with an expression in place of
 * the metric, and `DATAPOINTS of PERIODS` where fewer suffice. Fails if the alarm has any other property.
 */
function conditionOf({ AlarmDescription, AlarmActions: _sent, ...alarm }: (typeof alarms)[string]): string {
  expect(AlarmDescription).toEqual(expect.any(String));
  if ('AlarmRule' in alarm) return alarm.AlarmRule;
  const { Metrics, Threshold, EvaluationPeriods, DatapointsToAlarm, ComparisonOperator, ...single } = alarm;
  const { Namespace, MetricName, Dimensions, Statistic, Period, ...rest } = single;
  // The lack of data raises no alarm.
  expect(rest).toEqual({ TreatMissingData: 'notBreaching' });
  let [metric, seconds] = [metricText(Statistic, { Namespace, MetricName, Dimensions }), Period];
  if (Metrics) {
    // CloudWatch allows ten metrics in an alarm, besides its expressions.
    expect(Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat).length).toBeLessThanOrEqual(10);
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
  const threshold = Number(Threshold.toFixed(6));
  const periods =
    DatapointsToAlarm < EvaluationPeriods ? `${DatapointsToAlarm} of ${EvaluationPeriods}` : EvaluationPeriods;
  return `${metric} ${OPERATORS[ComparisonOperator]} ${threshold}, ${periods} × ${seconds} s`;
}

const alarms = alarmsOf(template);

const inQueue = (queue: string, which = '') =>
  `Maximum AWS/SQS ApproximateNumberOfMessages${which}Visible QueueName=${queue}.QueueName`;
const failedShare = `Sum ${NAMESPACE} FailedCalls / Sum ${NAMESPACE} AnsweredCalls`;
const enoughFailed = `IF(Sum ${NAMESPACE} FailedCalls >= 5, ${failedShare}, 0)`;
const bothWindows = (id: string) =>
  `(ALARM("WatchServiceLevel${id}Long.Arn") AND ALARM("WatchServiceLevel${id}Short.Arn"))`;
/** A sum in which a metric without data counts as 0. */
const sum = (...metrics: string[]) => metrics.map((metric) => `FILL(${metric}, 0)`).join(' + ');
const concurrent = 'Maximum AWS/Lambda ConcurrentExecutions';

const READ_NOTHING = ['fallback-route', 'openapi-document'];

const CONDITIONS = {
  // The objective is 99.9 %. Its error budget burns 14.4 (or 6) times too fast in a long window, and still does in a short one.
  ErrorBudgetFast: bothWindows('ErrorBudgetFast'),
  ErrorBudgetFastLong: `${enoughFailed} > 0.0144, 1 × 3600 s`,
  ErrorBudgetFastShort: `${failedShare} > 0.0144, 1 × 300 s`,
  ErrorBudgetSlow: bothWindows('ErrorBudgetSlow'),
  ErrorBudgetSlowLong: `${enoughFailed} > 0.006, 1 × 21600 s`,
  ErrorBudgetSlowShort: `${failedShare} > 0.006, 1 × 1800 s`,

  // Without dimensions it is the account's metric, not a function's.
  ConcurrencyNearLimit: `${concurrent} / SERVICE_QUOTA(${concurrent}) >= 0.8, 2 × 60 s`,
  FunctionsThrottled: `${sum(
    ...[...functionsOf(template).keys()]
      .filter((name) => !READ_NOTHING.includes(name))
      .map((name) => `Sum AWS/Lambda Throttles FunctionName=${idOfFunction(name)}Function`),
  )} >= 1, 2 × 60 s`,
  TableThrottled: `${sum(
    ...['Read', 'Write'].map((access) => `Sum AWS/DynamoDB ${access}ThrottleEvents TableName=Table`),
  )} >= 1, 2 × 60 s`,
  AuthorizerFailures: 'Sum AWS/Lambda Errors FunctionName=usagekeyauthorizerFunction >= 1, 2 × 60 s',
  Flood: `Sum ${NAMESPACE} RefusedCalls >= 3000, 3 × 60 s`,

  // Messages that wait and messages that were tried.
  MergesPending: `${sum(inQueue('MergesQueue'), inQueue('MergesQueue', 'Not'))} >= 1, 6 × 60 s`,
  DeadLetters: `${inQueue('MergesDeadLetters')} >= 1, 1 × 60 s`,
  RelayLate: 'Maximum AWS/Lambda IteratorAge FunctionName=relayFunction >= 60000, 5 × 60 s',
  RelayDeadLetters: `${inQueue('RelayDeadLetters')} >= 1, 1 × 60 s`,
  FeedBehind: 'Maximum AWS/SQS ApproximateAgeOfOldestMessage QueueName=FeedQueue.QueueName >= 300, 2 × 60 s',
  FeedFailing: `${sum(
    'Sum AWS/Lambda FailedInvokeEventCount EventSourceMappingUUID=ingestrecordsFunctionSqsEventSourceServiceFeedQueue6F865DE7',
    'Sum AWS/Lambda Errors FunctionName=ingestrecordsFunction',
    inQueue('FeedDeadLetters'),
  )} >= 1, 2 of 20 × 60 s`,
  FeedRefused: `Sum ${NAMESPACE} RefusedRecords service=incident-monitoring-rum >= 1, 1 × 60 s`,
};

describe('the alarms', () => {
  it('are these, each with its condition', () => {
    const found = Object.entries(alarms).map(([id, alarm]) => [id, conditionOf(alarm)]);
    expect(Object.fromEntries(found)).toEqual(CONDITIONS);
    expect(Object.keys(resourcesOf(template, 'AWS::CloudWatch::Alarm'))).toHaveLength(16);
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
});

it('calls are counted in the access log, whether a function or API Gateway answered them', () => {
  const operations = OPERATIONS.map(([route]) => `($.resource = "${route.replace('POST ', '')}")`).join(' || ');
  const counted = (MetricName: string, FilterPattern: string) => ({
    FilterPattern,
    LogGroupName: 'ServiceAccessLog',
    MetricTransformations: [{ MetricNamespace: NAMESPACE, MetricName, MetricValue: '1', DefaultValue: 0 }],
  });
  expect(Object.values(propertiesOf('AWS::Logs::MetricFilter', template))).toEqual([
    counted('AnsweredCalls', `{ ${operations} }`),
    counted('FailedCalls', `{ (${operations}) && ($.status = "5*") }`),
    counted('RefusedCalls', '{ $.status = "4*" }'),
  ]);
});
