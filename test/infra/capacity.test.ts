/** How the functions share Lambda's concurrency, and the alarms before it runs out. */
import { describe, expect, it } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, idOfFunction, propertiesOf } from '../support/stack.ts';

const reservedIn = (context: Record<string, string>) =>
  Object.fromEntries(
    [...functionsOf(deployed(context))].flatMap(
      ([
        name,
        {
          Properties: { ReservedConcurrentExecutions: of },
        },
      ]) => (of === undefined ? [] : [[name, of]]),
    ),
  );

describe('concurrent executions', () => {
  it('are not reserved by default: an account with a limit of 10 would refuse the deployment', () => {
    expect(reservedIn({})).toEqual({});
  });

  it.each([
    [900, [270, 225, 135, 180, 45, 45]],
    [20, [6, 5, 3, 4, 1, 1]],
  ])(
    '%d reserved are divided, and all functions together get no more',
    (total, [authorizer, browse, rum, merge, ...others]) => {
      const reserved = reservedIn({ reservedConcurrency: String(total) });
      expect(reserved).toEqual({
        'usage-key-authorizer': authorizer,
        'browse-fleet': browse,
        'get-rum-resource': rum,
        'merge-alerts': merge,
        'fallback-route': others[0],
        'openapi-document': others[1],
      });
      expect(Object.values<number>(reserved).reduce((sum, one) => sum + one)).toBeLessThanOrEqual(total);
    },
  );

  it.each([
    ['mergeConcurrency', 'MergesQueue'],
    ['feedConcurrency', 'FeedQueue'],
  ])('that a backlog may take are as many as the setting %s says', (setting, queue) => {
    const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', deployed({ [setting]: '3' })));
    const ofQueue = mappings.filter(({ EventSourceArn }) => EventSourceArn === `${queue}.Arn`);
    expect(ofQueue).toMatchObject([{ ScalingConfig: { MaximumConcurrency: 3 } }]);
  });
});

describe('alarms', () => {
  const template = deployed();
  const alarms = propertiesOf('AWS::CloudWatch::Alarm', template);

  it.each([...functionsOf(template).keys()])('Throttled-%s: Lambda refuses its calls for two minutes', (name) => {
    expect(alarms[`WatchCapacityThrottled${name.replaceAll('-', '')}`]).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'Throttles',
      Dimensions: [{ Name: 'FunctionName', Value: `${idOfFunction(name)}Function` }],
      Statistic: 'Sum',
      Period: 60,
      EvaluationPeriods: 2,
      Threshold: 1,
    });
  });

  it.each([
    [{}, 800],
    [{ concurrencyLimit: '10' }, 8],
  ])('ConcurrencyNearLimit: the account uses four fifths of its limit, with %o', (context, threshold) => {
    const alarm = propertiesOf('AWS::CloudWatch::Alarm', deployed(context)).WatchCapacityConcurrencyNearLimit;
    expect(alarm).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'ConcurrentExecutions',
      Statistic: 'Maximum',
      Threshold: threshold,
    });
    // Without dimensions it is the account's metric, not a function's.
    expect(alarm.Dimensions).toBeUndefined();
  });
});
