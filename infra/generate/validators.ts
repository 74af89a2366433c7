/**
 * Compiles the request schema of every operation to a module of its own, so that no handler pays for ajv at start-up:
 * `npm run generate`. A test compares the files with what this makes of the list today.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { _, Ajv, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { type Operation, operations } from '../../lib/api/operations.ts';

const target = new URL('../../lib/api/validators/', import.meta.url);

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

/** The source of the module that validates the request body of `operation`. */
export async function validatorSource(operation: Operation): Promise<string> {
  const ajv = new Ajv({
    allErrors: true,
    messages: false,
    useDefaults: true,
    strict: true,
    code: { source: true, esm: true, lines: true, optimize: 2 },
  });
  ajv.addKeyword(int64Keyword);
  const validate = ajv.compile(withInt64(operation.request) as object);
  const { outputFiles } = await build({
    stdin: { contents: standalone.default(ajv, validate), resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    write: false,
  });
  const code = outputFiles[0]?.text ?? '';
  return `// Generated from lib/api/operations.ts by \`npm run generate\`: do not edit.\n// @ts-nocheck\n${code}`;
}

/** Where the validator of `operation` lives. */
export const validatorFile = (operation: Operation) => new URL(`${operation.name}.ts`, target);

if (import.meta.main) {
  await mkdir(target, { recursive: true });
  for (const operation of operations) await writeFile(validatorFile(operation), await validatorSource(operation));
}
