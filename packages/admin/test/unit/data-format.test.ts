import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashAppKey } from '../../../../lib/http/app-keys.ts';
import { KINDS } from '../../../../lib/ingest/kinds.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { documentedLines } from '../../../../test/support/documents.ts';
import { inventory } from '../../../../test/support/fleet.ts';
import { newDouble, put } from '../../../../test/support/service.ts';
import { DEMO_KEYS, sampleData } from '../../../local/sample.ts';
import { checkData, DataError } from '../../data/check-lines.ts';
import { linesOf } from '../../data/lines.ts';

const withoutAccounts = newDouble();
const withAccounts = newDouble();
for (const id of [1, 2, 7, 9007199254740993n]) await put(withAccounts, keys.account(id), { account_id: id });

/** The problems of some lines, as a user reads them. */
async function problemsOf(lines: (string | object)[], table = withAccounts): Promise<string[]> {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  return checkData(table, 'f', texts, { nowMs: NOW }).then(
    () => [],
    (error: DataError) => error.message.split('\n').filter((line) => !/^f: \d+ problems$/.test(line)),
  );
}

const NOW = 1_795_000_000_000;
const APP_KEY = 'k'.repeat(32);

const host = { kind: 'host', account_id: 1, host_id: 'h', ...inventory() };
/** A work item with these additional fields. */
const item = (more: object = {}) => ({
  ...{ kind: 'work_item', account_id: 1, work_item_id: 'w', version: 1, title: 't', ...more },
});

const documented = documentedLines();

