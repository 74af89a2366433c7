/** The feed of `npm start`, through AWS's SDK and through the operator's commands. */

import { hash } from 'node:crypto';
import { SQS } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordOf } from '../../../../lib/ingest/records.ts';
import type { Table } from '../../../../lib/table/client.ts';
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
import type { LocalService } from '../../local-service.ts';
import { startSampleReports } from '../../sample-reports.ts';
import { serveTable } from '../support/start-service.ts';

const MINUTE_MS = 60_000;

let table: Table;
let service: LocalService;
let sqs: SQS;
let forget: () => Promise<void>;
let account: number;
beforeAll(async () => {
  table = await newTable();
  service = await serveTable(table);
  const { url, queueUrls: outputs } = service;
  forget = registerRunning({ pid: process.pid, url, endpoint: dynamodbEndpoint(), tableName: table.name, outputs });
  sqs = new SQS({ endpoint: url, region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
});
afterAll(async () => {
  await forget();
  sqs.destroy();
  await service.stop();
});
beforeEach(async () => {
  account = newAccountId();
  await addAccount(account);
});
const addAccount = (id: number) =>
  loadData(table, 'test', [`{"kind":"account","account_id":${id},"name":"A","permissions":["monit"]}`], {
    nowMs: 1_000,
    gatewayKeys: createLocalGatewayKeys(table),
  });

const hostRecord = (host_id: string, fields: object = {}) => ({
  ...{ kind: 'host', account_id: account, host_id, agent_version: '4.12.0', edge_cluster: 'fra-1' },
  ...{ enabled: true, snapshot_ready: true, ...fields },
});
const report = (host_id: string, fields: object = {}) => ({
  ...{ kind: 'host_status', account_id: account, host_id, node_count: 3, edge_count: 4, authoritative: true },
  ...{ graph_available: true, snapshot_truncated: false, snapshot_degraded: false, ...fields },
});
const bodyOf = (...records: object[]) => records.map((record) => JSON.stringify(record)).join('\n');
const QueueUrl = () => service.queueUrls.FeedUrl;
const send = (body: string) =>
  sqs.sendMessage({ QueueUrl: QueueUrl(), MessageBody: body, MessageGroupId: String(account) });

const admin = async (args: string) => {
  const result = await runCommand([...args.split(' '), '--service', service.url]);
  expect(result).toMatchObject({ exitCode: 0 });
  return result;
};
const hosts = async (options = ''): Promise<{ host_id: string; agent_version: string; status: string }[]> =>
  JSON.parse((await admin(`host list --account ${account} --json${options}`)).out);
const hostIds = async (options?: string) => (await hosts(options)).map(({ host_id }) => host_id);
const SOON = { timeout: 10_000, interval: 100 };
const feedStatus = async (refused = 0) => JSON.parse((await admin(`feed status --refused ${refused} --json`)).out);
const untilFeedIsEmpty = () =>
  expect.poll(async () => (await feedStatus()).queues.feed, SOON).toEqual({ waiting: 0, underWay: 0 });

describe("the feed's queue", () => {
  it('accepts what an SDK sends, and has the URL and attributes of an SQS queue', async () => {
    const QueueName = QueueUrl()?.split('/').at(-1);
    expect((await sqs.getQueueUrl({ QueueName })).QueueUrl).toBe(QueueUrl());
    await send(bodyOf(hostRecord('one'), hostRecord('two')));
    const Entries = ['three', 'four'].map((Id) => ({ Id, MessageBody: bodyOf(hostRecord(Id)) }));
    const { Successful } = await sqs.sendMessageBatch({ QueueUrl: QueueUrl(), Entries });
    expect(Successful?.map(({ Id }) => Id)).toEqual(['three', 'four']);
    await expect.poll(() => hostIds(), SOON).toEqual(['four', 'one', 'three', 'two']);
    const { Attributes } = await sqs.getQueueAttributes({ QueueUrl: QueueUrl(), AttributeNames: ['All'] });
    expect(Number(Attributes?.VisibilityTimeout)).toBeGreaterThan(60);
    expect(JSON.parse(Attributes?.RedrivePolicy ?? '').deadLetterTargetArn).toMatch(/:FeedRefused$/);
  });

  it('gets what comes over HTTPS, and keeps alerts that cannot be read', async () => {
    const appKey = newAppKey();
    const lines = [
      { kind: 'account', account_id: account, name: 'A', permissions: ['feed'] },
      { kind: 'app_key', account_id: account, app_key: appKey },
    ].map((line) => JSON.stringify(line));
    await loadData(table, 'test', lines, { nowMs: 1_000, gatewayKeys: createLocalGatewayKeys(table) });
    const post = async (path: string, body: object) => {
      const headers = { 'Content-Type': 'application/json' };
      const url = `${service.url}${path}?app_key=${appKey}`;
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    const { account_id: _account, ...host } = hostRecord('over-https');
    expect(await post('/feed/records', { records: [host] })).toMatchObject({ data: { accepted: 1 } });
    await expect.poll(() => hostIds(), SOON).toEqual(['over-https']);
    const alert = { fingerprint: 'f', startsAt: '2026-02-06T13:08:45.828Z', labels: { alertname: 'Down' } };
    const notified = await post('/feed/alertmanager', { alerts: [alert, 'unreadable'] });
    expect(notified).toMatchObject({ data: { accepted: 1, refused: [{ index: 1 }] } });
    const alertId = hash('sha256', `${account} alertmanager f 2026-02-06T13:08:45.828Z`, 'hex').slice(0, 24);
    await expect.poll(() => stored(table, keys.alert(account, alertId)), SOON).toMatchObject({ title: 'Down' });
    const { Messages } = await sqs.receiveMessage({
      QueueUrl: service.queueUrls.FeedRefusedUrl,
      MessageAttributeNames: ['All'],
    });
    expect(Messages).toMatchObject([
      { Body: '"unreadable"', MessageAttributes: { reason: { StringValue: 'alerts[1]: an alert must be an object' } } },
    ]);
    await sqs.purgeQueue({ QueueUrl: service.queueUrls.FeedRefusedUrl }).catch(() => undefined);
  });

  it('refuses the query protocol, which a web page of another origin can send', async () => {
    const body = JSON.stringify({ QueueUrl: QueueUrl(), MessageBody: bodyOf(hostRecord('strange')) });
    const headers = { 'Content-Type': 'application/x-amz-json-1.0' };
    expect((await fetch(service.url, { method: 'POST', headers, body })).status).toBe(404);
    await untilFeedIsEmpty();
    expect(await hostIds()).toEqual([]);
  });
});

describe('host', () => {
  it('lists by status, edge cluster, agent version and last report, as text and JSON', async () => {
    const nowMs = Date.now();
    await send(
      bodyOf(
        ...[hostRecord('fresh'), report('fresh')],
        ...[hostRecord('old', { agent_version: '=1,2' }), report('old', { received_at_ms: nowMs - 90 * MINUTE_MS })],
        ...[hostRecord('healthy'), report('healthy', { received_at_ms: nowMs - 90 * MINUTE_MS, health_at_ms: nowMs })],
        ...[hostRecord('off', { enabled: false }), report('off', { received_at_ms: nowMs - 90 * MINUTE_MS })],
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

  it('retires stale hosts; a later record of a host brings it back, an earlier one does not', async () => {
    const nowMs = Date.now();
    const retired = hostRecord('old', { at_ms: nowMs - 80 * MINUTE_MS });
    await send(
      bodyOf(retired, report('old', { received_at_ms: nowMs - 90 * MINUTE_MS }), hostRecord('new'), report('new')),
    );
    await expect.poll(() => hostIds(), SOON).toEqual(['new', 'old']);
    const dryRun = await admin(`host retire --account ${account} --stale-for 1h --dry-run`);
    expect(dryRun.err).toMatch(/1 host would be retired\.\n$/);
    await untilFeedIsEmpty();
    expect(await hostIds()).toEqual(['new', 'old']);
    expect((await admin(`host retire --account ${account} --stale-for 1h`)).out).toBe('1 host retired.\n');
    await expect.poll(() => hostIds(), SOON).toEqual(['new']);
    const audit = JSON.parse((await admin(`audit --account ${account} --json`)).out);
    expect(audit).toMatchObject([{ command: 'host retire', target: '1 host', result: 'done' }]);
    await send(bodyOf(retired));
    await untilFeedIsEmpty();
    expect(await hostIds()).toEqual(['new']);
    await send(bodyOf(hostRecord('old')));
    await expect.poll(() => hostIds(), SOON).toEqual(['new', 'old']);
  });
});

describe('a refused record', () => {
  it('is shown with its reason, and comes again by the redrive as it came', async () => {
    const missing = newAccountId();
    const { MessageId } = await send(bodyOf({ kind: 'account', account_id: account }, hostRecord('good')));
    const early = bodyOf({ ...hostRecord('early'), account_id: missing });
    await send(`nonsense\n${early}`);
    await expect.poll(async () => (await feedStatus()).queues.refused.waiting, SOON).toBe(3);
    const reason = `account ${missing} does not exist`;
    const { refused_records } = await feedStatus(10);
    expect(refused_records).toContainEqual(expect.objectContaining({ message_id: MessageId, line: 1 }));
    expect(refused_records).toContainEqual(
      expect.objectContaining({ reason: expect.stringContaining(reason), line: 2, record: early }),
    );
    expect((await admin('feed status')).out).toContain(reason);
    const { feed } = connectFeed(new Map(Object.entries(service.queueUrls)), undefined);
    const console = await serveConsole({ table, feed: () => feed });
    await console.signIn();
    expect((await console.page('/feed')).text).toContain(reason);
    await console.close();

    await addAccount(missing);
    const arnOf = async (QueueUrl?: string) => {
      const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['QueueArn'] });
      return Attributes?.QueueArn;
    };
    const [SourceArn, DestinationArn] = [await arnOf(service.queueUrls.FeedRefusedUrl), await arnOf(QueueUrl())];
    await sqs.startMessageMoveTask({ SourceArn, DestinationArn });
    await expect
      .poll(async () => JSON.parse((await admin(`host list --account ${missing} --json`)).out), SOON)
      .toMatchObject([{ host_id: 'early' }]);
    // The others are refused again.
    await expect
      .poll(async () => (await feedStatus()).queues, SOON)
      .toMatchObject({ feed: { waiting: 0 }, refused: { waiting: 2 } });
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
    const url = await serve((_request, response) => {
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      const shown = Messages.splice(0).map((message) => ({ ...message, MD5OfBody: hash('md5', message.Body) }));
      response.end(JSON.stringify({ Messages: shown }));
    });
    const { feed } = connectFeed(
      new Map([
        ['FeedUrl', `${url}/1/feed`],
        ['FeedRefusedUrl', `${url}/1/refused`],
      ]),
      undefined,
    );
    expect(await feed?.peekRefused(10)).toEqual(
      ['one', 'x'.repeat(1_000)].map((record, index) => ({
        ...{ record, message_id: String(index + 1), reason: 'failed for too long', sent_at_ms: 5 },
      })),
    );
  });

  it.each([
    ['characters that SQS refuses', { MessageBody: 'a\u0001' }, 'InvalidMessageContents'],
    ['more bytes than the feed takes', { MessageBody: 'é'.repeat(516_097) }, 'InvalidParameterValue'],
    [
      'more bytes with its attributes',
      {
        MessageBody: 'x'.repeat(1_032_192 - 10),
        MessageAttributes: { a: { DataType: 'String', StringValue: 'bcde' } },
      },
      'InvalidParameterValue',
    ],
  ])('with %s is not taken by the queue', async (_what, message, name) => {
    await expect(sqs.sendMessage({ QueueUrl: QueueUrl(), ...message })).rejects.toMatchObject({ name });
    const Entries = [1, 2].map((id) => ({ Id: String(id), MessageBody: 'é'.repeat(300_000) }));
    await expect(sqs.sendMessageBatch({ QueueUrl: QueueUrl(), Entries })).rejects.toMatchObject({
      name: 'BatchRequestTooLong',
    });
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
