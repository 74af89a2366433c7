import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';

/** `{ int64: minimum }`: an exact integer of the int64 range, as a number or, beyond 2^53, a bigint. */
export const int64Keyword: CodeKeywordDefinition = {
  keyword: 'int64',
  schemaType: ['number', 'boolean'],
  code(cxt: KeywordCxt) {
    const { data, schema } = cxt;
    const minimum = typeof schema === 'number' ? schema : undefined;
    const bigMin = minimum === undefined ? _`-9223372036854775808n` : _`${minimum}`;
    const safe = minimum === undefined ? _`true` : _`${data} >= ${minimum}`;
    cxt.pass(_`typeof ${data} == "bigint"
      ? ${data} >= ${bigMin} && ${data} <= 9223372036854775807n
      : Number.isSafeInteger(${data}) && ${safe}`);
  },
};

/** Replaces every `integer` of format `int64` by the keyword that also takes bigints; leaves out what only documents. */
export function withInt64(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withInt64);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { description: _text, ...rest } = schema as Record<string, unknown>;
  if (rest.type === 'integer' && rest.format === 'int64') return { int64: rest.minimum ?? true };
  if (rest.format === 'objectid') delete rest.format;
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withInt64(value)]));
}
