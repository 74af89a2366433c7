/**
 * Compiles the request schema of every operation, and the schemas of lines of the feed and of import, to modules, so that no function loads
 * ajv when it starts.
 */
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { transform } from 'esbuild';
import type { Operation } from '../../lib/http/operation.ts';
import { LINES, type LineName, RECORD_NAMES } from '../../lib/ingest/lines.ts';
import { operations } from '../../lib/operations/index.ts';
import { int64Keyword, withInt64 } from './int64-keyword.ts';

/** The schema of a request, but for items that the operation checks one by one. */
function withoutItems({ request, itemTexts }: Operation): object {
  if (itemTexts === undefined) return request;
  const { items: _items, ...list } = (request.properties as Record<string, { items?: object }>)[itemTexts] ?? {};
  return { ...(request as object), properties: { ...request.properties, [itemTexts]: list } };
}

/**
 * A schema of what is sent, as ajv compiles it.
 * @throws Error if an integer has neither a maximum nor the format `int64`: 2^53 + 1 would be refused as no integer
 */
export function compilable(schema: object): object {
  const compiled = withInt64(schema) as object;
  JSON.stringify(compiled, (name, value) => {
    if (value?.type === 'integer' && value.maximum === undefined)
      throw new Error(`The integer ${name} needs a maximum, or the format int64: ${JSON.stringify(value)}`);
    return value;
  });
  return compiled;
}

function createAjv() {
  const ajv = new Ajv({
    allErrors: true,
    messages: false,
    useDefaults: true,
    strict: true,
    code: { source: true, esm: true, lines: true, optimize: 2 },
  });
  return ajv.addKeyword(int64Keyword);
}

/** How ajv's code imports its function for the length of a string: by `require`, which a bundle of ES modules would have to wrap. */
const UCS2_LENGTH = 'require("ajv/dist/runtime/ucs2length").default';
/** Where in the schema an error is. Nobody reads it. */
const SCHEMA_PATH = /schemaPath: ?"[^"]*", ?/g;

/** @param from the module of the schemas @param json the path of `lib/shared/json.ts` */
async function moduleOf(compiled: string, from: string, json: string): Promise<string> {
  const source = compiled.replaceAll(UCS2_LENGTH, 'codePoints').replaceAll(SCHEMA_PATH, '');
  const { code } = await transform(source, { format: 'esm', target: 'node24', minifySyntax: true, treeShaking: true });
  const imports = source.includes('codePoints') ? `import { codePoints } from '${json}';\n` : '';
  return `// Generated from ${from} by \`npm run generate\`: do not edit.\n// @ts-nocheck\n${imports}${code}`;
}

function validatorSource(operation: Operation): Promise<string> {
  const schema = compilable(withoutItems(operation));
  const ajv = createAjv();
  ajv.addSchema(schema, operation.name);
  return moduleOf(standalone.default(ajv, ajv.compile(schema)), 'schema.ts', '../../shared/json.ts');
}

function lineValidatorsSource(names: readonly LineName[], json: string): Promise<string> {
  const ajv = createAjv();
  for (const name of names) ajv.addSchema(compilable(LINES[name]), name);
  const compiled = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])));
  return moduleOf(compiled, 'lib/ingest/lines.ts', json);
}

const lineNames = Object.keys(LINES) as LineName[];
const importedNames = lineNames.filter((name) => !RECORD_NAMES.includes(name));

/** The sources of the validators, by their files. */
export const VALIDATORS: Readonly<Record<string, () => Promise<string>>> = {
  ...Object.fromEntries(
    operations.map((operation) => [
      `lib/operations/${operation.name}/validate-${operation.name}.ts`,
      () => validatorSource(operation),
    ]),
  ),
  'lib/ingest/validate-records.ts': () => lineValidatorsSource(RECORD_NAMES, '../shared/json.ts'),
  'packages/admin/data/validate-imported.ts': () => lineValidatorsSource(importedNames, '../../../lib/shared/json.ts'),
};
