/** What the schema of a fleet request cannot say: its signed cursor, and the bound of its scan limit. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FieldError } from '../../http/errors.ts';
import type { RequestOf } from '../../http/operation.ts';
import { browseFleet } from '../../http/operations.ts';

/** Purpose and version, which are signed with the host id. A new version invalidates old cursors. */
const SIGNED_PREFIX = 'fleet-cursor-1:';
const TAG_BYTES = 16;

function tagOf(secret: Uint8Array, hostId: Buffer): Buffer {
  return createHmac('sha256', secret).update(SIGNED_PREFIX).update(hostId).digest().subarray(0, TAG_BYTES);
}

/** A cursor that continues after `hostId`, signed with the account's secret. */
export function sealCursor(secret: Uint8Array, hostId: string): string {
  const bytes = Buffer.from(hostId);
  return Buffer.concat([tagOf(secret, bytes), bytes]).toString('base64url');
}

/** The host after which a cursor continues; undefined if it was not issued with this secret. */
export function openCursor(secret: Uint8Array, cursor: string): string | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== cursor) return undefined;
  const hostId = bytes.subarray(TAG_BYTES);
  return timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(secret, hostId)) ? hostId.toString() : undefined;
}

/**
 * Checks that `scan_limit` is at least `limit`, given or default.
 * @param offending fields that failed the schema: if either is among them, the two are not compared
 */
export function checkScanLimit(
  { limit, scan_limit }: RequestOf<typeof browseFleet>,
  offending: ReadonlySet<string>,
): FieldError[] {
  if (offending.has('limit') || offending.has('scan_limit')) return [];
  const schema = { ...browseFleet.request.properties.scan_limit, minimum: limit, 'x-minimum-field': 'limit' };
  return scan_limit < limit ? [{ field: 'scan_limit', schema }] : [];
}
