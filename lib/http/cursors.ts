/** Cursors: each continues a list, and only the account that it was issued to can use it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Caller } from './operation.ts';

type Owner = Pick<Caller, 'cursorSecret'>;

const TAG_BYTES = 16;

const tagOf = ({ cursorSecret }: Owner, purpose: string, position: Buffer): Buffer =>
  createHmac('sha256', cursorSecret).update(`${purpose}:`).update(position).digest().subarray(0, TAG_BYTES);

/**
 * A cursor that continues after `position`, which only this service can make.
 * @param purpose the list and its filters: a cursor is valid for no other. The tag covers purpose, colon and position as one text, so no
 *   purpose may be another one with a colon and more behind it
 */
export function sealCursor(owner: Owner, purpose: string, position: string): string {
  const bytes = Buffer.from(position);
  return Buffer.concat([tagOf(owner, purpose, bytes), bytes]).toString('base64url');
}

/** The position after which a cursor continues; undefined if it was not issued to this account for this purpose. */
export function openCursor(owner: Owner, purpose: string, cursor: string): string | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== cursor) return undefined;
  const [tag, position] = [bytes.subarray(0, TAG_BYTES), bytes.subarray(TAG_BYTES)];
  return timingSafeEqual(tag, tagOf(owner, purpose, position)) ? position.toString() : undefined;
}
