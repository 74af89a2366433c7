/** Sends records to the ingest queue of a deployed stack (docs/feed.md), and receives an event from its bus. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EventBridge } from '@aws-sdk/client-eventbridge';
import { SQS } from '@aws-sdk/client-sqs';
import type { Client } from '../../packages/client/src/index.ts';
import { until } from '../support/processes.ts';
import type { Emulator } from './ministack.ts';

const HOST = 'fed-0001';
const ITEM = 'fed-work-item';
const EVENTS = ['AlertTriggered', 'WorkItemDeleted'];

interface Deployed {
  emulator: Emulator;
  outputs: Readonly<Record<string, string>>;
  account: number;
  /** Of the deployed API. */
  client: Client;
}

/** Sends a host, a work item and an alert, sees the first two in the API's answers, and receives the events of the others through a rule. */
export async function tryIngestQueue({ emulator, outputs, account, client }: Deployed): Promise<void> {
  const sqs = new SQS(emulator.clientOptions);
  const bus = new EventBridge(emulator.clientOptions);

  const { QueueUrl = '' } = await sqs.createQueue({ QueueName: 'events' });
  const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['QueueArn'] });
  const rule = { EventBusName: outputs.EventBusName, Name: 'events' };
  const EventPattern = JSON.stringify({ source: ['incident-monitoring-rum'], 'detail-type': EVENTS });
  await bus.putRule({ ...rule, EventPattern });
  const target = { Id: 'events', Arn: Attributes?.QueueArn };
  await bus.putTargets({ EventBusName: rule.EventBusName, Rule: rule.Name, Targets: [target] });

  const records = [
    { kind: 'host', host_id: HOST, agent_version: '1', edge_cluster: 'fed', enabled: true, snapshot_ready: true },
    { kind: 'work_item', work_item_id: ITEM, version: 1, title: 'Fed' },
    { kind: 'alert', alert_key: 'fed', title: 'Fed' },
  ];
  const MessageBody = records.map((record) => JSON.stringify({ ...record, account_id: account })).join('\n');
  await sqs.sendMessage({ QueueUrl: outputs.FeedUrl, MessageBody });
  await until('a host that was sent is in the fleet', async () => {
    // A refusal by the rate limit ends with the next second.
    const fleet = await client.browseFleet({ edge_clusters: ['fed'] }).catch(() => sleep(1_000, undefined));
    return fleet?.items.some(({ host_id }) => host_id === HOST);
  });
  await until('a work item that was sent can be deleted', () =>
    client.deleteWorkItem({ work_item_id: ITEM, version: 1 }).then(
      () => true,
      () => false,
    ),
  );
  const events = new Map<string, Record<string, unknown>>();
  await until('the events of the alert and the deletion arrive', async () => {
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl, WaitTimeSeconds: 1 });
    for (const { Body = '' } of Messages) events.set(JSON.parse(Body)['detail-type'], JSON.parse(Body).detail);
    return EVENTS.every((type) => events.has(type));
  });
  for (const [type, expected] of Object.entries({
    AlertTriggered: { alert_key: 'fed' },
    WorkItemDeleted: { work_item_id: ITEM },
  }))
    for (const [name, value] of Object.entries({ account_id: account, ...expected }))
      if (events.get(type)?.[name] !== value) throw new Error(`the event is ${JSON.stringify(events.get(type))}`);
  // The bus cannot be deleted while it has a rule.
  await bus.removeTargets({ EventBusName: rule.EventBusName, Rule: rule.Name, Ids: [target.Id] });
  await bus.deleteRule(rule);
  await sqs.deleteQueue({ QueueUrl });
  sqs.destroy();
  bus.destroy();
}
