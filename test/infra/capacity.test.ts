/** How the functions share Lambda's concurrency. Its alarms: monitoring.test.ts. */
import { describe, expect, it } from 'vitest';
import { functionsOf } from '../../packages/local/template.ts';
import { deployed, propertiesOf } from '../support/stack.ts';

describe('concurrent executions', () => {
  // Without the setting none are reserved: an account with a limit of 10 would refuse the deployment (functions.test.ts).
  it.each([
    [900, { authorizer: 270, browse: 225, rum: 135, merge: 180, other: 45 }],
    [20, { authorizer: 6, browse: 5, rum: 3, merge: 4, other: 1 }],
  ])('%d reserved are divided, and all functions together get no more', (total, { authorizer, ...operations }) => {
    const reserved = [...functionsOf(deployed({ reservedConcurrency: String(total) }))].flatMap(
      ([name, { Properties }]): [string, number][] =>
        'ReservedConcurrentExecutions' in Properties ? [[name, Properties.ReservedConcurrentExecutions]] : [],
    );
    expect(Object.fromEntries(reserved)).toEqual({
      'usage-key-authorizer': authorizer,
      'browse-fleet': operations.browse,
      'get-rum-resource': operations.rum,
      'merge-alerts': operations.merge,
      'fallback-route': operations.other,
      'openapi-document': operations.other,
    });
    expect(reserved.reduce((sum, [, one]) => sum + one, 0)).toBeLessThanOrEqual(total);
  });

  it.each([
    ['mergeConcurrency', 'MergesQueue'],
    ['feedConcurrency', 'FeedQueue'],
  ])('that a backlog may take are as many as the setting %s says', (setting, queue) => {
    const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', deployed({ [setting]: '3' })));
    const ofQueue = mappings.filter(({ EventSourceArn }) => EventSourceArn === `${queue}.Arn`);
    expect(ofQueue).toMatchObject([{ ScalingConfig: { MaximumConcurrency: 3 } }]);
  });

  it.each([
    [{}, 800],
    [{ concurrencyLimit: '10' }, 8],
  ])('raise an alarm at four fifths of the account’s limit: %o', (context, Threshold) => {
    const { WatchCapacityConcurrencyNearLimit } = propertiesOf('AWS::CloudWatch::Alarm', deployed(context));
    expect(WatchCapacityConcurrencyNearLimit).toMatchObject({ Threshold });
  });
});
