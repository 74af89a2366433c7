/** Headers and body of a call, and what is wrong with them. */
import { gunzipSync } from 'node:zlib';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { ErrorObject } from 'ajv';
import { exceededBound, isJsonObject, isPlainJson, parseJson } from '../shared/json.ts';
import type { Settings } from '../shared/settings.ts';
import { ApiError, type FieldError, type FieldSchema, refusal } from './errors.ts';
import { LINES_TYPES, linesOf, malformed, withItemTexts } from './item-texts.ts';
import type { ApiEvent, ApiMiddleware, Operation } from './operation.ts';

const JSON_TYPE = /^application\/json[\t ]*(;|$)/i;
const LINES_TYPE = new RegExp(`^(${LINES_TYPES.join('|')})[\\t ]*(;|$)`, 'i');
const GZIP = /^(x-)?gzip$/i;
const IDENTITY = /^identity$/i;

/**
 * Bounds of a body beyond its size. The parsers are recursive, and the exact one's stack overflows at about 3,000 levels; and values cost more
 * than their bytes: a million empty objects take seconds. 4 MiB of alerts whose labels have the usual lengths have fewer values than this.
 */
export const BODY_BOUNDS = { levels: 1_000, values: 100_000 } as const;

/** Characters of a body that middy's parser reads. It calls a function for each value, so longer ones take several times as long by it. */
const SHORT = 2_048;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Checks the content type, then the size, then parses the body. A missing body counts as `{}` and needs no content type. Where the operation
 * takes items with their texts, only their list is read.
 *
 * middy's parser reads a short body that it does not change. The exact parser reads one that is long, has a number that `JSON.parse` may round,
 * or has a member name that middy's refuses. The errors of both quote the body, so they are dropped.
 *
 * API Gateway decompresses bodies whose encoding it knows, but not small ones.
 */
export function bodyMiddleware({
  maxBodyBytes,
  itemTexts,
}: Pick<Settings, 'maxBodyBytes'> & Pick<Operation, 'itemTexts'>): ApiMiddleware {
  const middyParser = httpJsonBodyParser({ disableContentTypeCheck: true }).before;

  function parse(text: string): unknown {
    const event = { body: text };
    try {
      if (text.length > SHORT || !isPlainJson(text)) return parseJson(text);
      void middyParser?.({ event } as Parameters<typeof middyParser>[0]);
      return event.body;
    } catch {
      throw malformed(text);
    }
  }

  function read(event: ApiEvent, isLines: boolean): unknown {
    const encoding = headerListOf(event, 'content-encoding')?.trim() || 'identity';
    try {
      const text = textOf(event, encoding, maxBodyBytes);
      event.bodyBytes = Buffer.byteLength(text);
      if (text === '') return {};
      const lines = isLines ? linesOf(text) : undefined;
      checkBounds(lines ?? text);
      if (itemTexts === undefined) return parse(text);
      return lines ? { [itemTexts]: lines.map((line) => ({ text: line })) } : withItemTexts(text, itemTexts);
    } catch (error) {
      if (IDENTITY.test(encoding) || GZIP.test(encoding) || !isUnreadable(error)) throw error;
      throw refusal('bodyEncoded', { encoding });
    }
  }

  return {
    before({ event }) {
      const type = headerOf(event, 'content-type')?.trim() ?? '';
      const isLines = itemTexts !== undefined && LINES_TYPE.test(type);
      if (!isLines && !JSON_TYPE.test(type) && (type || event.body))
        throw itemTexts === undefined ? new ApiError('InvalidContentType') : refusal('contentTypeOfItems');
      const body = read(event, isLines);
      if (!isJsonObject(body)) throw refusal('bodyNotObject');
      event.body = body;
    },
  };
}

