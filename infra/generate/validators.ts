/**
 * Compiles the request schema of every operation to a module of its own, so that no handler pays for ajv at start-up:
 * `npm run generate`. A test compares the files with what this makes of the list today.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { type Operation, operations } from '../../lib/api/operations.ts';
import { int64Keyword, withInt64 } from '../../lib/int64-keyword.ts';

const target = new URL('../../lib/api/validators/', import.meta.url);

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
    minifySyntax: true,
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
