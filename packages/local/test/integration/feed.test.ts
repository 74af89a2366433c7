/** The feed of `npm start`, through AWS's SDK and through the operator's commands. */

import { hash } from 'node:crypto';
import { type SendMessageCommandInput, SQS } from '@aws-sdk/client-sqs';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordOf } from '../../../../lib/ingest/records.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { serve } from '../../../../test/support/serve.ts';
import { newAppKey, newTable, stored } from '../../../../test/support/service.ts';
import { loadData } from '../../../admin/data/load.ts';
import { connectFeed } from '../../../admin/feed/queues.ts';
import { createLocalGatewayKeys } from '../../../admin/local-service/local-gateway-keys.ts';
import { registerRunning } from '../../../admin/local-service/running.ts';
import { serveConsole } from '../../../admin/test/support/console-pages.ts';
import { runCommand } from '../../../admin/test/support/run-admin.ts';
import { startSampleReports } from '../../sample-reports.ts';
import { callService, serveTable } from '../support/start-service.ts';

const HOUR_MS = 3_600_000;

const table = await newTable();
const service = await serveTable(table);
const { url, queueUrls: outputs } = service;
const { FeedUrl: QueueUrl = '', FeedRefusedUrl: RefusedUrl = '' } = outputs;
const forget = registerRunning({ pid: process.pid, url, endpoint: dynamodbEndpoint(), tableName: table.name, outputs });
const sqs = new SQS({ endpoint: url, region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
afterAll(async () => {
  await forget();
  sqs.destroy();
  await service.stop();
});

let account: number;
const appKey = newAppKey();
const load = (...lines: object[]) =>
  loadData(
    table,
    'test',
    lines.map((line) => JSON.stringify(line)),
    { nowMs: 1_000, gatewayKeys: createLocalGatewayKeys(table) },
  );
const accountLine = (account_id: number) => ({ kind: 'account', account_id, name: 'A', permissions: ['feed'] });
beforeEach(async () => {
  account = newAccountId();
  await load(accountLine(account));
});

const hostRecord = (host_id: string, fields: object = {}) => ({
  ...{ kind: 'host', account_id: account, host_id, agent_version: '4.12.0', edge_cluster: 'fra-1' },
  ...{ enabled: true, snapshot_ready: true, ...fields },
});
/** The inventory of a host and its last report. */
const reporting = (host_id: string, reportedAtMs: number, fields: object = {}, report: object = {}) => [
  hostRecord(host_id, fields),
  {
    ...{ kind: 'host_status', account_id: account, host_id, node_count: 3, edge_count: 4, authoritative: true },
    ...{ graph_available: true, snapshot_truncated: false, snapshot_degraded: false },
    ...{ received_at_ms: reportedAtMs, ...report },
  },
];
const bodyOf = (...records: object[]) => records.map((record) => JSON.stringify(record)).join('\n');
const send = (body: string) => sqs.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId: String(account) });

const admin = async (args: string) => {
  const result = await runCommand([...args.split(' '), '--service', url]);
  expect(result).toMatchObject({ exitCode: 0 });
  return result;
};
const hostIds = async (options = '', of = account): Promise<string[]> =>
  JSON.parse((await admin(`host list --account ${of} --json${options}`)).out).map(
    ({ host_id }: { host_id: string }) => host_id,
  );
const SOON = { timeout: 10_000, interval: 100 };
const feedStatus = async (refused = 0) => JSON.parse((await admin(`feed status --refused ${refused} --json`)).out);
const untilFeedIsEmpty = () =>
  expect.poll(async () => (await feedStatus()).queues.feed, SOON).toEqual({ waiting: 0, underWay: 0 });

