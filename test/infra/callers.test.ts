/** The alarms on callers, the ranking of refused accounts, and the scheduled call. */
import { describe, expect, it } from 'vitest';
import { deployed, only, propertiesOf, readable } from '../support/stack.ts';

const template = deployed({ stageRate: '500', noTrafficMinutes: '30', smokeKeySecret: 'smoke-key' });
const alarms = propertiesOf('AWS::CloudWatch::Alarm', template);
const filters = propertiesOf('AWS::Logs::MetricFilter', template);
const PATHS = ['/monit/servicemap/fleet', '/rum/resource/info', '/incident/work-item/delete', '/alert/merge'];
const operations = PATHS.map((path) => `($.resource = "${path}")`).join(' || ');
const others = PATHS.map((path) => `($.resource != "${path}")`).join(' && ');

/** An alarm's expression, with statistic and metric in place of each id, and the minutes until it is raised. */
function formulaOf({ Metrics, ...alarm }: (typeof alarms)[string]): [formula: string, minutes: number] {
  if (!Metrics)
    return [`${alarm.Statistic} ${alarm.Namespace} ${alarm.MetricName}`, (alarm.Period / 60) * alarm.EvaluationPeriods];
  const [{ Expression }, ...parts] = Metrics;
  const formula = parts.reduce(
    (text: string, { Id, MetricStat: { Metric, Stat } }: (typeof Metrics)[number]) =>
      text.replaceAll(
        new RegExp(`\\b${Id}\\b`, 'g'),
        [
          Stat,
          Metric.Namespace.replace(/^IncidentMonitoringRum.Service$/, 'own'),
          Metric.MetricName,
          ...(Metric.Dimensions ?? []).map(({ Value }: { Value: string }) => Value),
        ].join(' '),
      ),
    Expression,
  );
  return [formula, (parts[0].MetricStat.Period / 60) * alarm.EvaluationPeriods];
}

const NEVER = 'notBreaching';
it.each([
  ['ManyRefused', 'IF(Sum own RefusedCalls >= 300, Sum own RefusedCalls / Sum own AnsweredCalls, 0)', 0.1, 15, NEVER],
  ['StageRateNear', `MAX([${PATHS.map((path) => `Sum own OperationCalls ${path}`).join(', ')}]) / 60`, 400, 2, NEVER],
  ['Flood', 'Sum IncidentMonitoringRum/Service OtherCalls', 3000, 3, NEVER],
  [
    'ManyClientErrors',
    'IF(Sum AWS/ApiGateway 4XXError Service >= 300, Sum AWS/ApiGateway 4XXError Service / Sum AWS/ApiGateway Count Service, 0)',
    0.5,
    15,
    NEVER,
  ],
  ['NoTraffic', 'Sum AWS/ApiGateway Count', 1, 30, 'breaching'],
])('%s: %s reaches %d for %d min', (id, formula, threshold, minutes, missing) => {
  const alarm = alarms[`WatchCallers${id}`];
  expect(formulaOf(alarm)).toEqual([formula, minutes]);
  expect(alarm).toMatchObject({ Threshold: threshold, TreatMissingData: missing });
  expect(alarm.ComparisonOperator).toBe(id === 'NoTraffic' ? 'LessThanThreshold' : 'GreaterThanOrEqualToThreshold');
});

it('counts calls of each operation, calls refused with 429, and all other calls, whether a function or API Gateway answered', () => {
  const found = Object.values(filters).map(({ FilterPattern, MetricTransformations: [{ MetricName, Dimensions }] }) => [
    MetricName,
    FilterPattern,
    Dimensions,
  ]);
  expect(found).toEqual(
    expect.arrayContaining([
      ['OperationCalls', `{ ${operations} }`, [{ Key: 'resource', Value: '$.resource' }]],
      ['RefusedCalls', `{ (${operations}) && ($.status = "429") }`, undefined],
      ['OtherCalls', `{ ${others} }`, undefined],
    ]),
  );
});

it('ranks the refused accounts in one rule, whatever their number', () => {
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

describe('the scheduled call', () => {
  it('is one that a customer could make: with an app key from a secret, every five minutes, and not repeated when it fails', () => {
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
    expect(alarms.SmokeFailed).toMatchObject({
      Namespace: 'AWS/Events',
      MetricName: 'FailedInvocations',
      Dimensions: [{ Name: 'RuleName', Value: 'SmokeSchedule' }],
      Period: 300,
      EvaluationPeriods: 2,
      Threshold: 1,
    });
  });

  it('and the alarm on no traffic are off by default', () => {
    const usual = deployed();
    expect(Object.keys(propertiesOf('AWS::CloudWatch::Alarm', usual))).not.toContain('WatchCallersNoTraffic');
    expect(propertiesOf('AWS::Events::Connection', usual)).toEqual({});
  });
});
