import { marshall } from '@aws-sdk/util-dynamodb';
import { itemBytes, MAX_ITEM_BYTES } from '../dynamodb/item-size.ts';
import { storableFields } from './entity-rows.ts';
import type { Entity } from './kinds.ts';

/** Bytes of a row that are reserved for what the service writes to it in a merge or a deletion. */
const HEADROOM_BYTES = 2 * 1024;
/** Maximum bytes of a row's key. */
const KEY_BYTES = 600;
const MAX_BYTES = MAX_ITEM_BYTES - HEADROOM_BYTES;

/** Fields that are in the headroom, so that a row that the service has written to can always be imported again. */
const WRITTEN_BY_THE_SERVICE = new Set([
  'incident_id',
  'owner_id',
  'version',
  'deleted_at_ms',
  'deleted_by',
  'deleted_request_id',
  'undone_deletion',
]);

/** A shorter line never makes a row that is too large, since DynamoDB counts at most three bytes for a character of JSON. */
const SHORT_LINE = 80_000;

/** Why the row of an entity leaves too little room for the service's writes; undefined if it does not. @param text its line */
export function sizeProblem(
  { kind: _kind, account_id: _account, ...fields }: Entity,
  text: string,
): string | undefined {
  if (text.length < SHORT_LINE) return undefined;
  const own = Object.fromEntries(Object.entries(fields).filter(([name]) => !WRITTEN_BY_THE_SERVICE.has(name)));
  const bytes = itemBytes(marshall(storableFields(own), { removeUndefinedValues: true })) + KEY_BYTES;
  return bytes <= MAX_BYTES
    ? undefined
    : `makes a row of ${bytes} bytes, more than the ${MAX_BYTES} allowed: shorten it`;
}
