/** A large merge that one release commits, and the next one finishes. */
import { readFileSync } from 'node:fs';
import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteFunctionConcurrencyCommand, LambdaClient, PutFunctionConcurrencyCommand } from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { type Key, keys } from '../../lib/dynamodb/keys.ts';
import { mergeAlerts } from '../../lib/http/operations.ts';
import { startFaultProxy } from '../../test/support/fault-proxy.ts';
import { startFunctions } from '../../test/support/functions-process.ts';
import { until } from '../support/processes.ts';
import type { Emulator } from './ministack.ts';

/** More alerts than one transaction moves. */
const ALERTS = Array.from({ length: 250 }, (_, index) => index.toString(16).padStart(24, '5b0e00000000'));
const INCIDENT = '5b0c00000000000000000003';

/** Data to import: an incident, and the alerts to merge into it. */
export const largeMergeLines = (account_id: number): string[] => [
  JSON.stringify({ kind: 'incident', account_id, incident_id: INCIDENT, title: 'Large' }),
  ...ALERTS.map((alert_id) => JSON.stringify({ kind: 'alert', account_id, alert_id, title: 'Large' })),
];

interface Deployed {
  emulator: Emulator;
  stack: string;
  account: number;
  admin: (args: string) => Promise<string>;
}

export function createLargeMerge({ emulator, stack, account, admin }: Deployed) {
  const lambda = new LambdaClient(emulator.client);
  const sqs = new SQSClient(emulator.client);
  const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient(emulator.client));

  /** A resource of the stack, by its type and the beginning of its logical id. @returns its name, or a queue's URL */
  async function resource(type: string, id: string): Promise<string> {
    const client = new CloudFormationClient(emulator.client);
    for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName: stack }))
      for (const { ResourceType, LogicalResourceId, PhysicalResourceId } of StackResourceSummaries)
        if (ResourceType === type && LogicalResourceId?.startsWith(id) && PhysicalResourceId) return PhysicalResourceId;
    throw new Error(`the stack has no ${type} ${id}`);
  }
  const functionNamed = (id: string) => resource('AWS::Lambda::Function', `${id}Function`);
  const queueNamed = (id: string) => resource('AWS::SQS::Queue', id);

  async function readPending(table: string): Promise<[sequence: string, incident: string][]> {
    const { Item } = await dynamodb.send(new GetCommand({ TableName: table, Key: keys.mergeOrder(account) }));
    return Object.entries(Item?.pending ?? {});
  }

  /** How many messages a queue has, those in flight and delayed included. */
  async function countOf(queue: string): Promise<number> {
    const command = new GetQueueAttributesCommand({ QueueUrl: queue, AttributeNames: ['All'] });
    const { Attributes = {} } = await sqs.send(command);
    const counts = (['', 'NotVisible', 'Delayed'] as const).map(
      (which) => Attributes[`ApproximateNumberOfMessages${which}`],
    );
    return counts.reduce((sum, count) => sum + Number(count), 0);
  }

  /** Runs merge-alerts in a process here, so that a proxy can cut it off from the emulator after its first transaction, the commit. */
  async function callUntilCommitted(tree: string, appKey: string, table: string): Promise<void> {
    const proxy = await startFaultProxy(emulator.endpoint);
    const { host } = new URL(proxy.endpoint);
    const env = { ...emulator.env, AWS_ENDPOINT_URL: `http://${host}`, TABLE_NAME: table };
    const functions = startFunctions(env, tree);
    proxy.plan(({ action }) => (action === 'TransactWriteItems' ? 'kill' : undefined));
    const { path, method } = mergeAlerts;
    const { result, error } = await functions.invoke('merge-alerts', {
      ...{ resource: path, path, httpMethod: method, isBase64Encoded: false, requestContext: { requestId: 'cut' } },
      headers: { 'Content-Type': 'application/json' },
      multiValueHeaders: { 'Content-Type': ['application/json'] },
      queryStringParameters: { app_key: appKey },
      multiValueQueryStringParameters: { app_key: [appKey] },
      body: JSON.stringify({ alert_ids: ALERTS, incident_id: INCIDENT }),
    });
    await functions.stop();
    await proxy.close();
    if (!proxy.killed()) throw new Error(`the large merge was not committed: ${JSON.stringify(error ?? result)}`);
  }

  return {
    /**
     * Stops finish-merges, calls merge-alerts from the sources of a release, and cuts the call after its commit, so that the merge's
     * message waits.
     * @param tree the folder of these sources
     * @param template the file of the release's template. If it has a pipe, this sends the pipe's message, since the emulator's pipes deliver
     *   to no queue
     */
    async commit(tree: string, template: string, appKey: string, table: string): Promise<void> {
      const stopped = { FunctionName: await functionNamed('finishmerges'), ReservedConcurrentExecutions: 0 };
      await lambda.send(new PutFunctionConcurrencyCommand(stopped));
      await callUntilCommitted(tree, appKey, table);
      const [merge] = await readPending(table);
      if (!merge) throw new Error('the large merge is not pending');
      const [sequence, incident] = merge;
      const body = pipedMessage(template, keys.feedEntry(account, incident, Number(sequence)));
      if (body)
        await sqs.send(new SendMessageCommand({ QueueUrl: await queueNamed('MergesQueue'), MessageBody: body }));
    },

    /** Lets finish-merges run, and waits until it has finished the merge, with no message left. */
    async finish(table: string): Promise<void> {
      const [queue, deadLetters] = await Promise.all(['MergesQueue', 'MergesDeadLetters'].map(queueNamed));
      if (!queue || !deadLetters || (await readPending(table)).length !== 1 || (await countOf(queue)) === 0)
        throw new Error('the large merge is no longer pending after the update of the stack');
      process.stdout.write(`   ${await countOf(queue)} messages are waiting\n`);
      const FunctionName = await functionNamed('finishmerges');
      await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
      const isFinished = async () => (await readPending(table)).length + (await countOf(queue)) === 0;
      await until('the large merge is finished', isFinished, 20);
      if ((await countOf(deadLetters)) > 0) throw new Error('a message of the large merge is a dead letter');
      const lines = (await admin(`export --account ${account} --stack ${stack} --yes`)).trim().split('\n');
      const alerts = lines.map((line) => JSON.parse(line)).filter(({ alert_id }) => ALERTS.includes(alert_id));
      if (alerts.filter(({ incident_id }) => incident_id === INCIDENT).length !== ALERTS.length)
        throw new Error('alerts of the large merge are not in its incident');
    },
  };
}

/** The message that the template's pipe makes of a row's key; undefined: the template has no pipe. */
function pipedMessage(template: string, { pk, sk }: Key): string | undefined {
  const { Resources } = JSON.parse(readFileSync(template, 'utf8')) as { Resources: Record<string, PipeResource> };
  const pipe = Object.values(Resources).find(({ Type }) => Type === 'AWS::Pipes::Pipe');
  return pipe?.Properties.TargetParameters.InputTemplate.replace(/<\$\.dynamodb\.Keys\.(\w+)\.S>/g, (_, name: string) =>
    JSON.stringify(name === 'pk' ? pk : sk),
  );
}

interface PipeResource {
  Type: string;
  Properties: { TargetParameters: { InputTemplate: string } };
}
