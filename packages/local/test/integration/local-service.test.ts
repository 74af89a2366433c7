/** The service of `npm start` in this process: its feed, its stream and its figures, through AWS's SDK and the operator's commands. */

import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SendMessageCommandInput } from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeRow } from '../../../../lib/ingest/write-records.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { recordFrom } from '../../../../test/support/ingest.ts';
import { serve } from '../../../../test/support/serve.ts';
import { everythingIn, newAppKey, newTable, stored } from '../../../../test/support/service.ts';
import { SETTLE_MS } from '../../../admin/accounts/erase-account.ts';
import { connectIngestQueues } from '../../../admin/ingest/queues.ts';
import { serveConsole, textOf } from '../../../admin/test/support/console-pages.ts';
import { runCommand } from '../../../admin/test/support/run-admin.ts';
import { synthesize } from '../../synthesize.ts';
import { callOnce, callService, serveForOperator, serveTable } from '../support/start-service.ts';

const table = await newTable({ stream: true });
const { url, outputs, QueueUrl, RefusedUrl, sqs, load } = await serveForOperator(table);

let account: number;
const appKey = newAppKey();
const accountLine = (account_id: number) => ({ kind: 'account', account_id, name: 'A', permissions: ['feed'] });
beforeEach(async () => {
  account = newAccountId();
  await load(accountLine(account));
});

const hostRecord = (host_id: string) => ({
  ...{ kind: 'host', account_id: account, host_id, agent_version: '4.12.0', edge_cluster: 'fra-1' },
  ...{ enabled: true, snapshot_ready: true },
});
const bodyOf = (...records: object[]) => records.map((record) => JSON.stringify(record)).join('\n');
const send = (body: string) => sqs.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId: String(account) });

const admin = async (args: string) => {
  const result = await runCommand([...args.split(' '), '--service', url]);
  expect(result).toMatchObject({ exitCode: 0 });
  return result;
};
const hostIds = async (of = account): Promise<string[]> =>
  JSON.parse((await admin(`host list --account ${of} --json`)).out).map(({ host_id }: { host_id: string }) => host_id);
const SOON = { timeout: 10_000, interval: 100 };
/** Sends what the queue of refused records has to the feed again, as `aws sqs start-message-move-task` does. */
async function redrive(): Promise<void> {
  const [SourceArn, DestinationArn] = await Promise.all(
    [RefusedUrl, QueueUrl].map(async (QueueUrl) => {
      const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['QueueArn'] });
      return Attributes?.QueueArn;
    }),
  );
  await sqs.startMessageMoveTask({ SourceArn, DestinationArn });
}
const feedStatus = async (refused = 0) => JSON.parse((await admin(`feed status --refused ${refused} --json`)).out);
/** The refused records that name an account. */
const refusedOf = async (of: number) =>
  (await feedStatus(100)).refused_records.filter(({ record }: { record: string }) => record.includes(String(of)));

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

  it('gets what comes over HTTPS, and keeps alerts that cannot be read; admin status counts the calls', async () => {
    await load({ kind: 'app_key', account_id: account, app_key: appKey });
    const { account_id: _account, ...host } = hostRecord('over-https');
    const sent = await callService(url, '/feed/records', appKey, { records: [host] });
    expect(sent.body).toMatchObject({ data: { accepted: 1 } });
    await expect.poll(() => hostIds(), SOON).toEqual(['over-https']);
    const alerts = ['unreadable', { labels: { alertname: 'A' }, startsAt: '2026-11-20T08:30:00Z' }];
    const notified = await callService(url, '/feed/alertmanager', appKey, { alerts });
    expect(notified.body).toMatchObject({ data: { accepted: 1, refused: [{ index: 0 }], refused_count: 1 } });
    const { Messages } = await sqs.receiveMessage({ QueueUrl: RefusedUrl, MessageAttributeNames: ['All'] });
    const reason = { StringValue: expect.stringMatching(/^alerts\[0\]: /) };
    const Body = JSON.stringify({ account_id: account, from: '/feed/alertmanager', text: '"unreadable"' });
    expect(Messages).toMatchObject([{ Body, MessageAttributes: { reason } }]);
    await sqs.purgeQueue({ QueueUrl: RefusedUrl }).catch(() => undefined);
    const status = JSON.parse((await admin('status --json')).out);
    expect(status).toMatchObject({ service: { url, answers: true }, dead_letters: 0 });
    const calls = { operation: 'send-records', calls: expect.any(Number), p99_ms: expect.any(Number) };
    expect(status.figures.operations).toContainEqual(expect.objectContaining(calls));
  });

  it('refuses the query protocol, which a web page of another origin can send', async () => {
    const body = JSON.stringify({ QueueUrl, MessageBody: bodyOf(hostRecord('strange')) });
    const headers = { 'Content-Type': 'application/x-amz-json-1.0' };
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(404);
  });

  it.each<[what: string, name: string, message: Partial<SendMessageCommandInput>]>([
    ['characters that SQS refuses', 'InvalidMessageContents', { MessageBody: 'a\u0001' }],
    [
      'more bytes with its attributes than the feed takes',
      'InvalidParameterValue',
      {
        MessageBody: 'é'.repeat(516_096 - 5),
        MessageAttributes: { a: { DataType: 'String', StringValue: 'bcde' } },
      },
    ],
  ])('does not take a message with %s', async (_what, name, message) => {
    await expect(sqs.sendMessage({ QueueUrl, MessageBody: '', ...message })).rejects.toMatchObject({ name });
  });

  it('does not take a batch with more bytes than a call may have', async () => {
    const Entries = [1, 2].map((id) => ({ Id: String(id), MessageBody: 'é'.repeat(300_000) }));
    const name = 'BatchRequestTooLong';
    await expect(sqs.sendMessageBatch({ QueueUrl, Entries })).rejects.toMatchObject({ name });
  });
});