/** @throws ApiError if the body, or its lines, may not be parsed */
function checkBounds(json: string | readonly string[]): void {
  if (typeof json === 'string' && json.length <= BODY_BOUNDS.levels) return; // too short for either
  const exceeded = exceededBound(json, BODY_BOUNDS);
  if (exceeded === 'levels') throw refusal('bodyTooDeep', { levels: BODY_BOUNDS.levels });
  if (exceeded === 'values') throw refusal('bodyTooManyValues', { values: BODY_BOUNDS.values });
}

const isUnreadable = (error: unknown) =>
  error instanceof ApiError && ['malformedBody', 'bodyNotUtf8'].includes(error.explanation?.name ?? '');

/** The body as text. @throws ApiError when it is too large, not UTF-8, or not gzip that its header says it is */
function textOf({ body, isBase64Encoded }: ApiEvent, encoding: string, maxBytes: number): string {
  if (typeof body !== 'string') return '';
  const sent = isBase64Encoded ? Buffer.from(body, 'base64') : undefined;
  // Once API Gateway has decompressed it, a body is JSON, which never begins so.
  const isGzip = sent?.[0] === 0x1f && sent[1] === 0x8b && GZIP.test(encoding);
  const bytes = sent && isGzip ? unzipped(sent, encoding, maxBytes) : sent;
  if ((bytes?.length ?? Buffer.byteLength(body)) > maxBytes) throw refusal('bodyTooLarge', { maxBytes });
  if (!bytes) return body;
  try {
    return utf8.decode(bytes);
  } catch {
    throw refusal('bodyNotUtf8');
  }
}

/** Decompresses a body, and stops at its largest size. @throws ApiError */
function unzipped(bytes: Buffer, encoding: string, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLarge ? refusal('bodyTooLarge', { maxBytes }) : refusal('bodyEncoded', { encoding });
  }
}

export type AjvError = Pick<ErrorObject, 'instancePath' | 'params' | 'keyword'>;

/** A validator that ajv has compiled. It fills defaults into the body, and sets `errors`. */
export interface Validator {
  (body: unknown): boolean;
  errors?: AjvError[] | null;
}

export type Fields = Readonly<Record<string, FieldSchema>>;

/**
 * Checks what a schema cannot express, such as bounds that depend on another field or on the caller.
 * @param offending fields that failed the schema, whose values may not have the type in `Body`
 */
export type CrossCheck<Body> = (body: Body, offending: ReadonlySet<string>, event: ApiEvent) => readonly FieldError[];

/** Checks the body against the operation's schema. `InvalidParameter` names every offending field and what it must be. */
export function validateMiddleware<Body>(
  { request, unsupported = {} }: Pick<Operation, 'request' | 'unsupported'>,
  validate: Validator,
  crossCheck: CrossCheck<Body> = () => [],
): ApiMiddleware {
  const fields = request.properties as Fields;

  return {
    before({ event }) {
      const body = event.body as Record<string, unknown>;
      validate(body);
      const fieldErrors = fieldErrorsOf(validate.errors ?? [], fields);
      fieldErrors.push(...unsupportedFields(body, unsupported));
      fieldErrors.push(...illFormedStrings(body, fields, fieldsOf(fieldErrors)));
      fieldErrors.push(...crossCheck(body as Body, fieldsOf(fieldErrors), event));
      if (fieldErrors.length > 0) throw refusal('invalidFields', { fieldErrors });
    },
  };
}

const fieldsOf = (fieldErrors: readonly FieldError[]) => new Set(fieldErrors.map(({ field }) => field));

/** Converts an ajv error to the error of a field, or of one item of a field. */
export function fieldErrorOf({ instancePath, params }: AjvError, fields: Fields): FieldError {
  const [, name = '', item] = instancePath.split('/');
  const missing = name === '';
  const field = missing ? String(params.missingProperty) : name;
  const schema = fields[field] ?? {};
  return {
    field,
    schema: (item === undefined ? undefined : schema.items) ?? schema,
    ...(missing && { missing }),
    ...(item !== undefined && { item: Number(item) }),
  };
}

