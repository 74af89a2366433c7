/** What a call says besides its body and app key. */
import { headerValuesOf, queryValuesOf } from './body.ts';
import { refusal } from './errors.ts';
import type { ApiEvent } from './operation.ts';

const MAX_LENGTH = 255;
/** Matches a character that is neither visible ASCII nor a space. */
const INVALID = /[^\x20-\x7e]/u;

/**
 * The `Idempotency-Key` header of a call; undefined when there is none.
 * @throws ApiError `InvalidParameter` when it is given more than once, or is not 1 to 255 visible ASCII characters and spaces
 */
export function idempotencyKeyOf(event: ApiEvent): string | undefined {
  const [key, ...more] = headerValuesOf(event, 'idempotency-key');
  if (key === undefined) return undefined;
  const invalid = firstInvalidCharacter(key);
  if (more.length > 0 || key.length === 0 || key.length > MAX_LENGTH || invalid)
    throw refusal('invalidIdempotencyKey', { invalid });
  return key;
}

/** The first invalid character of a key, and its position, from 1. */
function firstInvalidCharacter(key: string): { position: number; codePoint: string } | undefined {
  const found = INVALID.exec(key);
  if (!found) return undefined;
  const digits = found[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return { position: found.index + 1, codePoint: `U+${digits}` };
}

/** What the query parameter `source` may be. */
export const SOURCE = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9._-]+$' } as const;
const SOURCE_PATTERN = new RegExp(SOURCE.pattern);

/**
 * The query parameter `source` of a call; undefined when there is none.
 * @throws ApiError `InvalidParameter` when it is given more than once, or is not as {@link SOURCE} says
 */
export function sourceOf(event: ApiEvent): string | undefined {
  const [source, ...more] = queryValuesOf(event, 'source');
  if (source === undefined) return undefined;
  if (more.length > 0 || source.length > SOURCE.maxLength || !SOURCE_PATTERN.test(source))
    throw refusal('invalidSource', { maxLength: SOURCE.maxLength });
  return source;
}
