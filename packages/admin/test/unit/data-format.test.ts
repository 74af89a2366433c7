import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashAppKey } from '../../../../lib/http/app-keys.ts';
import { KINDS } from '../../../../lib/ingest/kinds.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { documentedLines } from '../../../../test/support/documents.ts';
import { inventory } from '../../../../test/support/fleet.ts';
import { newDouble, put } from '../../../../test/support/service.ts';
import { DEMO_KEYS, sampleData } from '../../../local/sample.ts';
import { checkData, DataError } from '../../data/check-lines.ts';
import { linesOf } from '../../data/lines.ts';

const NOW = 1_795_000_000_000;
const APP_KEY = 'k'.repeat(32);

const withoutAccounts = newDouble();
const withAccounts = newDouble();
for (const id of [1, 2, 7, 9007199254740993n]) await put(withAccounts, keys.account(id), { account_id: id });

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
const member = (length: number) => ({ kind: 'member', member_id: 1, name: '😀'.repeat(length) });
const resource = JSON.parse(documented[5] ?? '');
const account = { kind: 'account', account_id: 7, name: 'n', permissions: [] };
const key = { kind: 'app_key', account_id: 7 };
const app_key_hash = hashAppKey(APP_KEY);

it('the data format accepts the documented line of every kind, and the sample data', async () => {
  expect(documented.map((line) => JSON.parse(line).kind)).toEqual(KINDS);
  expect(await problemsOf(documented)).toEqual([]);
  const checked = await checkData(withoutAccounts, 'sample', sampleData(NOW), { nowMs: NOW });
  expect(new Set(checked.map(({ entity }) => entity.kind))).toEqual(new Set(KINDS));
});

const APP_KEY_LINE = { ...key, app_key: APP_KEY };
const tooDeep = Array.from({ length: 40 }).reduce((inner) => [inner], 1);
const inMs = 1_830_000_000_000;
const NAMES =
  'more must not contain field names that are empty, longer than 128 characters, __proto__ or not well-formed';
const INEXACT =
  'must not contain integers beyond the int64 range, fractions closer to 0 than 1e-130, or fractions that a';
const NO_KIND = `kind must be one of ${KINDS.join(', ')}`;
it.each<[line: Line, problem: string]>([
  ...['null', '[]', '"x"', '7'].map((line): [Line, string] => [line, 'a line must be a JSON object']),
  ...['{}', '{"kind":"constructor"}', '{"kind":"__proto__"}'].map((line): [Line, string] => [line, NO_KIND]),
  ['not json', 'is not valid JSON (column 1)'],
  [{ ...account, name: undefined }, 'name is required and must be'],
  [{ ...host, host_id: undefined }, 'host_id is required and must be'],
  [key, 'exactly one of app_key and app_key_hash is required'],
  [{ kind: 'alert', title: 't' }, 'exactly one of alert_id and source_id is required'],
  [{ ...host, enabled: 'yes' }, 'enabled must be true or false'],
  [{ ...host, capture_mode: 'magic' }, 'capture_mode must be one of ebpf, polling'],
  [{ ...host, report_interval_ms: 0 }, 'report_interval_ms must be an integer from 1 to 604800000'],
  [{ ...host, extra: 1 }, 'extra is not a field of this kind'],
  [{ ...host, reason_codes: ['\ud800'] }, 'reason_codes must be well-formed Unicode'],
  [item({ at_ms: NOW + 300_001 }), 'at_ms is 300001 ms after the record was sent: set the clock that it is from'],
  [item({ at_ms: 1_830_000_000 }), 'at_ms must be an integer from 1000000000000 to 9999999999999: it is in milli'],
  [item({ more: 1e20 }), `more ${INEXACT}`],
  [item({ more: { a: [1e-200] } }), `more ${INEXACT}`],
  [item({ more: { a: ['\ud800'] } }), 'more must be well-formed Unicode'],
  [item({ more: { '': 1 } }), NAMES],
  [item({ more: tooDeep }), 'more must not be nested deeper than 31 levels'],
  [item({ ttl: 1 }), 'ttl is reserved: rename the field'],
  ...[null, 'x', {}, { version: 'x', at_ms: 1 }, { version: 1.5, at_ms: 1 }, { version: 1, at_ms: 1, by: 1 }].map(
    (undone_deletion): [Line, string] => [item({ undone_deletion }), 'undone_deletion must have version'],
  ),
  [{ ...APP_KEY_LINE, app_key_hash }, 'exactly one of app_key and app_key_hash is required'],
  [{ ...APP_KEY_LINE, app_key: 'k'.repeat(31) }, 'app_key must'],
  [{ ...APP_KEY_LINE, expires_at: 2 ** 60 }, 'expires_at must'],
  [{ ...APP_KEY_LINE, expires_at: inMs }, 'expires_at must be an integer from 0 to 99999999999: it is in seconds'],
  [{ ...key, app_key_hash: 'short' }, 'app_key_hash must'],
  [{ ...account, permissions: ['root'] }, 'permissions[0] must be one of monit, feed'],
  [
    { ...resource, created_at: inMs },
    `created_at must be an integer from 0 to 99999999999: it is in seconds, and ${inMs}`,
  ],
  [member(513), 'name must'],
])('the data format refuses %j', async (line, problem) => {
  expect(await problemsOf([host, line, host])).toEqual([expect.stringMatching(/^2: /)]);
  expect(await problemsOf([line])).toEqual([expect.stringContaining(`1: ${problem}`)]);
});

