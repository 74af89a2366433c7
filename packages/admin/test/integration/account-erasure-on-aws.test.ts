/** What an erasure does on AWS besides the table: the gateway key, and the queue of refused records. */
import { beforeEach, expect, it } from 'vitest';
import { keys } from '../../../../lib/table/keys.ts';
import { newTable, put, stored } from '../../../../test/support/service.ts';
import { SETTLE_MS } from '../../accounts/erase-account.ts';
import { enterFakeAws } from '../support/aws.ts';
import { clientOf, serveFeed } from '../support/feed-queues.ts';
import { runCommand } from '../support/run-admin.ts';

const table = await newTable();
const outputs: Record<string, string> = { TableName: table.name, AccountPlanId: 'plan' };
const aws = await enterFakeAws({ Service: { outputs } });
let feed: Awaited<ReturnType<typeof serveFeed>>;
beforeEach(async () => {
  feed = await serveFeed();
  Object.assign(outputs, feed);
});
const run = (command: string) =>
  runCommand([...command.split(' '), '--region', 'eu-west-1', '--yes'], {
    now: () => {
      atMs += SETTLE_MS;
      return atMs;
    },
  });
let atMs = Date.now();
for (const id of [4, 42, 421])
  expect(await run(`account create ${id} --name Acme --stack Service`)).toMatchObject({ exitCode: 0 });

it('requires a stack', async () => {
  const whole = expect.stringContaining('Pass --stack NAME instead of --table');
  expect(await run(`account erase 42 --table ${table.name}`)).toMatchObject({ exitCode: 2, err: whole });
});

it('deletes the gateway key before the rows, so that a lack of rights for it leaves them; another run goes on', async () => {
  const others = aws.gateway.keys.filter(({ name }) => !name.endsWith('-account-42'));
  aws.gateway.failures = ['AccessDeniedException'];
  await put(table, keys.member(42, 1), { name: 'Ada' });
  const denied = expect.stringContaining('AWS denied access');
  expect(await run('account erase 42 --stack Service')).toMatchObject({ exitCode: 1, err: denied });
  expect(await stored(table, keys.member(42, 1))).toBeDefined();
  expect(await run('account erase 42 --stack Service')).toMatchObject({ exitCode: 0 });
  expect(aws.gateway.keys).toEqual(others);
  expect(others).toHaveLength(2);
  expect(await stored(table, keys.member(42, 1))).toBeUndefined();
  expect((await run('gateway-keys create --stack Service')).out).toBe('Gateway keys of 2 accounts exist.\n');
});

it('deletes refused messages of the account, leaves those of others, and says what it leaves that may be of the account', async () => {
  const record = (account_id: number, more: object = {}) =>
    JSON.stringify({ kind: 'host', account_id, host_id: 'Ada', ...more });
  const cut = '{"account_id": 42, "host_id":"Ad';
  const messages: Record<string, { body: string; group?: string }> = {
    own: { body: record(42) },
    'with a number as no regular expression knows it': { body: '{"\\u0061ccount_id":4200e-2,"account_id" : 420e-1}' },
    'with another account in a field': { body: record(42, { x: { account_id: 421 } }) },
    'several lines': { body: `\ufeff${record(42)}\n\n${record(42)}` },
    'one record in several lines': { body: '{"account_id":42,"x":\n{"account_id":421}\n}' },
    'cut, of its group': { body: cut, group: '42' },
    unread: { body: JSON.stringify({ account_id: 42, from: '/feed/records', text: record(4) }), group: '42' },
    'of its group': { body: '{"x":{"account_id":421},', group: '42' },
    other: { body: record(421), group: '421' },
    'other, with the account in a field': { body: record(421, { x: { account_id: 42 } }) },
    'other, with the account in a line of one record': { body: '{"account_id":421,"x":\n{"account_id":42}\n}' },
    'other, with the account in a text': { body: record(421, { host_id: '"account_id":42' }) },
    'of a group of others': { body: 'Bea', group: '4' },
    'cut, of a group of others': { body: cut, group: '4' },
    mixed: { body: `${record(421)}\n${record(42)}` },
    'mixed with its group': { body: record(421), group: '42' },
    'mixed with a group of others': { body: record(42), group: '421' },
    'cut, of no group': { body: cut },
    'own, with a line that cannot be read': { body: `${record(42)}\n${cut}` },
  };
  const sqs = clientOf(feed.FeedRefusedUrl);
  const QueueUrl = feed.FeedRefusedUrl;
  for (const [name, { body: MessageBody, group: MessageGroupId }] of Object.entries(messages)) {
    const MessageAttributes = { name: { DataType: 'String', StringValue: name } };
    await sqs.sendMessage({ QueueUrl, MessageBody, MessageAttributes, MessageGroupId });
  }
  const { exitCode, out, err } = await run('account erase 42 --stack Service');
  expect([exitCode, out]).toEqual([0, expect.stringContaining('0 rows and 8 refused messages')]);
  expect(err.split('\n').slice(-3)).toEqual([
    'Left: 4 refused messages of this account and others. Redrive them (docs/feed.md), which drops the records of this account. What is refused again can only be dropped as a whole.',
    'Left: 1 refused message with text that names no account: see `feed status`, and drop what is of this account.',
    '',
  ]);
  // All that are left are visible.
  const left: (string | undefined)[] = [];
  for (let read = 0; read < 2; read += 1) {
    const call = { QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
    const { Messages = [] } = await sqs.receiveMessage(call);
    left.push(...Messages.map(({ MessageAttributes }) => MessageAttributes?.name?.StringValue));
  }
  expect(left).toEqual([
    'other',
    'other, with the account in a field',
    'other, with the account in a line of one record',
    'other, with the account in a text',
    'of a group of others',
    'cut, of a group of others',
    'mixed',
    'mixed with its group',
    'mixed with a group of others',
    'cut, of no group',
    'own, with a line that cannot be read',
  ]);
});