it('a feed whose writes are frozen holds what is sent to it, as on AWS', async () => {
  const frozen = await serveTable(table, { template: synthesize({ writesFrozen: 'true' }) });
  onTestFinished(frozen.stop);
  const key = newAppKey();
  await load({ kind: 'app_key', account_id: account, app_key: key });
  const { account_id: _account, ...host } = hostRecord('held');
  expect((await callService(frozen.url, '/feed/records', key, { records: [host] })).status).toBe(200);
  const { ingestQueues } = connectIngestQueues(new Map(Object.entries(frozen.queueUrls)), undefined);
  // Longer than the feed gathers messages for a batch.
  await sleep(3_000);
  expect((await ingestQueues?.counts())?.ingest).toEqual({ waiting: 1, underWay: 0 });
  expect(await hostIds()).toEqual([]);
});

it('a standby answers reads and GET /, takes nothing in, and writes nothing but counts', async () => {
  const standby = await serveTable(table, { template: synthesize({ standby: 'true', regionDigit: '2' }) });
  onTestFinished(standby.stop);
  const key = newAppKey();
  await load({ kind: 'app_key', account_id: account, app_key: key });
  const withoutCounts = async () =>
    (JSON.parse(await everythingIn(table)) as { pk: string }[]).filter(({ pk }) => !pk.includes('#RATE#'));
  const before = await withoutCounts();
  const { account_id: _account, ...host } = hostRecord('held');
  expect((await callOnce(standby.url, '/feed/records', key, { records: [host] })).status).toBe(503);
  expect((await callService(standby.url, '/monit/servicemap/fleet', key)).status).toBe(403);
  const deletion = await callOnce(standby.url, '/incident/work-item/delete', key, { work_item_id: 'w', version: 1 });
  expect([deletion.status, deletion.headers.get('Retry-After')]).toEqual([503, '60']);
  const health = async (url: string) => (await (await fetch(url)).json()) as { data: object };
  expect((await health(standby.url)).data).toEqual({ status: 'ok', standby: true });
  expect((await health(url)).data).toEqual({ status: 'ok', standby: false });
  expect(await withoutCounts()).toEqual(before);
});

