/** The templates of `examples/events` and `examples/feed`, with the events that the service and AWS document. */
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import { expect, it } from 'vitest';
import { eventSamples } from '../../infra/generate/events.ts';
import { recordOf } from '../../lib/ingest/records.ts';
import { SERVICE } from '../../lib/shared/log.ts';

/** The template of an example, and the properties of its only rule. */
function example(templateFile: string) {
  const stack = new Stack(new App({ analyticsReporting: false, builtinCloudFormationValidation: false }));
  new CfnInclude(stack, 'Example', { templateFile });
  const template = Template.fromStack(stack);
  const [{ Properties } = {}] = Object.values(template.findResources('AWS::Events::Rule'));
  const [{ InputTransformer, ...target }] = Properties.Targets;
  return { template, pattern: Properties.EventPattern, target, ...InputTransformer };
}

/**
 * What an input transformer makes of an event. In a string of the template a variable is its text, elsewhere its JSON.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
 */
function transformed(paths: Record<string, string>, template: string, event: object): string {
  const valueAt = (name: string) =>
    (/^\$\.([\w.-]+)$/.exec(paths[name] ?? '')?.[1] ?? expect.fail(name))
      .split('.')
      .reduce<unknown>((inner, part) => (inner as Record<string, unknown>)[part], event);
  return template.replace(/"[^"]*"|<\w+>/g, (part) =>
    part.startsWith('"')
      ? part.replace(/<(\w+)>/g, (_variable, name) => String(valueAt(name)))
      : JSON.stringify(valueAt(part.slice(1, -1))),
  );
}

it('a merge is posted to the chat as the text that an incoming webhook takes', () => {
  const { pattern, InputPathsMap, InputTemplate } = example('examples/events/chat.yaml');
  const detail = { account_id: [expect.any(Number)] };
  expect(pattern).toEqual({ source: [SERVICE], 'detail-type': ['AlertsMerged'], detail });
  const event = JSON.parse(JSON.stringify(eventSamples().find(({ type }) => type === 'AlertsMerged')));
  const { account_id, alerts, incident_id, by } = event.detail;
  expect(JSON.parse(transformed(InputPathsMap, InputTemplate, event))).toEqual({
    text: `Account ${account_id}: ${alerts} alerts merged into incident ${incident_id} by ${by}`,
  });
});

it('a CloudWatch alarm becomes an alert', () => {
  const { template, target, InputPathsMap, InputTemplate } = example('examples/feed/cloudwatch-alarms.yaml');
  // A queue has only one policy: another would replace that of the service's stack.
  template.resourceCountIs('AWS::SQS::QueuePolicy', 0);
  expect(target.SqsParameters).toEqual({ MessageGroupId: { Ref: 'AccountId' } });
  const text = InputTemplate['Fn::Sub'].replace('$' + '{AccountId}', '1');
  // CloudWatch User Guide, "Alarm events and EventBridge": a sample event, shortened.
  const alarm = { id: 'c4c1c1c9-6542-e61b-6ef0-8c4d36933a92', detail: { alarmName: 'ServerCpuTooHigh' } };
  const sentMs = Date.parse('2019-10-02T17:04:41Z');
  const alert_id = expect.stringMatching(/^[0-9a-f]{24}$/);
  expect(recordOf(transformed(InputPathsMap, text, alarm), { sentMs, messageId: 'm', line: 1 })).toMatchObject({
    record: { atMs: sentMs, entity: { kind: 'alert', account_id: 1, title: 'ServerCpuTooHigh', alert_id } },
  });
});
