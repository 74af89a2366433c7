/** How large a line of import and the feed may be, and what it may hold. */
import { isInt64 } from '../shared/json.ts';
import { type Problem, tooLong } from './problems.ts';

/** Maximum bytes of a line of import in UTF-8. Its row then takes less than half of the 400 KB that DynamoDB allows. */
export const MAX_LINE_BYTES = 65_536;
/** Maximum bytes of a record of the feed in UTF-8: each later call on its row costs by the size of the row. */
export const MAX_RECORD_BYTES = 8_192;
/** Maximum nesting levels of a line, counting the line itself. */
export const MAX_DEPTH = 31;
/** Maximum length of a field's name, in code points. */
export const MAX_FIELD_NAME = 128;
/** The smallest magnitude that DynamoDB stores. */
export const SMALLEST_NUMBER = 1e-130;

/**
 * Why a record is too large: its line counts as it is queued, without its account and time as the service writes them, so that it does not
 * matter who adds these.
 */
export function sizeProblem(line: string, record: object): Problem | undefined {
  if (3 * line.length <= MAX_RECORD_BYTES) return undefined; // no character has more bytes
  let bytes = Buffer.byteLength(line);
  const { account_id, at_ms } = record as Partial<Record<string, unknown>>;
  for (const [name, value] of Object.entries({ account_id, at_ms }))
    if (isInt64(value)) bytes -= `"${name}":${value},`.length;
  return bytes > MAX_RECORD_BYTES ? tooLong(bytes, MAX_RECORD_BYTES) : undefined;
}
