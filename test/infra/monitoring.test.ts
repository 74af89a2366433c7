/** Each alarm: what it reads, when it is raised, and that it is sent. Its runbook: test/integration/runbooks. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resourcesOf } from '../../packages/local/template.ts';
import { deployed, propertiesOf } from '../support/stack.ts';

const document = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const template = deployed({ alarmEmail: 'ops@example.com', noTrafficMinutes: '30', smokeKeySecret: 'smoke' });
/** The alarms by the beginnings of their ids. */
const alarms = Object.fromEntries(
  ['Alarm', 'CompositeAlarm'].flatMap((type) =>
    Object.entries(propertiesOf(`AWS::CloudWatch::${type}`, template)).map(([id, properties]) => [
      id.replace(/^Watch(ServiceLevel|Capacity|Callers)?/, ''),
      properties,
    ]),
  ),
);

/** Raised when each of so many minutes in a row reaches the threshold. */
type Row = [id: string, metric: string, of: object, statistic: string, threshold: number, minutes: number];
const ALARMS: Row[] = [
  ['Slowbrowsefleet', 'AWS/Lambda Duration', { FunctionName: 'browsefleetFunction' }, 'p99', 2000, 5],
  ['Slowgetrumresource', 'AWS/Lambda Duration', { FunctionName: 'getrumresourceFunction' }, 'p99', 2000, 5],
  ['Slowdeleteworkitem', 'AWS/Lambda Duration', { FunctionName: 'deleteworkitemFunction' }, 'p99', 2000, 5],
  ['Slowmergealerts', 'AWS/Lambda Duration', { FunctionName: 'mergealertsFunction' }, 'p99', 2000, 5],
  ['TableReadThrottled', 'AWS/DynamoDB ReadThrottleEvents', { TableName: 'Table' }, 'Sum', 1, 2],
  ['TableWriteThrottled', 'AWS/DynamoDB WriteThrottleEvents', { TableName: 'Table' }, 'Sum', 1, 2],
  [
    'DeadLetters',
    'AWS/SQS ApproximateNumberOfMessagesVisible',
    { QueueName: 'MergesDeadLetters.QueueName' },
    'Maximum',
    1,
    1,
  ],
  ['FeedRefused', 'IncidentMonitoringRum/Service RefusedRecords', { service: 'incident-monitoring-rum' }, 'Sum', 1, 1],
  ['RelayLate', 'AWS/Lambda IteratorAge', { FunctionName: 'relayFunction' }, 'Maximum', 60_000, 5],
  [
    'RelayDeadLetters',
    'AWS/SQS ApproximateNumberOfMessagesVisible',
    { QueueName: 'RelayDeadLetters.QueueName' },
    'Maximum',
    1,
    1,
  ],
  [
    'FeedDeadLetters',
    'AWS/SQS ApproximateNumberOfMessagesVisible',
    { QueueName: 'FeedDeadLetters.QueueName' },
    'Maximum',
    1,
    1,
  ],
  ['FeedBehind', 'AWS/SQS ApproximateAgeOfOldestMessage', { QueueName: 'FeedQueue.QueueName' }, 'Maximum', 300, 2],
  ['AuthorizerFailures', 'AWS/Lambda Errors', { FunctionName: 'labelcallerFunction' }, 'Sum', 1, 2],
  [
    'AccountsUnprovisioned',
    'IncidentMonitoringRum/Service Events',
    { event: 'account_without_gateway_key', service: 'incident-monitoring-rum' },
    'Sum',
    1,
    1,
  ],
];

describe('the alarms', () => {
  it.each(ALARMS)('%s: %s of %o, %s, reaches %d for %d min', (id, metric, of, statistic, threshold, minutes) => {
    const [Namespace, MetricName] = metric.split(' ');
    expect(alarms[id]).toEqual({
      AlarmDescription: expect.any(String),
      Namespace,
      MetricName,
      Dimensions: Object.entries(of).map(([Name, Value]) => ({ Name, Value })),
      [statistic.startsWith('p') ? 'ExtendedStatistic' : 'Statistic']: statistic,
      Period: 60,
      EvaluationPeriods: minutes,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Threshold: threshold,
      TreatMissingData: 'notBreaching',
      AlarmActions: ['WatchAlarms'],
    });
  });

  it('MergesPending: messages that wait or were tried are there for six minutes in a row', () => {
    const count = (Id: string, MetricName: string) => ({
      Id,
      MetricStat: {
        Metric: {
          Namespace: 'AWS/SQS',
          MetricName,
          Dimensions: [{ Name: 'QueueName', Value: 'MergesQueue.QueueName' }],
        },
        Period: 60,
        Stat: 'Maximum',
      },
      ReturnData: false,
    });
    expect(alarms.MergesPending).toEqual({
      AlarmDescription: expect.any(String),
      Metrics: [
        { Id: expect.any(String), Expression: 'waiting + tried', Label: expect.any(String), ReturnData: true },
        count('waiting', 'ApproximateNumberOfMessagesVisible'),
        count('tried', 'ApproximateNumberOfMessagesNotVisible'),
      ],
      EvaluationPeriods: 6,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Threshold: 1,
      TreatMissingData: 'notBreaching',
      AlarmActions: ['WatchAlarms'],
    });
  });

  it('include these, and the parts of the composite ones', () => {
    const parts = ['FastLong', 'FastShort', 'SlowLong', 'SlowShort'].map((part) => `ErrorBudget${part}`);
    expect(Object.keys(alarms)).toEqual(expect.arrayContaining([...ALARMS.map(([id]) => id), ...parts]));
  });

  it('cost what docs/cost.md lists', () => {
    const metricsOf = (of: typeof template) =>
      Object.values(resourcesOf(of, 'AWS::CloudWatch::Alarm')).flatMap(
        ({ Properties: { Metrics } }) =>
          Metrics?.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat) ?? [{}],
      ).length;
    const usual = metricsOf(deployed());
    const [composites, canary] = [2, metricsOf(deployed({ rollout: 'canary' })) - usual];
    const dollars = (metrics: number) => (0.1 * metrics + 0.5 * composites).toFixed(2);
    expect(document('cost.md')).toContain(
      `| alarms: ${usual} metrics at 0.10, two composite ones at 0.50 (\`rollout=canary\`: ${canary} more metrics)` +
        ` | ${dollars(usual)} (${dollars(usual + canary)}) |`,
    );
  });
});

