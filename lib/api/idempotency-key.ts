import { type ApiEvent, headerValues } from './call.ts';
import { refuse } from './refusals.ts';

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` header of a call; undefined when there is none.
 * @throws ApiError `InvalidParameter` when it is given more than once, or is not 1 to 255 printable ASCII characters
 */
export function idempotencyKeyOf({ headers, multiValueHeaders }: ApiEvent): string | undefined {
  const all = headerValues(multiValueHeaders, 'idempotency-key');
  const [key, ...more] = all.length > 0 ? all : headerValues(headers, 'idempotency-key');
  if (key === undefined) return undefined;
  if (more.length > 0 || !IDEMPOTENCY_KEY.test(key)) throw refuse('invalidIdempotencyKey');
  return key;
}
