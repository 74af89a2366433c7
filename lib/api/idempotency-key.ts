import type { ApiEvent } from './call.ts';
import { refuse } from './refusals.ts';

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` header of a call; undefined when there is none.
 * @throws ApiError `InvalidParameter` when it is given more than once, or is not 1 to 255 printable ASCII characters
 */
export function idempotencyKeyOf({ headers, multiValueHeaders }: ApiEvent): string | undefined {
  const values = valuesOf(multiValueHeaders) ?? valuesOf(headers) ?? [];
  const [key, ...more] = values;
  if (key === undefined) return undefined;
  if (more.length > 0 || !IDEMPOTENCY_KEY.test(key)) throw refuse('invalidIdempotencyKey');
  return key;
}

function valuesOf(headers: Record<string, string | string[] | undefined> | null): string[] | undefined {
  const found = Object.entries(headers ?? {}).filter(([name]) => name.toLowerCase() === 'idempotency-key');
  return found.length === 0 ? undefined : found.flatMap(([, value]) => value ?? []);
}