describe("the feed's queue", () => {
  it('accepts what an SDK sends, and has the URL and attributes of an SQS queue', async () => {
    expect((await sqs.getQueueUrl({ QueueName: QueueUrl.split('/').at(-1) })).QueueUrl).toBe(QueueUrl);
    await send(bodyOf(hostRecord('one'), hostRecord('two')));
    const Entries = ['three', 'four'].map((Id) => ({ Id, MessageBody: bodyOf(hostRecord(Id)) }));
    const { Successful } = await sqs.sendMessageBatch({ QueueUrl, Entries });
    expect(Successful?.map(({ Id }) => Id)).toEqual(['three', 'four']);
    await expect.poll(() => hostIds(), SOON).toEqual(['four', 'one', 'three', 'two']);
    const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['All'] });
    expect(Number(Attributes?.VisibilityTimeout)).toBeGreaterThan(60);
    expect(JSON.parse(Attributes?.RedrivePolicy ?? '').deadLetterTargetArn).toMatch(/:FeedRefused$/);
  });

  it('gets what comes over HTTPS, and keeps alerts that cannot be read', async () => {
    await load({ kind: 'app_key', account_id: account, app_key: appKey });
    const { account_id: _account, ...host } = hostRecord('over-https');
    const sent = await callService(url, '/feed/records', appKey, { records: [host] });
    expect(sent.body).toMatchObject({ data: { accepted: 1 } });
    await expect.poll(() => hostIds(), SOON).toEqual(['over-https']);
    const alert = { fingerprint: 'f', startsAt: '2026-02-06T13:08:45.828Z', labels: { alertname: 'Down' } };
    const notified = await callService(url, '/feed/alertmanager', appKey, { alerts: [alert, 'unreadable'] });
    expect(notified.body).toMatchObject({ data: { accepted: 1, refused: [{ index: 1 }] } });
    const alertId = hash('sha256', `${account} alertmanager f 2026-02-06T13:08:45.828Z`, 'hex').slice(0, 24);
    await expect.poll(() => stored(table, keys.alert(account, alertId)), SOON).toMatchObject({ title: 'Down' });
    const { Messages } = await sqs.receiveMessage({ QueueUrl: RefusedUrl, MessageAttributeNames: ['All'] });
    const reason = { StringValue: expect.stringMatching(/^alerts\[1\]: /) };
    expect(Messages).toMatchObject([{ Body: '"unreadable"', MessageAttributes: { reason } }]);
    await sqs.purgeQueue({ QueueUrl: RefusedUrl }).catch(() => undefined);
  });

  it('refuses the query protocol, which a web page of another origin can send', async () => {
    const body = JSON.stringify({ QueueUrl, MessageBody: bodyOf(hostRecord('strange')) });
    const headers = { 'Content-Type': 'application/x-amz-json-1.0' };
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(404);
    await untilFeedIsEmpty();
    expect(await hostIds()).toEqual([]);
  });
});

it('host lists by status, edge cluster, agent version and last report', async () => {
  const nowMs = Date.now();
  const longAgo = nowMs - 1.5 * HOUR_MS;
  await send(
    bodyOf(
      ...reporting('fresh', nowMs),
      ...reporting('old', longAgo, { agent_version: '=1,2' }),
      ...reporting('healthy', longAgo, {}, { health_at_ms: nowMs }),
      ...reporting('off', longAgo, { enabled: false }),
      hostRecord('never', { edge_cluster: 'iad-1' }),
    ),
  );
  await expect.poll(() => hostIds(), SOON).toEqual(['fresh', 'healthy', 'never', 'off', 'old']);
  expect(await hostIds(' --status stale')).toEqual(['healthy', 'old']);
  expect(await hostIds(' --cluster iad-1')).toEqual(['never']);
  expect(await hostIds(' --agent-version =1,2')).toEqual(['old']);
  expect(await hostIds(' --stale-for 1h')).toEqual(['old']);
  const { out } = await admin(`host list --account ${account} --stale-for 1h`);
  expect(out).toMatch(/^host_id +status +edge_cluster +agent_version +reported_at +why\nold +stale +fra-1 +=1,2 +\d/);
});

it('host retires stale hosts; a later record of a host brings it back, an earlier one does not', async () => {
  const nowMs = Date.now();
  const [retired = {}, report = {}] = reporting('old', nowMs - 1.5 * HOUR_MS, { at_ms: nowMs - 1.3 * HOUR_MS });
  await send(bodyOf(retired, report, ...reporting('new', nowMs)));
  await expect.poll(() => hostIds(), SOON).toEqual(['new', 'old']);
  const retire = `host retire --account ${account} --stale-for 1h`;
  expect((await admin(`${retire} --dry-run`)).err).toMatch(/1 host would be retired\.\n$/);
  await untilFeedIsEmpty();
  expect(await hostIds()).toEqual(['new', 'old']);
  expect((await admin(retire)).out).toBe('1 host retired.\n');
  await expect.poll(() => hostIds(), SOON).toEqual(['new']);
  const audit = JSON.parse((await admin(`audit --account ${account} --json`)).out);
  expect(audit).toMatchObject([{ command: 'host retire', target: '1 host', result: 'done' }]);
  await send(bodyOf(retired));
  await untilFeedIsEmpty();
  expect(await hostIds()).toEqual(['new']);
  await send(bodyOf(hostRecord('old')));
  await expect.poll(() => hostIds(), SOON).toEqual(['new', 'old']);
});