describe('the data format', () => {
  it('accepts the documented line of every kind', async () => {
    expect(documented.map((line) => JSON.parse(line).kind)).toEqual(KINDS);
    expect(await problemsOf(documented)).toEqual([]);
  });

  it('accepts the sample data, which contains every kind', async () => {
    const checked = await checkData(withoutAccounts, 'sample', sampleData(NOW), { nowMs: NOW });
    expect(new Set(checked.map(({ entity }) => entity.kind))).toEqual(new Set(KINDS));
  });

  it.each(
    documented.flatMap((line) => Object.keys(JSON.parse(line)).map((field) => [JSON.parse(line).kind, field, line])),
  )('knows whether %s requires %s, and names a missing field', async (kind, field, line) => {
    const { [field]: _omitted, ...rest } = JSON.parse(line);
    const problems = await problemsOf([rest]);
    const optional = [...['expires_at', 'capability_status', 'capture_mode', 'report_interval_ms', 'owner_id']];
    const isPartOfReport = kind === 'host_status' && !['kind', 'account_id', 'host_id'].includes(field);
    if (optional.includes(field) || isPartOfReport || (kind === 'alert' && field === 'incident_id'))
      expect(problems).toEqual([]);
    else if (field === 'alert_id') expect(problems).toEqual(['f:1: exactly one of alert_id and source_id is required']);
    else if (field === 'app_key')
      expect(problems).toEqual(['f:1: exactly one of app_key and app_key_hash is required']);
    else if (field === 'kind') expect(problems).toEqual([`f:1: kind must be one of ${KINDS.join(', ')}`]);
    else
      expect(problems).toEqual([expect.stringMatching(`^f:1: ${field.replace('.', '\\.')} is required and must be `)]);
  });

  it.each(['null', '[]', '"x"', '7', '{}', '{"kind":"constructor"}', '{"kind":"__proto__"}'])(
    'refuses the line %s',
    async (line) => {
      expect(await problemsOf([line])).toHaveLength(1);
    },
  );

  const INEXACT =
    'more must not contain integers beyond the int64 range, fractions closer to 0 than 1e-130, or fractions that a double rounds to an integer';
  const tooDeep = Array.from({ length: 40 }).reduce((inner) => [inner], 1);
  const wrongHost = { ...host, host_id: 'g', enabled: 'yes', report_interval_ms: 0, capture_mode: 'magic', extra: 1 };
  const account = { kind: 'account', account_id: 7, name: 'n', permissions: [] };
  const key = { kind: 'app_key', account_id: 7 };
  const app_key_hash = hashAppKey(APP_KEY);
  it.each<[what: string, lines: (string | object)[], problems: string[]]>([
    [
      'every problem of every line',
      ['', host, wrongHost, 'not json'],
      [
        '3: extra is not a field of this kind',
        '3: enabled must be true or false',
        '3: capture_mode must be one of ebpf, polling',
        '3: report_interval_ms must be an integer from 1 to 604800000',
        '4: is not valid JSON (column 1)',
      ],
    ],
    [
      'a time of more than five minutes ahead',
      [{ ...host, at_ms: NOW + 300_000 }, item({ at_ms: NOW + 300_001 })],
      ['2: at_ms is 300001 ms after the record was sent: set the clock that it is from'],
    ],
    [
      'numbers that a row cannot hold',
      [item({ more: 1e20 }), item({ more: { a: [1e-200] } })],
      [`1: ${INEXACT}`, `2: ${INEXACT}`],
    ],
    ['a lone surrogate', [item({ more: { a: ['\ud800'] } })], ['1: more must be well-formed Unicode']],
    [
      'an empty name',
      [item({ more: { '': 1 } })],
      [
        '1: more must not contain field names that are empty, longer than 128 characters, __proto__ or not well-formed Unicode',
      ],
    ],
    ['nesting too deep', [item({ more: tooDeep })], ['1: more must not be nested deeper than 31 levels']],
    [
      'fields that the table reserves',
      [item({ pk: 'x', ttl: 1 })],
      ['pk', 'ttl'].map((field) => `1: ${field} is reserved: rename the field`),
    ],
    [
      'an app key and its hash',
      [account, { ...key, app_key: APP_KEY, app_key_hash }],
      ['2: exactly one of app_key and app_key_hash is required'],
    ],
    [
      'more than twenty problems',
      Array.from({ length: 25 }, () => '{'),
      [
        ...Array.from({ length: 20 }, (_, index) => `${index + 1}: is not valid JSON (column 2)`),
        ' 25 problems, of which 20 are shown',
      ],
    ],
  ])('refuses %s', async (_what, lines, problems) => {
    expect(await problemsOf(lines)).toEqual(problems.map((problem) => `f:${problem}`));
  });

  it.each([null, 'x', {}, { version: 'x', at_ms: 1 }, { version: 1.5, at_ms: 1 }, { version: 1, at_ms: 1, by: 1 }])(
    'refuses %j as the undone deletion of a work item',
    async (undone_deletion) => {
      expect(await problemsOf([item({ undone_deletion: { version: 2, at_ms: 1, by: 'k' } })])).toEqual([]);
      expect(await problemsOf([item({ undone_deletion })])).toEqual([
        expect.stringContaining('f:1: undone_deletion must have version'),
      ]);
    },
  );

  const member = { kind: 'member', member_id: 1, name: '😀'.repeat(512) };
  it.each([
    ['a key that is short', { kind: 'app_key', app_key: 'k'.repeat(31) }, 'app_key'],
    ['a hash that is short', { kind: 'app_key', app_key_hash: 'short' }, 'app_key_hash'],
    ['an expiry beyond 2^53', { kind: 'app_key', app_key: APP_KEY, expires_at: 2 ** 60 }, 'expires_at'],
    ['half a surrogate pair in a list', { ...host, host_id: 'g', reason_codes: ['\ud800'] }, 'reason_codes'],
    ['a permission that does not exist', { kind: 'account', name: 'n', permissions: ['root'] }, 'permissions'],
    ['an incident whose id is no ObjectID', { kind: 'incident', incident_id: 'x', title: 't' }, 'incident_id'],
    ['an alert whose id is no ObjectID', { kind: 'alert', alert_id: 'x', title: 't' }, 'alert_id'],
    ['a work item with an empty id', { kind: 'work_item', work_item_id: '', version: 1, title: 't' }, 'work_item_id'],
    ['a RUM resource whose status is a number', { ...JSON.parse(documented[5] ?? ''), status: 1 }, 'status'],
    ['a name of more than 512 code points', { ...member, name: '😀'.repeat(513) }, 'name'],
  ])('refuses %s, and names its line and field', async (_what, line, field) => {
    const problems = await problemsOf([host, { account_id: 1, ...line }, { account_id: 1, ...member, member_id: 2 }]);
    expect(problems).toEqual([expect.stringMatching(`^f:2: ${field}`)]);
  });

  it.each([
    [{ kind: 'app_key', app_key: APP_KEY, expires_at: 1_830_000_000_000 }, 'expires_at'],
    [{ ...JSON.parse(documented[5] ?? ''), created_at: 1_830_000_000_000 }, 'created_at'],
    [{ ...JSON.parse(documented[5] ?? ''), window_end_time: 1_830_000_000_000 }, 'window_end_time'],
  ])('refuses %j: the time is in milliseconds, and the message asks for seconds', async (line, field) => {
    const problems = await problemsOf([{ account_id: 1, ...line }]);
    expect(problems).toEqual([expect.stringMatching(`^f:1: ${field} .* it is in seconds`)]);
    expect(await problemsOf([{ account_id: 1, ...line, [field]: 1_830_000_000 }])).toEqual([]);
  });

  it('lists problems in the order of lines, whichever check finds them', async () => {
    const lines = [{ ...host, account_id: 7 }, '{', { ...host, account_id: 7, host_id: 'g' }];
    const problems = await problemsOf(lines, withoutAccounts);
    expect(problems.map((problem) => problem.slice(0, 3))).toEqual(['f:1', 'f:2', 'f:3']);
  });

  it('refuses a line of more than 64 KB, of which it keeps no more than that', async () => {
    let read = 0;
    const chunk = Buffer.alloc(1 << 16, 'é');
    const endless = Readable.from(
      (function* () {
        for (; read < 3_000; read += 1) yield chunk;
        yield Buffer.from('\n{');
      })(),
    );
    const before = process.memoryUsage().arrayBuffers;
    const kept: (string | undefined)[] = [];
    for await (const line of linesOf(endless)) kept.push(line);
    expect(kept.map((line) => line?.length)).toEqual([65_537, 1]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
    expect(await problemsOf([kept[0] ?? ''])).toEqual(['f:1: is longer than 65536 bytes']);
    const bytes = Buffer.byteLength(JSON.stringify(item({ notes: '' })));
    const notes = `${'é'.repeat(30_000)}${'x'.repeat(65_536 - bytes - 60_000)}`;
    expect(await problemsOf([item({ notes })])).toEqual([]);
    expect(await problemsOf([item({ notes: `${notes}x` })])).toHaveLength(1);
  });

  it('requires the account of every line in the data or the table, and never shows a key', async () => {
    const ofDemo = { ...key, app_key: DEMO_KEYS.demo };
    expect(await problemsOf([ofDemo, host], withoutAccounts)).toEqual([
      expect.stringContaining('f:1: account 7 does not exist'),
      expect.stringContaining('f:2: account 1 does not exist'),
    ]);
    expect(await problemsOf([ofDemo])).toEqual([]);
    expect(await problemsOf([ofDemo, account], withoutAccounts)).toEqual([]);
    expect(await problemsOf([account, { ...key, app_key_hash, last_digits: 'k' }], withoutAccounts)).toEqual([]);
    const withKey = [[ofDemo], [`{"app_key":"${DEMO_KEYS.demo}"`]];
    for (const lines of withKey) {
      const shown = await problemsOf(lines, withoutAccounts);
      expect([shown.length, shown.join().includes(DEMO_KEYS.demo)]).toEqual([1, false]);
    }
  });

  it('keeps an int64 exact', async () => {
    const line =
      '{"kind":"incident","account_id":9007199254740993,"incident_id":"64f000000000000000000001","title":"t","owner_id":-9223372036854775808}';
    const [checked] = await checkData(withAccounts, 'f', [line], { nowMs: NOW });
    expect(checked?.entity).toMatchObject({ account_id: 9007199254740993n, owner_id: -9223372036854775808n });
    expect(await problemsOf([line.replace('-9223372036854775808', '-9223372036854775809')])).toHaveLength(1);
  });

  it('property: returns entities or throws a DataError for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.string(), fc.json(), fc.constantFrom(...documented))), async (lines) => {
        await checkData(withoutAccounts, 'f', lines, { nowMs: NOW }).catch((error: unknown) =>
          expect(error).toBeInstanceOf(DataError),
        );
      }),
    );
  });
});
