/**
 * Compiles the request schema of every operation to a module of its own, so that no handler loads ajv when it starts:
 * `npm run generate`. A test fails if a file is out of date.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { transform } from 'esbuild';
import type { Operation } from '../../lib/http/operation.ts';
import { int64Keyword, withInt64 } from '../../lib/ingest/int64-keyword.ts';
import { operations } from '../../lib/operations/index.ts';

/** The schema of a request, but for items that the operation checks one by one. */
function withoutItems({ request, itemTexts }: Operation): object {
  if (itemTexts === undefined) return request;
  const { items: _items, ...list } = (request.properties as Record<string, { items?: object }>)[itemTexts] ?? {};
  return { ...(request as object), properties: { ...request.properties, [itemTexts]: list } };
}

/** How ajv's code imports its function for the length of a string: by `require`, which a bundle of ES modules would have to wrap. */
const UCS2_LENGTH = 'require("ajv/dist/runtime/ucs2length").default';

/** The source of the module that validates the request body of `operation`. */
export async function validatorSource(operation: Operation): Promise<string> {
  const { name } = operation;
  const request = withoutItems(operation);
  const ajv = new Ajv({
    allErrors: true,
    messages: false,
    useDefaults: true,
    strict: true,
    code: { source: true, esm: true, lines: true, optimize: 2 },
  });
  ajv.addKeyword(int64Keyword);
  ajv.addSchema(withInt64(request) as object, name);
  const compiled = standalone.default(ajv, ajv.compile(withInt64(request) as object));
  const source = compiled.replaceAll(UCS2_LENGTH, 'codePoints');
  const { code } = await transform(source, { format: 'esm', target: 'node24', minifySyntax: true, treeShaking: true });
  const imports = source.includes('codePoints') ? `import { codePoints } from '../../shared/json.ts';\n` : '';
  return `// Generated from schema.ts by \`npm run generate\`: do not edit.\n// @ts-nocheck\n${imports}${code}`;
}

export const validatorFile = (operation: Operation) =>
  new URL(`../../lib/operations/${operation.name}/validate-${operation.name}.ts`, import.meta.url);

if (import.meta.main) {
  for (const operation of operations) {
    const file = validatorFile(operation);
    await mkdir(new URL('./', file), { recursive: true });
    await writeFile(file, await validatorSource(operation));
  }
}
