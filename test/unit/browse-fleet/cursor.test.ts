import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openCursor, sealCursor } from '../../../lib/operations/browse-fleet/browse.ts';

const hostId = fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }).filter((id) => id.isWellFormed());
const secret = fc.uint8Array({ minLength: 16, maxLength: 32 });

describe('a cursor', () => {
  it('decodes to the host that it was made for', () => {
    fc.assert(fc.property(secret, hostId, (key, id) => openCursor(key, sealCursor(key, id)) === id));
  });

  it('is refused with any other secret', () => {
    fc.assert(
      fc.property(secret, secret, hostId, (key, otherKey, id) => {
        // HMAC pads a short key with zeros, so keys that differ only in zeros at the end are the same secret.
        fc.pre(Buffer.compare(Buffer.concat([key], 64), Buffer.concat([otherKey], 64)) !== 0);
        expect(openCursor(otherKey, sealCursor(key, id))).toBeUndefined();
      }),
    );
  });

  it('is refused when any bit of it was changed', () => {
    fc.assert(
      fc.property(secret, hostId, fc.nat(), fc.integer({ min: 0, max: 7 }), (key, id, position, bit) => {
        const bytes = Buffer.from(sealCursor(key, id), 'base64url');
        const index = position % bytes.length;
        bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
        expect(openCursor(key, bytes.toString('base64url'))).toBeUndefined();
      }),
    );
  });

  it('is refused in any other spelling', () => {
    const key = randomBytes(32);
    for (const id of ['h1', 'h-12', 'host-123']) {
      const cursor = sealCursor(key, id);
      const bytes = Buffer.from(cursor, 'base64url');
      const spellings = [`${cursor}=`, ` ${cursor}`, `${cursor}\n`, `${cursor}A`, cursor.slice(0, -1), `${cursor}!`];
      if (bytes.toString('base64') !== cursor) spellings.push(bytes.toString('base64'));
      for (const spelling of spellings) expect(openCursor(key, spelling), spelling).toBeUndefined();
    }
  });

  it('is refused when it is any other text', () => {
    const key = randomBytes(32);
    expect(openCursor(key, '')).toBeUndefined();
    expect(openCursor(key, sealCursor(key, ''))).toBeUndefined();
    fc.assert(fc.property(fc.string(), (text) => openCursor(key, text) === undefined));
  });
});
