import type { FieldError } from '../../http/errors.ts';
import { browseFleet, type RequestOf } from '../../http/operations.ts';

/** `scan_limit` is at least `limit`, whether that is given or the default. */
export function checkScanLimit(
  { limit, scan_limit }: RequestOf<typeof browseFleet>,
  offending: ReadonlySet<string>,
): FieldError[] {
  if (offending.has('limit') || offending.has('scan_limit')) return [];
  const schema = { ...browseFleet.request.properties.scan_limit, minimum: limit, 'x-minimum-field': 'limit' };
  return scan_limit < limit ? [{ field: 'scan_limit', schema }] : [];
}