describe('a refused record', () => {
  it('is shown with its reason, and comes again by the redrive as it came', async () => {
    const missing = newAccountId();
    const { MessageId: message_id } = await send(bodyOf({ kind: 'account', account_id: account }, hostRecord('good')));
    const record = bodyOf({ ...hostRecord('early'), account_id: missing });
    await send(`nonsense\n${record}`);
    const waiting = async () => (await feedStatus()).queues.refused.waiting;
    await expect.poll(waiting, SOON).toBe(3);
    const reason = expect.stringContaining(`account ${missing} does not exist`);
    const { refused_records } = await feedStatus(10);
    for (const shown of [
      { message_id, line: 1 },
      { reason, line: 2, record },
    ])
      expect(refused_records).toContainEqual(expect.objectContaining(shown));
    expect((await admin('feed status')).out).toEqual(reason);
    const { feed } = connectFeed(new Map(Object.entries(outputs)), undefined);
    const console = await serveConsole({ table, feed: () => feed });
    await console.signIn();
    expect((await console.page('/feed')).text).toEqual(reason);
    await console.close();

    await load(accountLine(missing));
    const [SourceArn, DestinationArn] = await Promise.all(
      [RefusedUrl, QueueUrl].map(async (QueueUrl) => {
        const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['QueueArn'] });
        return Attributes?.QueueArn;
      }),
    );
    await sqs.startMessageMoveTask({ SourceArn, DestinationArn });
    await expect.poll(() => hostIds('', missing), SOON).toEqual(['early']);
    await untilFeedIsEmpty();
    // The others are refused again.
    await expect.poll(waiting, SOON).toBe(2);
  });

  it('without a reason of the feed, or moved by SQS with attributes of its sender, has failed for too long', async () => {
    const reason = { DataType: 'String', StringValue: 'of the sender' };
    const Messages = [
      { Body: 'one', MessageId: '1', Attributes: { SentTimestamp: '5' } },
      {
        ...{ Body: 'x'.repeat(5_000), MessageId: '2', MessageAttributes: { reason } },
        Attributes: { SentTimestamp: '5', DeadLetterQueueSourceArn: 'arn' },
      },
    ];
    const server = await serve((_request, response) => {
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      const shown = Messages.splice(0).map((message) => ({ ...message, MD5OfBody: hash('md5', message.Body) }));
      response.end(JSON.stringify({ Messages: shown }));
    });
    const queues = { FeedUrl: `${server}/1/feed`, FeedRefusedUrl: `${server}/1/refused` };
    const { feed } = connectFeed(new Map(Object.entries(queues)), undefined);
    expect(await feed?.peekRefused(10)).toEqual(
      ['one', 'x'.repeat(1_000)].map((record, index) => ({
        ...{ record, message_id: String(index + 1), reason: 'failed for too long', sent_at_ms: 5 },
      })),
    );
  });

  it.each<[what: string, name: string, message: Partial<SendMessageCommandInput>]>([
    ['characters that SQS refuses', 'InvalidMessageContents', { MessageBody: 'a\u0001' }],
    ['more bytes than the feed takes', 'InvalidParameterValue', { MessageBody: 'é'.repeat(516_097) }],
    [
      'more bytes with its attributes',
      'InvalidParameterValue',
      {
        MessageBody: 'x'.repeat(1_032_192 - 10),
        MessageAttributes: { a: { DataType: 'String', StringValue: 'bcde' } },
      },
    ],
  ])('with %s is not taken by the queue', async (_what, name, message) => {
    await expect(sqs.sendMessage({ QueueUrl, MessageBody: '', ...message })).rejects.toMatchObject({ name });
  });

  it('of a batch with more bytes than a call may have is not taken by the queue', async () => {
    const Entries = [1, 2].map((id) => ({ Id: String(id), MessageBody: 'é'.repeat(300_000) }));
    const name = 'BatchRequestTooLong';
    await expect(sqs.sendMessageBatch({ QueueUrl, Entries })).rejects.toMatchObject({ name });
  });
});

it("the sample's hosts report every half minute, with valid records whose values change, and the set of hosts that report changes, too", async () => {
  vi.useFakeTimers();
  const bodies: string[] = [];
  const stop = startSampleReports((body) => bodies.push(body));
  await vi.advanceTimersByTimeAsync(51 * 30_000);
  const nowMs = Date.now();
  await stop();
  await vi.advanceTimersByTimeAsync(5_000);
  vi.useRealTimers();
  // A message each second.
  expect(bodies).toHaveLength(51 * 30);
  const [first, second, last] = [0, 1, 50].map((round) => {
    const lines = bodies.slice(30 * round, 30 * (round + 1)).flatMap((body) => body.split('\n'));
    for (const line of lines)
      expect(recordOf(line, { sentMs: nowMs, messageId: 'm', line: 1 })).toHaveProperty('record');
    const ids = lines.map((line) => JSON.parse(line).host_id);
    expect(ids.length).toBeGreaterThan(400);
    expect(new Set(ids).size).toBe(ids.length);
    return { ids, values: lines.map((line) => JSON.parse(line).node_count) };
  });
  expect(second?.ids).toEqual(first?.ids);
  expect(second?.values).not.toEqual(first?.values);
  expect(last?.ids).not.toEqual(first?.ids);
});
