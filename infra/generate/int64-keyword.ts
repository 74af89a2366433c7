import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { _Code } from 'ajv/dist/compile/codegen/code.js';

interface Bounds {
  minimum?: number;
  /** A string if a double cannot hold it. */
  maximum?: number | string;
}

/** The keyword `{ int64: bounds }`: an exact integer of the int64 range, as a number or, beyond 2^53, as a bigint. */
export const int64Keyword: CodeKeywordDefinition = {
  keyword: 'int64',
  schemaType: 'object',
  code(cxt: KeywordCxt) {
    const { data } = cxt;
    const { minimum, maximum } = cxt.schema as Bounds;
    const min = minimum === undefined ? _`-9223372036854775808n` : _`${minimum}`;
    const max = literal(maximum ?? '9223372036854775807');
    const exact = _`(typeof ${data} == "bigint" || Number.isSafeInteger(${data}))`;
    cxt.pass(_`${exact} && ${data} >= ${min} && ${data} <= ${max}`);
  },
};

/** An integer as the source text of a bigint. */
const literal = (integer: number | string) => new _Code(`${BigInt(integer)}n`);

/** Replaces every `integer` of format `int64` by the keyword, and drops titles, descriptions and the format `objectid`, which validate nothing. */
export function withInt64(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withInt64);
  if (typeof schema !== 'object' || schema === null) return schema;
  const rest: Record<string, unknown> = { ...schema };
  // In `properties`, these are no texts but properties of that name.
  for (const name of ['title', 'description']) if (typeof rest[name] === 'string') delete rest[name];
  if (rest.type === 'integer' && rest.format === 'int64') {
    const { minimum, maximum = rest['x-maximum'] } = rest;
    return { int64: { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) } };
  }
  if (rest.format === 'objectid') delete rest.format;
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withInt64(value)]));
}
