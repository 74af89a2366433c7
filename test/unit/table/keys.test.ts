import { expect, it } from 'vitest';
import {
  type Key,
  keys,
  ofKind,
  parseKey,
  partitions,
  patterns,
  type RowKind,
  shardsOf,
} from '../../../lib/table/keys.ts';

const ACCOUNT = -(2n ** 63n);
const A = `ACCOUNT#${ACCOUNT}`;
/** A text that holds what separates the values of keys. */
const TEXT = 'a#b\n7 😀';
const ID = '1a'.repeat(12);

// Rows outlive code: how a key is written must never change.
it.each<[kind: RowKind, values: unknown[], pk: string, sk: string]>([
  ['account', [], `${A}#ACCOUNT`, 'ACCOUNT'],
  ['audit', [9, TEXT], `${A}#AUDIT`, `000000000000009#${TEXT}`],
  ['lastRecord', ['host'], `${A}#LAST_RECORDS`, 'host'],
  ['member', [2n ** 63n - 1n], `${A}#MEMBERS`, '9223372036854775807'],
  ['host', [TEXT], `${A}#HOSTS`, TEXT],
  ['hostStatus', [TEXT], `${A}#HOST_STATUSES`, TEXT],
  ['retirement', [TEXT], `${A}#RETIREMENTS`, TEXT],
  ['rumResource', [], `${A}#RUM`, 'RESOURCE'],
  ['rumUsage', [], `${A}#RUM`, 'USAGE'],
  ['workItem', [TEXT], `${A}#WORK_ITEMS`, TEXT],
  ['incident', [ID], `${A}#INCIDENTS`, ID],
  ['alert', [ID], `${A}#ALERTS#a`, ID],
  ['alertKey', [TEXT], `${A}#ALERT_KEYS#f`, TEXT],
  ['historyEntry', [ID, 10], `${A}#HISTORY#${ID}`, '000000000000010'],
  ['logPointer', [10], `${A}#LOG`, '000000000000010'],
  ['logHead', [], `${A}#LOG_HEAD`, 'HEAD'],
  ['rateCount', ['browse-fleet', 9], `${A}#RATE#browse-fleet`, '9'],
  ['idempotency', ['merge-alerts', 'ff'], `${A}#IDEMPOTENCY`, 'merge-alerts#ff'],
])('a key of kind %s keeps its form, and reads back to what it was built from', (kind, values, pk, sk) => {
  const key = (keys[kind] as (...values: unknown[]) => Key)(ACCOUNT, ...values);
  expect([key, parseKey(key)]).toEqual([
    { pk, sk },
    { kind, account: ACCOUNT, values },
  ]);
});

it('the pattern of a kind has `*` for what its partition keys differ in, and no two accounts share one of its partitions', () => {
  const shapes = (Object.keys(patterns) as RowKind[]).map((kind) => {
    const partition = partitions[kind] as (...values: unknown[]) => string;
    return [
      patterns[kind],
      partition(7, 'x')
        .replace('#7', '#*')
        .replace(/#[7x]$/, '#*'),
    ];
  });
  for (const [pattern, shape] of shapes) expect(shape).toBe(pattern);
  expect(shardsOf(partitions.alert, 7)).toContain(keys.alert(7, ID).pk);
  expect(new Set(shardsOf(partitions.alertKey, 7))).toHaveLength(16);
});

it('app keys and the list of accounts have partitions of no account', () => {
  const [appKey, listed] = [keys.appKey('ff'), keys.listedAccount(70)];
  expect([appKey, parseKey(appKey)]).toEqual([
    { pk: 'APP_KEY#ff', sk: 'APP_KEY' },
    { kind: 'appKey', values: ['ff'] },
  ]);
  expect(listed).toEqual({ pk: 'ACCOUNTS', sk: '0000000000000000070' });
  expect(parseKey(listed)).toEqual({ kind: 'listedAccount', account: 70, values: [] });
});

it('a key of an unknown form is not parsed, and is of no kind', () => {
  for (const pk of [' ACCOUNT#1#HOSTS', 'ACCOUNT#1#HOSTS ', 'OTHER', 'ACCOUNT#1#UNHEARD_OF', 'ACCOUNT#x#HOSTS'])
    expect(parseKey({ pk, sk: 'x' }), pk).toBeUndefined();
  const rows = [keys.workItem(1, 'w'), { pk: 'OTHER', sk: 'x' }, keys.member(1, 7)];
  expect(ofKind('workItem', rows)).toEqual([keys.workItem(1, 'w')]);
});
