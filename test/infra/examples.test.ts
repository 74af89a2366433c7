/** The templates of `examples/events` and `examples/feed`, with the events that the service and AWS document. */
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import { expect, it } from 'vitest';
import { eventSamples } from '../../infra/generate/events.ts';
import { recordOf } from '../../lib/ingest/records.ts';
import { SERVICE } from '../../lib/shared/log.ts';

/** The template of an example, and the properties of one of its rules. */
function example(templateFile: string, rule: string) {
  const stack = new Stack(new App({ analyticsReporting: false, builtinCloudFormationValidation: false }));
  new CfnInclude(stack, 'Example', { templateFile });
  const template = Template.fromStack(stack);
  const { Properties } = template.findResources('AWS::Events::Rule')[rule] ?? expect.fail(rule);
  const [{ InputTransformer, ...target }] = Properties.Targets;
  return { template, pattern: Properties.EventPattern, target, ...InputTransformer };
}

/**
 * What an input transformer makes of an event. In a string of the template a variable is its text, elsewhere its JSON.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
 */
function transformed(paths: Record<string, string>, template: string, event: object): string {
  const valueAt = (name: string) =>
    (/^\$\.([\w.[\]-]+)$/.exec(paths[name] ?? '')?.[1] ?? expect.fail(name))
      .split(/[.[\]]+/)
      .filter(Boolean)
      .reduce<unknown>((inner, part) => (inner as Record<string, unknown>)[part], event);
  return template.replace(/"[^"]*"|<\w+>/g, (part) =>
    part.startsWith('"')
      ? part.replace(/<(\w+)>/g, (_variable, name) => String(valueAt(name)))
      : JSON.stringify(valueAt(part.slice(1, -1))),
  );
}

const CHAT = 'examples/events/chat.yaml';
const sampleOf = (type: string) =>
  JSON.parse(JSON.stringify(eventSamples().find((sample) => sample.type === type) ?? expect.fail(type)));
/** A sender's text that would break out of a text, if it were put into one, and would call all members of a channel. */
const UGLY = 'Disk "7" is \\ full\n<severity> 🔥 @all @channel <!channel>';

it('a merge is posted to the chat as the text that an incoming webhook takes', () => {
  const { pattern, InputPathsMap, InputTemplate } = example(CHAT, 'Merges');
  const detail = { account_id: [expect.any(Number)] };
  expect(pattern).toEqual({ source: [SERVICE], 'detail-type': ['AlertsMerged'], detail });
  const event = sampleOf('AlertsMerged');
  const { account_id, alerts, incident_id, by } = event.detail;
  expect(JSON.parse(transformed(InputPathsMap, InputTemplate, event))).toEqual({
    text: `Account ${account_id}: ${alerts} alerts merged into incident ${incident_id} by ${by}`,
  });
});

it.each([
  ['Triggered', 'AlertTriggered', 'Critical'],
  ['Resolved', 'AlertResolved', 'Resolved'],
])('an alert is posted to the chat, where its title and key call nobody: %s', (rule, type, text) => {
  const { template, pattern, InputPathsMap, InputTemplate } = example(CHAT, rule);
  const detail = { account_id: [expect.any(Number)] };
  expect(pattern).toEqual({ source: [SERVICE], 'detail-type': [type], detail });
  const event = sampleOf(type);
  event.detail.title = UGLY;
  event.detail.alert_key = `key ${UGLY}`;
  expect(JSON.parse(transformed(InputPathsMap, InputTemplate, event))).toEqual({
    text,
    attachments: [{ title: UGLY, footer: `key ${UGLY}` }],
  });
  const [policy] = Object.values(template.findResources('AWS::SQS::QueuePolicy'));
  expect(JSON.stringify(policy)).toContain(`"${rule}.Arn"`);
});

it.each([
  ['Alarm', 'ALARM', 'Critical'],
  ['Ok', 'OK', 'Ok'],
])('a CloudWatch alarm becomes an alert, and its end the end: %s', (rule, value, alert_status) => {
  const { template, pattern, target, InputPathsMap, InputTemplate } = example(
    'examples/feed/cloudwatch-alarms.yaml',
    rule,
  );
  // A queue has only one policy: another would replace that of the service's stack.
  template.resourceCountIs('AWS::SQS::QueuePolicy', 0);
  expect(target.SqsParameters).toEqual({ MessageGroupId: { Ref: 'AccountId' } });
  expect(pattern.detail.state.value).toEqual([value]);
  const text = InputTemplate['Fn::Sub'].replace('$' + '{AccountId}', '1');
  // CloudWatch User Guide, "Alarm events and EventBridge": a sample event, shortened.
  const arn = 'arn:aws:cloudwatch:us-east-1:123456789012:alarm:ServerCpuTooHigh';
  const alarm = { resources: [arn], detail: { alarmName: 'ServerCpuTooHigh' } };
  const sentMs = Date.parse('2019-10-02T17:04:41Z');
  const sent = { kind: 'alert', account_id: 1, title: 'ServerCpuTooHigh', alert_key: arn, alert_status };
  expect(recordOf(transformed(InputPathsMap, text, alarm), { sentMs, messageId: 'm', line: 1 })).toMatchObject({
    record: { atMs: sentMs, sent },
  });
});
