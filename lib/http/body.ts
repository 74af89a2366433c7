import httpJsonBodyParser from '@middy/http-json-body-parser';
import { mayHaveRoundedNumber, parseJson } from '../shared/json.ts';
import { depthOf, positionOf, syntaxErrorAt } from '../shared/json-syntax.ts';
import type { Settings } from '../shared/settings.ts';
import { type ApiEvent, type ApiMiddleware, headerListOf, headerOf } from './call.ts';
import { ApiError, refuse } from './errors.ts';

const JSON_TYPE = /^application\/json[\t ]*(;|$)/i;

/** Maximum nesting. The exact parser is recursive, and its stack overflows at about 3,000 levels. */
const MAX_LEVELS = 1_000;

/** Whether a body may be too deep. Counting brackets is faster than measuring the depth. */
const mayBeDeep = (text: string) => (text.match(/[[{]/g)?.length ?? 0) > MAX_LEVELS;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Checks the content type, then the size, then parses the body. A missing body counts as `{}` and needs no content type.
 *
 * middy's parser reads the body, unless that has a number that `JSON.parse` may round. The exact parser reads those bodies, and the ones
 * that middy's parser rejects for a member named `__proto__`, which the exact parser drops. Parser errors quote the body, so they are dropped.
 *
 * API Gateway decompresses bodies whose encoding it knows, but not small ones. A body that is still encoded is `BadRequest`.
 */
export function bodyMiddleware({ maxBodyBytes }: Pick<Settings, 'maxBodyBytes'>): ApiMiddleware {
  const middyParser = httpJsonBodyParser({ disableContentTypeCheck: true }).before as unknown as (request: {
    event: { body: unknown };
  }) => void;

  function parse(text: string): unknown {
    const event = { body: text as unknown };
    try {
      if (!mayHaveRoundedNumber(text)) {
        middyParser({ event });
        return event.body;
      }
    } catch {
      // The body is malformed, or has a member name that middy's parser rejects: the exact parser decides.
    }
    try {
      return parseJson(text);
    } catch {
      throw refuse('malformedBody', positionOf(text, syntaxErrorAt(text) ?? text.length));
    }
  }

  function read(event: ApiEvent): unknown {
    try {
      const text = textOf(event.body, event.isBase64Encoded, maxBodyBytes);
      if (text === '') return {};
      if (mayBeDeep(text) && depthOf(text) > MAX_LEVELS) throw refuse('bodyTooDeep', { levels: MAX_LEVELS });
      return parse(text);
    } catch (error) {
      const encoding = headerListOf(event, 'content-encoding')?.trim();
      if (!encoding || /^identity$/i.test(encoding) || !isUnreadable(error)) throw error;
      throw refuse('bodyEncoded', { encoding });
    }
  }

  return {
    before({ event }) {
      const type = headerOf(event, 'content-type')?.trim() ?? '';
      if (!JSON_TYPE.test(type) && (type || event.body)) throw new ApiError('InvalidContentType');
      const body = read(event);
      if (typeof body !== 'object' || body === null || Array.isArray(body)) throw refuse('bodyNotObject');
      event.body = body;
    },
  };
}

const isUnreadable = (error: unknown) =>
  error instanceof ApiError && ['malformedBody', 'bodyNotUtf8'].includes(error.explanation?.name ?? '');

/** The body as text. @throws ApiError when it is too large or not UTF-8 */
function textOf(body: unknown, isBase64Encoded: boolean, maxBytes: number): string {
  if (typeof body !== 'string') return '';
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : undefined;
  if ((bytes?.length ?? Buffer.byteLength(body)) > maxBytes) throw refuse('bodyTooLarge', { maxBytes });
  if (!bytes) return body;
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuse('bodyNotUtf8');
  }
}
