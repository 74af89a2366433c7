import httpJsonBodyParser from '@middy/http-json-body-parser';
import { hasRoundedNumber, parseJson } from '../json.ts';
import type { Settings } from '../settings.ts';
import { type ApiMiddleware, headerOf } from './call.ts';
import { ApiError } from './errors.ts';
import { refuse } from './refusals.ts';

const JSON_TYPE = /^application\/json[\t ]*(;|$)/i;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the body: content type, then size, then JSON. No body counts as `{}` and needs no content type. The stock parser
 * parses, except bodies with a number that it may round; what it rejects (a member named `__proto__`, an unknown field
 * like any other) is parsed again exactly. Its errors contain the body and are dropped here.
 */
export function bodyMiddleware({ maxBodyBytes }: Pick<Settings, 'maxBodyBytes'>): ApiMiddleware {
  const stock = httpJsonBodyParser({ disableContentTypeCheck: true }).before as unknown as (request: {
    event: { body: unknown };
  }) => void;

  function parse(text: string): unknown {
    const event = { body: text as unknown };
    try {
      if (!hasRoundedNumber(text)) {
        stock({ event });
        return event.body;
      }
    } catch {
      // Malformed, or a member name that the stock parser rejects: the exact parser decides.
    }
    try {
      return parseJson(text);
    } catch (error) {
      // The parser is recursive and runs out of stack.
      throw refuse(error instanceof RangeError ? 'bodyTooDeep' : 'malformedBody');
    }
  }

  return {
    before({ event }) {
      const type = headerOf(event, 'content-type')?.trim() ?? '';
      if (!JSON_TYPE.test(type) && (type || event.body)) throw new ApiError('InvalidContentType');
      const text = textOf(event.body, event.isBase64Encoded, maxBodyBytes);
      const body = text === '' ? {} : parse(text);
      if (typeof body !== 'object' || body === null || Array.isArray(body)) throw refuse('bodyNotObject');
      event.body = body;
    },
  };
}

/** The body as text. @throws ApiError when it is too large or not UTF-8 */
function textOf(body: unknown, isBase64Encoded: boolean, maxBytes: number): string {
  if (typeof body !== 'string') return '';
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : undefined;
  if ((bytes?.length ?? Buffer.byteLength(body)) > maxBytes) throw refuse('bodyTooLarge', { maxBytes });
  if (!bytes) return body;
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuse('malformedBody');
  }
}