describe('the topic of the alarms', () => {
  it('is sent to the address of the setting', () => {
    expect(propertiesOf('AWS::SNS::Subscription', template)).toEqual({
      WatchAlarmsopsexamplecom: { Endpoint: 'ops@example.com', Protocol: 'email', TopicArn: 'WatchAlarms' },
    });
    expect(resourcesOf(deployed(), 'AWS::SNS::Topic')).toEqual({});
  });

  it('is also that of alarmTopicArn, for every alarm that is not part of another', () => {
    const alarmTopicArn = 'arn:aws:sns:eu-west-1:123456789012:on-call';
    const both = deployed({
      alarmEmail: 'ops@example.com',
      alarmTopicArn,
      noTrafficMinutes: '30',
      smokeKeySecret: 'smoke',
    });
    const all = ['Alarm', 'CompositeAlarm'].flatMap((type) =>
      Object.entries(propertiesOf(`AWS::CloudWatch::${type}`, both)),
    );
    const sent = all.filter(([id]) => !/ErrorBudget\w+(Long|Short)$/.test(id));
    expect(sent.map(([id, { AlarmActions }]) => [id, AlarmActions])).toEqual(
      sent.map(([id]) => [id, ['WatchAlarms', alarmTopicArn]]),
    );
    expect(sent.map(([id]) => id)).toEqual(expect.arrayContaining(['WatchCallersNoTraffic', 'SmokeFailed']));
    expect(Object.keys(resourcesOf(deployed({ alarmTopicArn }), 'AWS::SNS::Topic'))).toEqual([]);
  });

  it('lets CloudWatch publish for this account, since its policy replaces the default one, and nobody without TLS', () => {
    const { PolicyDocument, Topics } = propertiesOf('AWS::SNS::TopicPolicy', template).WatchAlarmsPolicy;
    expect(Topics).toEqual(['WatchAlarms']);
    expect(PolicyDocument.Statement).toEqual([
      {
        Sid: expect.any(String),
        Effect: 'Deny',
        Action: 'sns:Publish',
        Principal: '*',
        Resource: 'WatchAlarms',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
      {
        Sid: expect.any(String),
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Resource: 'WatchAlarms',
        Condition: { StringEquals: { 'aws:SourceAccount': 'AWS::AccountId' } },
      },
    ]);
  });
});

describe('the objective of 99.9 %', () => {
  it('counts each answer to a call of an operation, whoever made it, and those of them that are 5xx', () => {
    const operations =
      '($.resource = "/monit/servicemap/fleet") || ($.resource = "/rum/resource/info")' +
      ' || ($.resource = "/incident/work-item/delete") || ($.resource = "/alert/merge")';
    const counted = (MetricName: string, FilterPattern: string) => ({
      FilterPattern,
      LogGroupName: 'ServiceAccessLog',
      MetricTransformations: [
        { MetricNamespace: 'IncidentMonitoringRum/Service', MetricName, MetricValue: '1', DefaultValue: 0 },
      ],
    });
    const filters = Object.entries(propertiesOf('AWS::Logs::MetricFilter', template));
    const ofLevel = filters.filter(([id]) => id.startsWith('WatchServiceLevel'));
    expect(ofLevel.map(([, filter]) => filter)).toEqual([
      counted('AnsweredCalls', `{ ${operations} }`),
      counted('FailedCalls', `{ (${operations}) && ($.status = "5*") }`),
    ]);
  });

  it.each([
    ['ErrorBudgetFast', 14.4, 3600, 300],
    ['ErrorBudgetSlow', 6, 21_600, 1800],
  ])('%s: burns %d times too fast in a long window and still in a short one', (id, burnRate, long, short) => {
    const windows = [
      ['Long', long, 'IF(failed >= 5, failed / answered, 0)'],
      ['Short', short, 'failed / answered'],
    ] as const;
    for (const [name, Period, Expression] of windows) {
      const count = (Id: string, MetricName: string) => ({
        Id,
        MetricStat: { Metric: { Namespace: 'IncidentMonitoringRum/Service', MetricName }, Period, Stat: 'Sum' },
        ReturnData: false,
      });
      expect(alarms[`${id}${name}`]).toEqual({
        AlarmDescription: expect.any(String),
        ComparisonOperator: 'GreaterThanThreshold',
        EvaluationPeriods: 1,
        Metrics: [
          { Id: expect.any(String), Expression, Label: expect.any(String), ReturnData: true },
          count('answered', 'AnsweredCalls'),
          count('failed', 'FailedCalls'),
        ],
        Threshold: expect.closeTo(burnRate * 0.001),
        TreatMissingData: 'notBreaching',
      });
    }
    const part = (name: string) => `ALARM("WatchServiceLevel${id}${name}.Arn")`;
    expect(alarms[id]).toEqual({
      AlarmDescription: expect.any(String),
      AlarmName: expect.any(String),
      AlarmRule: `(${part('Long')} AND ${part('Short')})`,
      AlarmActions: ['WatchAlarms'],
    });
  });
});