it('every minute alerts end of which no record has come for the time that the last one gave', async () => {
  const intervals = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => intervals.mockRestore());
  const own = await newTable();
  const { account: id } = await newAccount(own);
  const sentMs = Date.now() - 120_000;
  const silent = { kind: 'alert', account_id: id, alert_key: 'k', title: 't', silent_after_s: 60, at_ms: sentMs };
  await writeRow(own, [recordFrom(silent, sentMs)]);
  const service = await serveTable(own);
  onTestFinished(service.stop);
  for (const [run, ms] of intervals.mock.calls) if (ms === 60_000) run();
  const isOpen = async () => (await stored(own, keys.alertKey(id, 'k'))).is_open;
  await expect.poll(isOpen, SOON).toBe(false);
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
    const { ingestQueues } = connectIngestQueues(new Map(Object.entries(outputs)), undefined);
    const console = await serveConsole({ table, ingestQueues });
    await console.signIn();
    expect((await console.page('/feed')).text).toEqual(reason);
    expect(textOf((await console.page('/')).text)).toContain('Feed 3 refused records, 0 messages waiting');
    await console.close();

    await load(accountLine(missing));
    await redrive();
    await expect.poll(() => hostIds(missing), SOON).toEqual(['early']);
    // The others are refused again.
    await expect.poll(waiting, SOON).toBe(2);
  });

  it('of a caller over HTTPS stays one message by a redrive, and becomes no record, also none of its own account', async () => {
    const other = newAccountId();
    const key = newAppKey();
    await load(accountLine(other), { kind: 'app_key', account_id: account, app_key: key });
    await send(bodyOf({ ...hostRecord('stays'), account_id: other }));
    await expect.poll(() => hostIds(other), SOON).toEqual(['stays']);
    const alerts = [
      { kind: 'host', account_id: other, host_id: 'stays', retired: true },
      { ...hostRecord('hers'), account_id: other },
      hostRecord('his'),
      bodyOf(hostRecord('lines'), { ...hostRecord('lines'), account_id: other }),
      ...Array(2_000).fill(hostRecord('many')),
    ];
    const { body } = await callService(url, '/feed/alertmanager', key, { alerts });
    expect(body.error).toMatchObject({ code: 'InvalidParameter', message: expect.stringContaining('1994 more') });
    await redrive();
    await send(bodyOf({ ...hostRecord('later'), account_id: other }));
    await expect.poll(() => hostIds(other), SOON).toContain('later');
    const record = expect.stringContaining(`{"account_id":${account},"from":"/feed/alert`);
    const again = { line: 1, record, reason: expect.stringMatching(/^is no record.* Delete it/) };
    await expect.poll(() => refusedOf(other), SOON).toEqual([expect.objectContaining(again)]);
    expect(await hostIds(other)).toEqual(['later', 'stays']);
    expect(await hostIds()).toEqual([]);
  });

  it('without a reason of the feed, or moved by SQS with attributes of its sender, has failed for too long', async () => {
    const reason = { DataType: 'String', StringValue: 'of the sender' };
    const Messages = [
      { Body: 'one', MessageId: '1', Attributes: { SentTimestamp: '5' } },
      {
        ...{ Body: 'x'.repeat(1_001), MessageId: '2', MessageAttributes: { reason } },
        Attributes: { SentTimestamp: '5', DeadLetterQueueSourceArn: 'arn' },
      },
    ].map((message) => ({ ...message, MD5OfBody: hash('md5', message.Body) }));
    const server = await serve((_request, response) => {
      response.setHeader('content-type', 'application/x-amz-json-1.0');
      response.end(JSON.stringify({ Messages: Messages.splice(0) }));
    });
    const queues = { FeedUrl: `${server}/1/feed`, FeedRefusedUrl: `${server}/1/refused` };
    const { ingestQueues } = connectIngestQueues(new Map(Object.entries(queues)), undefined);
    const shown = { reason: 'failed for too long', sent_at_ms: 5 };
    expect(await ingestQueues?.peekRefused(10)).toEqual([
      { ...shown, record: 'one', message_id: '1' },
      { ...shown, record: 'x'.repeat(1_000), message_id: '2' },
    ]);
  });
});

it('of an erased account the queues keep nothing, whether it came before or later', async () => {
  const key = newAppKey();
  await load({ kind: 'app_key', account_id: account, app_key: key });
  await callService(url, '/feed/alertmanager', key, { alerts: ['unreadable'] });
  await send(`${bodyOf({ ...hostRecord('bad'), enabled: 'yes' })}\n${bodyOf(hostRecord('good'))}`);
  await expect.poll(() => refusedOf(account), SOON).toHaveLength(2);
  await expect.poll(() => hostIds(), SOON).toEqual(['good']);
  let atMs = Date.now();
  const now = () => {
    atMs += SETTLE_MS;
    return atMs;
  };
  const erased = await runCommand(['account', 'erase', String(account), '--yes', '--service', url], { now });
  // The host, when its record came, the key, the count of what was sent, and the account in the list of accounts.
  expect(erased).toMatchObject({ exitCode: 0, out: expect.stringMatching(/: 5 rows and 2 refused messages\./) });
  expect(await refusedOf(account)).toEqual([]);

  // Functions that have not trusted the account before.
  const later = await serveTable(table);
  onTestFinished(later.stop);
  const { ingestQueues } = connectIngestQueues(new Map(Object.entries(later.queueUrls)), undefined);
  expect((await callService(later.url, '/feed/records', key, { records: [hostRecord('https')] })).status).toBe(401);
  const other = newAccountId();
  await load(accountLine(other));
  const ofOther = { ...hostRecord('other'), account_id: other };
  later.sendToIngest(bodyOf({ ...hostRecord('bad'), enabled: 'yes' }, hostRecord('good'), ofOther));
  await expect.poll(() => hostIds(other), SOON).toEqual(['other']);
  expect(await ingestQueues?.peekRefused(100)).toEqual([]);
});

it('a merge whose call died after its commit is finished from the table stream', async () => {
  const tenant = await newAccount(table);
  const incident = await tenant.incident();
  const alerts = await tenant.alerts(120);
  await tenant.commitOnly(incident, alerts);
  await expect.poll(async () => (await tenant.history(incident))[0].pending, { interval: 250 }).toBeUndefined();
  expect(new Set(await tenant.placements(alerts))).toEqual(new Set([incident]));
});
