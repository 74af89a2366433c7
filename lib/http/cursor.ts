/** Cursors of lists, which only this service can make: each is signed with the account's secret for one purpose. */
import { createHmac, timingSafeEqual } from 'node:crypto';

const TAG_BYTES = 16;

function tagOf(secret: Uint8Array, purpose: string, position: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${purpose}:`).update(position).digest().subarray(0, TAG_BYTES);
}

/**
 * A cursor that continues after `position`.
 * @param purpose what the list is of, without a colon; another purpose, or version of it, invalidates cursors
 */
export function sealCursor(secret: Uint8Array, purpose: string, position: string): string {
  const bytes = Buffer.from(position);
  return Buffer.concat([tagOf(secret, purpose, bytes), bytes]).toString('base64url');
}

/** The position after which a cursor continues; undefined if it was not issued with this secret for this purpose. */
export function openCursor(secret: Uint8Array, purpose: string, cursor: string): string | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== cursor) return undefined;
  const position = bytes.subarray(TAG_BYTES);
  return timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(secret, purpose, position))
    ? position.toString()
    : undefined;
}
