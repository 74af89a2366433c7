/** The example of `examples/events`, with the event that events.schema.json has as a sample. */
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import { expect, it } from 'vitest';
import { eventSamples } from '../../infra/generate/events.ts';
import { SERVICE } from '../../lib/shared/log.ts';

const stack = new Stack(new App());
new CfnInclude(stack, 'Chat', { templateFile: 'examples/events/chat.yaml' });
const template = Template.fromStack(stack);
const [{ Properties: rule } = {}] = Object.values(template.findResources('AWS::Events::Rule'));
const [target] = rule.Targets;

const idOf = (attribute: { 'Fn::GetAtt': string | string[] }) => String(attribute['Fn::GetAtt']).split(/[.,]/)[0] ?? '';

const [merged] = eventSamples().filter(({ type }) => type === 'AlertsMerged');
const mergeEvent = JSON.parse(JSON.stringify({ source: SERVICE, 'detail-type': merged?.type, detail: merged?.detail }));

/**
 * The user guide, "Amazon EventBridge input transformation": in a string of the template a variable is its text, elsewhere its JSON. A
 * path is of dots, names and indices. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
 */
function transformed({
  InputPathsMap,
  InputTemplate,
}: {
  InputPathsMap: Record<string, string>;
  InputTemplate: string;
}) {
  const read = (name: string): unknown => {
    const path = /^\$((?:\.[\w-]+)+)$/.exec(InputPathsMap[name] ?? '')?.[1] ?? expect.unreachable(name);
    return path
      .slice(1)
      .split('.')
      .reduce((inner, part) => inner[part], mergeEvent);
  };
  return InputTemplate.split(/("(?:[^"\\]|\\.)*")/)
    .map((part) =>
      part.replace(/<([\w-]+)>/g, (_whole, name) => {
        const value = read(name);
        return part.startsWith('"') && typeof value === 'string' ? value : JSON.stringify(value);
      }),
    )
    .join('');
}

it('a merge is posted to the chat as the text that an incoming webhook takes', () => {
  expect([rule.EventPattern.source, rule.EventPattern['detail-type']]).toEqual([[mergeEvent.source], ['AlertsMerged']]);
  const { account_id, alerts, incident_id, by } = mergeEvent.detail;
  expect(JSON.parse(transformed(target.InputTransformer))).toEqual({
    text: `Account ${account_id}: ${alerts} alerts merged into incident ${incident_id} by ${by}`,
  });
});

it('the rule may call the API destination, which has the webhook, and keeps what it cannot deliver', () => {
  const destination = idOf(target.Arn);
  template.hasResource('AWS::Events::ApiDestination', {
    Properties: { HttpMethod: 'POST', InvocationEndpoint: { Ref: 'WebhookUrl' } },
  });
  expect(Object.keys(template.findResources('AWS::Events::ApiDestination'))).toEqual([destination]);
  const role = template.findResources('AWS::IAM::Role')[idOf(target.RoleArn)];
  expect(role?.Properties.Policies[0].PolicyDocument.Statement).toEqual([
    { Effect: 'Allow', Action: 'events:InvokeApiDestination', Resource: target.Arn },
  ]);
  const queue = idOf(target.DeadLetterConfig.Arn);
  expect(Object.keys(template.findResources('AWS::SQS::Queue'))).toEqual([queue]);
  template.hasResourceProperties('AWS::SQS::QueuePolicy', { Queues: [{ Ref: queue }] });
});
