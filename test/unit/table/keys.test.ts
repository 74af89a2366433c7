import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toInt64 } from '../../../lib/shared/json.ts';
import { type Key, keys, ofKind, parseKey, type RowKind } from '../../../lib/table/keys.ts';

const account = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => toInt64(String(value)));
const text = fc.string({ unit: 'grapheme', minLength: 1 });
const objectId = fc.stringMatching(/^[0-9a-f]{24}$/);
const sequence = fc.integer({ min: 0, max: 999_999_999_999_999 });
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const name = fc.constantFrom('browse-fleet', 'merge-alerts');

/** What each kind of key is built from, the account aside. */
const PARTS: Record<RowKind, fc.Arbitrary<unknown>[]> = {
  account: [],
  listedAccount: [],
  appKey: [hash],
  audit: [sequence, text],
  member: [account],
  host: [text],
  hostStatus: [text],
  rumResource: [],
  rumUsage: [],
  workItem: [text],
  incident: [objectId],
  alert: [objectId],
  feedEntry: [objectId, sequence],
  logPointer: [sequence],
  mergeOrder: [],
  rateCount: [name, fc.nat()],
  idempotency: [name, hash],
};
const build = (kind: RowKind, parts: unknown[]) => (keys[kind] as (...parts: unknown[]) => Key)(...parts);

describe('a key', () => {
  it.each(Object.keys(keys) as RowKind[])('of a row of kind %s reads back to what it was built from', (kind) => {
    fc.assert(
      fc.property(account, fc.tuple(...PARTS[kind]), (accountId, parts) => {
        const hasAccount = kind !== 'appKey';
        const key = build(kind, hasAccount ? [accountId, ...parts] : parts);
        expect(parseKey(key)).toEqual({ kind, parts, ...(hasAccount && { account: accountId }) });
      }),
    );
  });

  it('of a feed entry, and of its place in the log, sorts by its sequence', () => {
    fc.assert(
      fc.property(sequence, sequence, (first, second) => {
        fc.pre(first < second);
        const id = 'a'.repeat(24);
        expect(keys.feedEntry(1, id, first).sk < keys.feedEntry(1, id, second).sk).toBe(true);
        expect(keys.logPointer(1, first).sk < keys.logPointer(1, second).sk).toBe(true);
      }),
    );
  });

  // Rows outlive code: how a key is written must never change.
  it.each<[RowKind, unknown[], string, string]>([
    ['account', [], 'ACCOUNT#7#ACCOUNT', 'ACCOUNT'],
    ['appKey', ['ab'], 'APP_KEY#ab', 'APP_KEY'],
    ['listedAccount', [], 'ACCOUNTS', '0000000000000000007'],
    ['audit', [12, 'id'], 'ACCOUNT#7#AUDIT', '000000000000012#id'],
    ['member', [5], 'ACCOUNT#7#MEMBERS', '5'],
    ['host', ['h'], 'ACCOUNT#7#HOSTS', 'h'],
    ['hostStatus', ['h'], 'ACCOUNT#7#HOST_STATUSES', 'h'],
    ['rumResource', [], 'ACCOUNT#7#RUM', 'RESOURCE'],
    ['rumUsage', [], 'ACCOUNT#7#RUM', 'USAGE'],
    ['workItem', ['w'], 'ACCOUNT#7#WORK_ITEMS', 'w'],
    ['incident', ['AB'], 'ACCOUNT#7#INCIDENTS', 'ab'],
    ['alert', ['AB'], 'ACCOUNT#7#ALERTS#b', 'ab'],
    ['feedEntry', ['AB', 12], 'ACCOUNT#7#FEED#ab', '000000000000012'],
    ['logPointer', [12], 'ACCOUNT#7#LOG', '000000000000012'],
    ['mergeOrder', [], 'ACCOUNT#7#MERGES', 'ORDER'],
    ['rateCount', ['browse-fleet', 9], 'ACCOUNT#7#RATE#browse-fleet', '9'],
    ['idempotency', ['merge-alerts', 'ff'], 'ACCOUNT#7#IDEMPOTENCY', 'merge-alerts#ff'],
  ])('of kind %s keeps its form', (kind, parts, pk, sk) => {
    expect(build(kind, kind === 'appKey' ? parts : [7, ...parts])).toEqual({ pk, sk });
  });

  it('of an unknown form is not parsed', () => {
    for (const pk of [' ACCOUNT#1#HOSTS', 'ACCOUNT#1#HOSTS ', 'OTHER', 'ACCOUNT#1#UNHEARD_OF', 'ACCOUNT#x#HOSTS'])
      expect(parseKey({ pk, sk: 'x' }), pk).toBeUndefined();
  });

  it('identifies the kind of its row', () => {
    const rows = [keys.workItem(1, 'w'), { pk: 'OTHER', sk: 'x' }, keys.member(1, 7)];
    expect(ofKind('workItem', rows)).toEqual([keys.workItem(1, 'w')]);
  });
});
