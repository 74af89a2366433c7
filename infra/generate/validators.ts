/**
 * Compiles the request schema of every operation to a module of its own, so that no handler loads ajv when it starts:
 * `npm run generate`. A test fails if a file is out of date.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { transform } from 'esbuild';
import { type Operation, operations } from '../../lib/http/operations.ts';
import { DATA_LINES, FEED_LINES } from '../../lib/ingest/kinds.ts';
import { int64Keyword, withInt64 } from './int64-keyword.ts';

/** How ajv's code imports its function for the length of a string: by `require`, which a bundle of ES modules would have to wrap. */
const UCS2_LENGTH = 'require("ajv/dist/runtime/ucs2length").default';

/** The source of the module that validates the request body of `operation`. */
export const validatorSource = (operation: Operation): Promise<string> =>
  sourceOf({ [operation.name]: operation.request }, 'lib/http/operations.ts', '../../');

/** The source of the module that validates lines of data files, and records of the ingest queue. */
export const lineValidatorSource = (): Promise<string> => {
  const named = (source: string, schemas: object) =>
    Object.entries(schemas).map(([name, schema]) => [`${source}_${name}`, schema]);
  const schemas = Object.fromEntries([...named('data', DATA_LINES), ...named('feed', FEED_LINES)]);
  return sourceOf(schemas, 'lib/ingest/kinds.ts', '../');
};

/** Compiles schemas: a single one to the default export, several to named exports. @param toLib the path from the module to `lib` */
async function sourceOf(schemas: Readonly<Record<string, object>>, from: string, toLib: string): Promise<string> {
  const ajv = new Ajv({
    allErrors: true,
    messages: false,
    useDefaults: true,
    strict: true,
    code: { source: true, esm: true, lines: true, optimize: 2 },
  });
  ajv.addKeyword(int64Keyword);
  const [first, ...others] = Object.values(schemas).map((schema) => withInt64(schema) as object);
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(withInt64(schema) as object, name);
  const exports = Object.fromEntries(Object.keys(schemas).map((name) => [name, name]));
  const compiled =
    others.length === 0 ? standalone.default(ajv, ajv.compile(first as object)) : standalone.default(ajv, exports);
  const source = compiled.replaceAll(UCS2_LENGTH, 'codePoints');
  const { code } = await transform(source, { format: 'esm', target: 'node24', minifySyntax: true, treeShaking: true });
  const imports = source.includes('codePoints') ? `import { codePoints } from '${toLib}shared/code-points.ts';\n` : '';
  return `// Generated from ${from} by \`npm run generate\`: do not edit.\n// @ts-nocheck\n${imports}${code}`;
}

export const validatorFile = (operation: Operation) =>
  new URL(`../../lib/operations/${operation.name}/validate-${operation.name}.ts`, import.meta.url);

export const lineValidatorFile = new URL('../../lib/ingest/validate-lines.ts', import.meta.url);

if (import.meta.main) {
  await writeFile(lineValidatorFile, await lineValidatorSource());
  for (const operation of operations) {
    const file = validatorFile(operation);
    await mkdir(new URL('./', file), { recursive: true });
    await writeFile(file, await validatorSource(operation));
  }
}
