/** The operator's commands that clear the queue of refused records, on the service of `npm start`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { newAppKey, newTable } from '../../../../test/support/service.ts';
import { runCommand } from '../../../admin/test/support/run-admin.ts';
import { callService, serveForOperator } from '../support/start-service.ts';

const table = await newTable({ stream: true });
const { url, QueueUrl, RefusedUrl, sqs, load } = await serveForOperator(table);

const SOON = { timeout: 20_000, interval: 100 };
const run = (args: string | string[]) =>
  runCommand([...(typeof args === 'string' ? args.split(' ') : args), '--service', url]);
const json = async (args: string) => JSON.parse((await run(`${args} --json`)).out);

const createAccount = (account_id: number) => load({ kind: 'account', account_id, name: 'A', permissions: ['feed'] });
const member = (account_id: number) => ({ kind: 'member', account_id, member_id: 1, name: 'Ada' });
const send = (...records: object[]) =>
  sqs.sendMessage({ QueueUrl, MessageBody: records.map((record) => JSON.stringify(record)).join('\n') });
const members = async (account: number) =>
  (await run(`export --account ${account}`)).out.split('\n').filter((line) => line.includes('"member"')).length;

/** How many refused records can be received now: all, unless a command has left some hidden. */
async function refused(): Promise<number> {
  const name = 'ApproximateNumberOfMessages';
  const { Attributes } = await sqs.getQueueAttributes({ QueueUrl: RefusedUrl, AttributeNames: [name] });
  return Number(Attributes?.[name]);
}

/** Deletes what earlier tests have left. SQS allows a purge only once a minute. */
async function empty(): Promise<void> {
  for (;;) {
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl: RefusedUrl, MaxNumberOfMessages: 10 });
    if (Messages.length === 0) return;
    for (const { ReceiptHandle } of Messages) await sqs.deleteMessage({ QueueUrl: RefusedUrl, ReceiptHandle });
  }
}

/** Two accounts that do not exist, with a refused record each. */
let missing: number;
let other: number;
beforeEach(async () => {
  await empty();
  [missing, other] = [newAccountId(), newAccountId()];
  await send(member(missing), member(other), { kind: 'nonsense', account_id: missing });
  await expect.poll(refused, SOON).toBe(3);
});

it('a redrive sends only the chosen ones again, shows the others, and is recorded', async () => {
  await createAccount(missing);
  await createAccount(other);
  const args = ['feed', 'redrive', '--account', String(missing), '--reason', 'does NOT exist'];
  const dry = await run([...args, '--dry-run']);
  expect(dry).toMatchObject({
    exitCode: 0,
    err: expect.stringContaining('1 refused record would be sent to the feed'),
  });
  expect(dry.out).toContain(`1 of account ${missing}: account ${missing} does not exist`);
  expect(await refused()).toBe(3);
  expect(await run(args)).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining('1 refused record sent to the feed again.\n'),
  });
  await expect.poll(() => members(missing), SOON).toBe(1);
  const left: { record: string }[] = (await json('feed status')).refused_records;
  expect(left.map(({ record }) => record).sort()).toEqual(
    [member(other), { kind: 'nonsense', account_id: missing }].map((record) => JSON.stringify(record)).sort(),
  );
  expect(await members(other)).toBe(0);
  const [entry] = await json(`audit --account ${missing}`);
  expect(entry).toMatchObject({ command: 'feed redrive', target: '1 refused record', result: 'done' });
  expect(await json(`audit --account ${other}`)).toEqual([]);
});

it('a redrive of all ends although what it sends is refused again, and leaves no row of an account that does not exist', async () => {
  const { records, count } = await json('feed redrive --all');
  expect(count).toBe(3);
  expect(records).toContainEqual({ account_id: other, reason: expect.stringContaining('does not exist'), count: 1 });
  await expect.poll(refused, SOON).toBe(3);
  expect((await run('check')).out).not.toMatch(`${missing}|${other}`);
});

it('what was refused of a call over HTTPS can only be dropped', async () => {
  await createAccount(other);
  const key = newAppKey();
  await load({ kind: 'app_key', account_id: other, app_key: key });
  await callService(url, '/feed/alertmanager', key, { alerts: ['unreadable'] });
  await expect.poll(refused, SOON).toBe(4);
  const reason = ['--reason', 'alerts[0]'];
  const redriven = await run(['feed', 'redrive', ...reason]);
  expect(redriven.out).toBe('0 refused records sent to the feed again. 1 of calls over HTTPS can only be dropped.\n');
  expect(await refused()).toBe(4);
  expect((await run(['feed', 'drop', '--account', String(other), ...reason])).out).toMatch(
    new RegExp(`^1 of account ${other}: alerts\\[0\\]: .*\n1 refused record dropped\\.\n$`),
  );
  expect(await refused()).toBe(3);
});

it('records are chosen by their time, and a command without a choice changes nothing', async () => {
  await sleep(500);
  for (const args of ['feed drop', 'feed drop --all --since 1h', 'feed redrive'])
    expect(await run(args)).toMatchObject({ exitCode: 2, err: expect.stringContaining('to choose records') });
  expect(await json('feed drop --until 1h')).toMatchObject({ count: 0 });
  expect(await json(`feed drop --since 100ms --account ${missing}`)).toMatchObject({ count: 0 });
  expect(await refused()).toBe(3);
  expect(await json('feed drop --since 1h --until 100ms')).toMatchObject({ count: 3, only_droppable: 0 });
  expect(await refused()).toBe(0);
});
