/** Alarms, as docs/operate.md tells of them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { resourcesOf, synthesize, type Template } from '../../infra/local/template.ts';

let template: Template;
beforeAll(() => {
  template = synthesize({ alarmEmail: 'ops@example.com' });
});
/** The alarms of a type, by the beginnings of their ids. */
const alarms = (type: 'Alarm' | 'CompositeAlarm') =>
  new Map(
    Object.entries(resourcesOf(template, `AWS::CloudWatch::${type}`)).map(([id, resource]) => [
      id.replace(/^Watch(ServiceLevel)?/, '').replace(/[0-9A-F]{8}$/, ''),
      { id, ...resource.Properties },
    ]),
  );

describe('the objective of 99.9 %', () => {
  it('counts each answer to a call of an operation, whoever made it, and those of them that are 5xx', () => {
    const filters = Object.values(resourcesOf(template, 'AWS::Logs::MetricFilter')).map(
      ({ Properties: { FilterPattern, LogGroupName, MetricTransformations } }) => ({
        FilterPattern,
        LogGroupName,
        MetricTransformations,
      }),
    );
    const operations =
      '($.resource = "/monit/servicemap/fleet") || ($.resource = "/rum/resource/info")' +
      ' || ($.resource = "/incident/work-item/delete") || ($.resource = "/alert/merge")';
    const [accessLog] = Object.keys(resourcesOf(template, 'AWS::Logs::LogGroup')).filter((id) => /AccessLog/.test(id));
    const counted = (MetricName: string) => ({
      LogGroupName: { Ref: accessLog },
      MetricTransformations: [
        { MetricNamespace: 'IncidentMonitoringRum/Service', MetricName, MetricValue: '1', DefaultValue: 0 },
      ],
    });
    expect(filters).toEqual([
      { FilterPattern: `{ ${operations} }`, ...counted('AnsweredCalls') },
      { FilterPattern: `{ (${operations}) && ($.status = "5*") }`, ...counted('FailedCalls') },
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
    for (const [name, period, expression] of windows) {
      const alarm = alarms('Alarm').get(`${id}${name}`);
      expect(alarm).toMatchObject({
        ComparisonOperator: 'GreaterThanThreshold',
        EvaluationPeriods: 1,
        TreatMissingData: 'notBreaching',
      });
      expect(alarm?.Threshold).toBeCloseTo(burnRate * 0.001);
      const [math, ...metrics] = alarm?.Metrics ?? [];
      expect(math.Expression).toBe(expression);
      const read = metrics.map((each: { Id: string; MetricStat: { Metric: object; Period: number; Stat: string } }) => [
        each.Id,
        each.MetricStat,
      ]);
      const stat = (MetricName: string) => ({
        Metric: { Namespace: 'IncidentMonitoringRum/Service', MetricName },
        Period: period,
        Stat: 'Sum',
      });
      expect(Object.fromEntries(read)).toEqual({ answered: stat('AnsweredCalls'), failed: stat('FailedCalls') });
      expect(alarm).not.toHaveProperty('AlarmActions');
    }
    const composite = alarms('CompositeAlarm').get(id);
    const arn = (name: string) => ({ 'Fn::GetAtt': [alarms('Alarm').get(`${id}${name}`)?.id, 'Arn'] });
    expect(composite?.AlarmRule).toEqual({
      'Fn::Join': ['', ['(ALARM("', arn('Long'), '") AND ALARM("', arn('Short'), '"))']],
    });
    expect(composite?.AlarmActions).toHaveLength(1);
  });
});

describe('the alarms', () => {
  it('are one for each thing to do, and all are sent but the parts of others', () => {
    const ids = [...alarms('Alarm').keys()].sort();
    expect(ids).toEqual([
      'AccountsUnprovisioned',
      'AuthorizerFailures',
      'DeadLetters',
      'ErrorBudgetFastLong',
      'ErrorBudgetFastShort',
      'ErrorBudgetSlowLong',
      'ErrorBudgetSlowShort',
      'MergePipeFailed',
      'MergesPending',
      'Slowbrowsefleet',
      'Slowdeleteworkitem',
      'Slowgetrumresource',
      'Slowmergealerts',
      'TableReadThrottled',
      'TableWriteThrottled',
    ]);
    for (const [id, { AlarmActions }] of alarms('Alarm'))
      expect([id, AlarmActions?.length ?? 0]).toEqual([id, /Long$|Short$/.test(id) ? 0 : 1]);
  });

  it.each([
    ['TableReadThrottled', 'ReadThrottleEvents'],
    ['TableWriteThrottled', 'WriteThrottleEvents'],
  ])('%s counts the throttled rows, of every action', (id, MetricName) => {
    const [table] = Object.keys(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'));
    expect(alarms('Alarm').get(id)).toMatchObject({
      Namespace: 'AWS/DynamoDB',
      MetricName,
      Dimensions: [{ Name: 'TableName', Value: { Ref: table } }],
      Statistic: 'Sum',
      Period: 60,
      Threshold: 1,
      EvaluationPeriods: 2,
    });
    expect(JSON.stringify(resourcesOf(template, 'AWS::CloudWatch::Dashboard'))).toContain(MetricName);
  });
});