it('the data format names the problems of all lines, but of more than 20 only their number', async () => {
  const good = [
    member(512),
    { ...host, at_ms: NOW + 300_000 },
    item({ undone_deletion: { version: 2, at_ms: 0, by: 'k' } }),
  ];
  expect(await problemsOf(['', ...good])).toEqual([]);
  const two = expect.stringMatching(/^1: (pk|ttl) is reserved/);
  expect(await problemsOf([item({ pk: 'x', ttl: 1 }), '{'])).toEqual([two, two, expect.stringMatching(/^2: /)]);
  const problems = await problemsOf(Array.from({ length: 25 }, () => '{'));
  expect([problems.length, problems.at(-1)]).toEqual([21, ' 25 problems, of which 20 are shown']);
});

it('the data format requires the account of every line in the data or the table, and never shows a key', async () => {
  const ofDemo = { ...key, app_key: DEMO_KEYS.demo };
  const missing = [1, 7, 1].map((id, index) =>
    expect.stringMatching(`^${index + 1}: ${id === 7 ? 'account 7 does not exist' : ''}`),
  );
  expect(await problemsOf([host, ofDemo, '{'], withoutAccounts)).toEqual(missing);
  for (const lines of [
    [ofDemo, account],
    [account, { ...key, app_key_hash, last_digits: 'k' }],
  ])
    expect(await problemsOf(lines, withoutAccounts)).toEqual([]);
  expect(await problemsOf([ofDemo])).toEqual([]);
  for (const line of [ofDemo, `{"app_key":"${DEMO_KEYS.demo}"`])
    expect((await problemsOf([line], withoutAccounts)).join()).toMatch(/^1: (?!.*demo-key)/);
});

it('a line has at most 64 KB, of which no more is kept', async () => {
  const chunk = Buffer.alloc(1 << 16, 'é');
  function* endless() {
    for (let read = 0; read < 3_000; read += 1) yield chunk;
    yield Buffer.from('\n{');
  }
  const before = process.memoryUsage().arrayBuffers;
  const kept = await Array.fromAsync(linesOf(Readable.from(endless())));
  expect(kept.map((line) => line?.length)).toEqual([65_537, 1]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  expect(await problemsOf([kept[0] ?? ''])).toEqual(['1: is longer than 65536 bytes']);
  const bytes = Buffer.byteLength(JSON.stringify({ account_id: 1, ...item({ notes: '' }) }));
  const notes = `${'é'.repeat(30_000)}${'x'.repeat(65_536 - bytes - 60_000)}`;
  expect(await problemsOf([item({ notes })])).toEqual([]);
  expect(await problemsOf([item({ notes: `${notes}x` })])).toHaveLength(1);
});

it('a line ends at a line feed only, and is in UTF-8', async () => {
  const input = Readable.from([
    Buffer.from('{"kind":"member",'),
    'a\u2028\nb\r\n',
    Buffer.from('\u00fc\n', 'latin1'),
    '\nc',
  ]);
  expect(await Array.fromAsync(linesOf(input))).toEqual(['{"kind":"member",a\u2028', 'b\r', undefined, '', 'c']);
});

it('an int64 is kept exact', async () => {
  const line =
    '{"kind":"incident","account_id":9007199254740993,"incident_id":"64f000000000000000000001","title":"t","owner_id":-9223372036854775808}';
  const [checked] = await checkData(withAccounts, 'f', [line], { nowMs: NOW });
  expect(checked?.entity).toMatchObject({ account_id: 9007199254740993n, owner_id: -9223372036854775808n });
  expect(await problemsOf([line.replace('-9223372036854775808', '-9223372036854775809')])).toHaveLength(1);
});

it('property: any text gives entities or a DataError', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.string(), fc.json(), fc.constantFrom(...documented))), async (lines) => {
      await checkData(withoutAccounts, 'f', lines, { nowMs: NOW }).catch((error: unknown) =>
        expect(error).toBeInstanceOf(DataError),
      );
    }),
  );
});
