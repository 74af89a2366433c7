/** The templates of `examples/events` and `examples/feed`, with the events that the service and AWS document. */
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import { expect, it } from 'vitest';
import { eventSamples } from '../../infra/generate/events.ts';
import { recordOf } from '../../lib/ingest/records.ts';
import { SERVICE } from '../../lib/shared/log.ts';

/** The properties of an example's only rule, and its template. */
function example(file: string) {
  const stack = new Stack(new App());
  new CfnInclude(stack, 'Example', { templateFile: `examples/${file}` });
  const template = Template.fromStack(stack);
  const [{ Properties: rule } = {}] = Object.values(template.findResources('AWS::Events::Rule'));
  const [target] = rule.Targets;
  return { template, pattern: rule.EventPattern, target, ...target.InputTransformer };
}

/**
 * What an input transformer makes of an event. In a string of the template a variable is its text, elsewhere its JSON.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
 */
function transformed(paths: Record<string, string>, template: string, event: object): string {
  // A path is a $ and names, each after a dot.
  const valueAt = (name: string) =>
    (/^\$\.([\w.-]+)$/.exec(paths[name] ?? '')?.[1] ?? expect.fail(name))
      .split('.')
      .reduce<unknown>((inner, part) => (inner as Record<string, unknown>)[part], event);
  const parts = template.split(/("(?:[^"\\]|\\.)*")/).map((part) =>
    part.replace(/<([\w-]+)>/g, (_whole, name) => {
      const value = valueAt(name);
      return part.startsWith('"') && typeof value === 'string' ? value : JSON.stringify(value);
    }),
  );
  return parts.join('');
}

it('a merge is posted to the chat as the text that an incoming webhook takes', () => {
  const { pattern, InputPathsMap, InputTemplate } = example('events/chat.yaml');
  const detail = { account_id: [expect.any(Number)] };
  expect(pattern).toEqual({ source: [SERVICE], 'detail-type': ['AlertsMerged'], detail });
  const event = JSON.parse(JSON.stringify(eventSamples().find(({ type }) => type === 'AlertsMerged')));
  const { account_id, alerts, incident_id, by } = event.detail;
  expect(JSON.parse(transformed(InputPathsMap, InputTemplate, event))).toEqual({
    text: `Account ${account_id}: ${alerts} alerts merged into incident ${incident_id} by ${by}`,
  });
});

/** CloudWatch User Guide, "Alarm events and EventBridge": sample event of a single-metric alarm in ALARM, shortened. */
const ALARM_EVENT = {
  version: '0',
  id: 'c4c1c1c9-6542-e61b-6ef0-8c4d36933a92',
  'detail-type': 'CloudWatch Alarm State Change',
  source: 'aws.cloudwatch',
  account: '123456789012',
  time: '2019-10-02T17:04:40Z',
  region: 'us-east-1',
  detail: { alarmName: 'ServerCpuTooHigh', state: { value: 'ALARM', timestamp: '2019-10-02T17:04:40.989+0000' } },
};

it('a CloudWatch alarm becomes an alert, the same however often its event comes', () => {
  const { template, target, InputPathsMap, InputTemplate } = example('feed/cloudwatch-alarms.yaml');
  // A queue has only one policy: another would replace that of the service's stack.
  template.resourceCountIs('AWS::SQS::QueuePolicy', 0);
  expect(target.SqsParameters).toEqual({ MessageGroupId: { Ref: 'AccountId' } });
  const text = InputTemplate['Fn::Sub'].replace('$' + '{AccountId}', '1');
  const body = transformed(InputPathsMap, text, ALARM_EVENT);
  const sentMs = Date.parse(ALARM_EVENT.time) + 1_000;
  const alert_id = expect.stringMatching(/^[0-9a-f]{24}$/);
  const record = recordOf(body, { sentMs, messageId: 'm', line: 1 });
  expect(record).toMatchObject({
    record: { atMs: sentMs, entity: { kind: 'alert', account_id: 1, title: 'ServerCpuTooHigh', alert_id } },
  });
});
