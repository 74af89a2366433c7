import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { hashAppKey } from '../../../../lib/http/app-keys.ts';
import { PERMISSIONS } from '../../../../lib/model/account.ts';
import { KINDS } from '../../../../lib/model/kinds.ts';
import { orderOf } from '../../../../lib/model/order.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { documentedLines } from '../../../../test/support/documents.ts';
import { inventory } from '../../../../test/support/fleet.ts';
import { newDouble, put } from '../../../../test/support/service.ts';
import { checkData, type DataError } from '../../data/check-lines.ts';
import { linesOf } from '../../data/lines.ts';

const NOW = 1_795_000_000_000;
const APP_KEY = 'secret-key'.repeat(4);

const withoutAccounts = newDouble();
const withAccounts = newDouble();
for (const id of [1, 2, 7]) await put(withAccounts, keys.account(id), { account_id: id });

type Line = string | object;
/** The problems of some lines, as a user reads them, without the name of the file. */
async function problemsOf(lines: Line[], table = withAccounts): Promise<string[]> {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify({ account_id: 1, ...line })));
  const error = await checkData(table, 'f', texts, { nowMs: NOW }).then(
    () => undefined,
    (error: DataError) => error,
  );
  const problems = error?.message.split('\n').filter((line) => !/^f: \d+ problems$/.test(line)) ?? [];
  return problems.map((line) => line.slice('f:'.length));
}

const documented = documentedLines();
const host = { kind: 'host', host_id: 'h', ...inventory() };
const item = (more: object = {}) => ({ kind: 'work_item', work_item_id: 'w', version: 1, title: 't', ...more });
const account = { kind: 'account', account_id: 7, name: 'n', permissions: [] };
const key = { kind: 'app_key', account_id: 7 };
const app_key_hash = hashAppKey(APP_KEY);
const incident = { kind: 'incident', incident_id: 'a'.repeat(24), title: 't' };
const ORDER = Buffer.from(orderOf(NOW, { sentMs: NOW, messageId: randomUUID(), line: 1 })).toString('hex');

it('the data format takes any time, and the orders that an export writes', async () => {
  const future = item({ at_ms: NOW + 300_001, row_order: ORDER, deletion_order: ORDER, snapshot_order: 'its own' });
  const orders = { title_order: ORDER.slice(0, 12), owner_order: ORDER };
  expect(await problemsOf([future, { ...incident, ...orders }])).toEqual([]);
});

it('the data format accepts the documented line of every kind', async () => {
  expect(documented.map((line) => JSON.parse(line).kind)).toEqual([...KINDS, 'alert']);
  expect(await problemsOf(documented)).toEqual([]);
});

// The tests of the feed check the kinds that it has.
it.each<[line: object, problem: string]>([
  [{ ...account, name: undefined }, 'name is required and must be'],
  [{ ...account, permissions: ['root'] }, `permissions[0] must be one of ${PERMISSIONS.join(', ')}`],
  [key, 'exactly one of app_key and app_key_hash is required'],
  [{ ...key, app_key: APP_KEY, app_key_hash }, 'exactly one of app_key and app_key_hash is required'],
  [{ ...key, app_key: 'k'.repeat(31) }, 'app_key must'],
  [{ ...key, app_key_hash: 'short' }, 'app_key_hash must'],
  [{ ...key, app_key: APP_KEY, expires_at: NOW }, 'expires_at must be an integer from 0 to 99999999999: it is in sec'],
  ...['', 5, 'ff', '00'.repeat(24), 'g'.repeat(48), ORDER.slice(0, 12), `${ORDER}00`, ORDER.toUpperCase()].map(
    (row_order): [object, string] => [item({ row_order }), 'row_order must be as export writes it, or left out'],
  ),
  [{ ...incident, incident_id: '0'.repeat(24) }, 'incident_id must not be all zeros'],
  [{ kind: 'alert', alert_id: 'a'.repeat(24), title: 't', incident_id: '0'.repeat(24) }, 'incident_id must not be all'],
  [{ ...incident, title_order: 'ff' }, 'title_order must be as export writes it, or left out'],
  [{ ...incident, row_order: ORDER }, 'row_order is not a field of this kind'],
  [item({ ttl: 1 }), 'ttl is reserved: rename the field'],
])('the data format refuses %j', async (line, problem) => {
  expect(await problemsOf([host, line, host])).toEqual([expect.stringContaining(`2: ${problem}`)]);
});

it('the data format names the problems of all lines, but of more than 20 only their number', async () => {
  const two = expect.stringMatching(/^1: (pk|ttl) is reserved/);
  expect(await problemsOf([item({ pk: 'x', ttl: 1 }), '{'])).toEqual([two, two, expect.stringMatching(/^2: /)]);
  const problems = await problemsOf(Array.from({ length: 25 }, () => '{'));
  expect([problems.length, problems.at(-1)]).toEqual([21, ' 25 problems, of which 20 are shown']);
});

it('the data format requires the account of every line in the data or the table, and never shows a key', async () => {
  const keyLine = { ...key, app_key: APP_KEY };
  expect(await problemsOf([keyLine], withoutAccounts)).toEqual([expect.stringMatching('^1: account 7 does not exist')]);
  expect(await problemsOf([keyLine, account], withoutAccounts)).toEqual([]);
  expect(await problemsOf([keyLine])).toEqual([]);
  for (const line of [keyLine, `{"app_key":"${APP_KEY}"`])
    expect((await problemsOf([line], withoutAccounts)).join()).toMatch(/^1: (?!.*secret-key)/);
});

it('a line has at most 64 KB, that of an export 512 KB, and no more is kept', async () => {
  const chunk = Buffer.alloc(1 << 16, 'é');
  function* endless() {
    for (let read = 0; read < 3_000; read += 1) yield chunk;
    yield Buffer.from(`\n${' '.repeat(500_000)}\n{`);
    yield Buffer.alloc(50_000, ' ');
  }
  const before = process.memoryUsage().arrayBuffers;
  const kept = await Array.fromAsync(linesOf(Readable.from(endless())));
  expect(kept[0]).toEqual({ problem: 'must be at most 524288 bytes: it has 196608000' });
  expect(kept.slice(1).map((line) => String(line).length)).toEqual([500_000, 50_001]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  const bytes = Buffer.byteLength(JSON.stringify({ account_id: 1, ...item({ notes: '' }) }));
  const notes = `${'é'.repeat(30_000)}${'x'.repeat(65_536 - bytes - 60_000)}`;
  expect(await problemsOf([item({ notes })])).toEqual([]);
  expect(await problemsOf([item({ notes: `${notes}x` })])).toEqual(['1: must be at most 65536 bytes: it has 65537']);
  expect(await problemsOf([item({ notes: notes.repeat(7), row_order: ORDER })])).toEqual([]);
});

it('a line ends at a line feed only, and is in UTF-8', async () => {
  const input = Readable.from(['{"a":', 'a\u2028\nb\r\n', Buffer.from('\u00fc\n', 'latin1'), '\nc']);
  expect(await Array.fromAsync(linesOf(input))).toEqual([
    '{"a":a\u2028',
    'b\r',
    { problem: 'is not valid UTF-8' },
    '',
    'c',
  ]);
  expect(await Array.fromAsync(linesOf(Readable.from(['a\n', 'b', ''])))).toEqual(['a', 'b']);
});
