import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openCursor, sealCursor } from '../../../lib/http/cursors.ts';

const anyHost = fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }).filter((id) => id.isWellFormed());
const caller = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((cursorSecret) => ({ cursorSecret }));
const CALLER = { cursorSecret: Buffer.alloc(32, 'k') };

it('a cursor opens with its own secret and purpose, and with no other or when any bit was changed', () =>
  fc.assert(
    fc.property(caller, caller, anyHost, fc.nat(), fc.nat(7), (own, other, host, position, bit) => {
      const cursor = sealCursor(own, 'list-1', host);
      expect(openCursor(own, 'list-1', cursor)).toBe(host);
      expect(openCursor(own, 'list-2', cursor)).toBeUndefined();
      if (Buffer.compare(own.cursorSecret, other.cursorSecret) !== 0)
        expect(openCursor(other, 'list-1', cursor)).toBeUndefined();
      const bytes = Buffer.from(cursor, 'base64url');
      const index = position % bytes.length;
      bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
      expect(openCursor(own, 'list-1', bytes.toString('base64url'))).toBeUndefined();
    }),
  ));

it('a cursor stays valid when the service is deployed again', () => {
  expect(openCursor(CALLER, 'fleet-cursor-1', 'qiBGfF-90Kv5mUiSGf5Qe2gx')).toBe('h1');
});