/**
 * Returns the first error of each offending field, in ajv's order. If that is the error of an item, it includes how many more items are
 * invalid: those are only counted, since a body may have a million. An item can have several errors, which ajv reports in succession.
 */
function fieldErrorsOf(errors: readonly AjvError[], fields: Fields): FieldError[] {
  const found = new Map<string, FieldError>();
  let previousPath: string | undefined;
  for (const error of errors) {
    const { instancePath } = error;
    const [, field = String(error.params.missingProperty), item] = instancePath.split('/');
    const first = found.get(field);
    if (!first) found.set(field, fieldErrorOf(error, fields));
    else if (first.item !== undefined && item !== undefined && instancePath !== previousPath)
      first.moreItems = (first.moreItems ?? 0) + 1;
    previousPath = instancePath;
  }
  return [...found.values()];
}

/** Finds strings with half of a surrogate pair, which are valid in JSON, but not in UTF-8 or DynamoDB. Skips `offending` fields. */
function illFormedStrings(body: Record<string, unknown>, fields: Fields, offending: ReadonlySet<string>): FieldError[] {
  const fieldErrors: FieldError[] = [];
  for (const [field, schema] of Object.entries(fields)) {
    if (offending.has(field)) continue;
    const value = body[field];
    if (isIllFormed(value)) fieldErrors.push({ field, schema, illFormed: true });
    else if (schema.items?.type === 'string' && Array.isArray(value)) {
      const item = value.findIndex(isIllFormed);
      const moreItems = value.filter(isIllFormed).length - 1;
      if (item >= 0)
        fieldErrors.push({ field, schema: schema.items, item, illFormed: true, ...(moreItems > 0 && { moreItems }) });
    }
  }
  return fieldErrors;
}

const isIllFormed = (value: unknown) => typeof value === 'string' && !value.isWellFormed();

function unsupportedFields(
  body: Record<string, unknown>,
  unsupported: NonNullable<Operation['unsupported']>,
): FieldError[] {
  return Object.entries(unsupported).flatMap(([field, { harmless = [], instead }]) => {
    const value = body[field] ?? '';
    const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
    if (isEmpty || (harmless as readonly unknown[]).includes(value)) return [];
    return [{ field, schema: {}, unsupported: instead === undefined ? {} : { instead } }];
  });
}

type QueryMaps = Pick<ApiEvent, 'queryStringParameters' | 'multiValueQueryStringParameters'>;
type HeaderMaps = Pick<ApiEvent, 'headers' | 'multiValueHeaders'>;

/** The values of a header in one map, whose names may have any case. @param name in lower case */
const valuesIn = (headers: ApiEvent['headers'] | ApiEvent['multiValueHeaders'], name: string): string[] =>
  Object.entries(headers ?? {}).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));

/** All values of a header, which may be sent several times. @param name in lower case */
export function headerValuesOf({ headers, multiValueHeaders }: HeaderMaps, name: string): string[] {
  const all = valuesIn(multiValueHeaders, name);
  return all.length > 0 ? all : valuesIn(headers, name);
}

/** The value of a header that is a list; undefined when it is absent. Several such headers are one list: RFC 9110, 5.3. */
export const headerListOf = (event: HeaderMaps, name: string): string | undefined =>
  headerValuesOf(event, name).join(', ') || undefined;

export function queryValuesOf(
  { queryStringParameters, multiValueQueryStringParameters }: QueryMaps,
  name: string,
): string[] {
  const last = queryStringParameters?.[name];
  return multiValueQueryStringParameters?.[name] ?? (last === undefined ? [] : [last]);
}

/** The value of a header, or the last of several, as API Gateway gives it; undefined when it is absent. */
const headerOf = ({ headers }: Pick<ApiEvent, 'headers'>, name: string): string | undefined =>
  valuesIn(headers, name)[0];
