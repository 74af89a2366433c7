/** Writes the files of a new operation, which work as they are: `npm run new-operation NAME`. CONTRIBUTING.md says what to change in them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { operationIdOf, operations } from '../../lib/operations/index.ts';

const LIST = 'lib/operations/index.ts';

/** The files of an operation by path. Each works before it is changed: the operation answers what it was sent. */
function filesOf(name: string): Readonly<Record<string, string>> {
  const id = operationIdOf<string>(name);
  const title = `${id[0]?.toUpperCase()}${id.slice(1)}`;
  return {
    [`lib/operations/${name}/schema.ts`]: `import type { Operation } from '../../http/operation.ts';

export const ${id} = {
  name: '${name}',
  method: 'POST',
  path: '/${name}',
  summary: 'Answer the text of ${name}',
  description: 'Answers what it was sent.',
  tag: 'Incidents',
  grants: [{ actions: ['GetItem'], on: ['appKey'] }],
  request: {
    title: '${title}Request',
    type: 'object',
    required: ['text'],
    properties: { text: { type: 'string', minLength: 1, maxLength: 128, description: 'Any text' } },
  },
  response: {
    title: '${title}Result',
    type: 'object',
    required: ['text'],
    additionalProperties: false,
    properties: { text: { type: 'string', description: 'The text that was sent' } },
  },
  example: { request: { text: 'hello' }, data: { text: 'hello' } },
  refusals: [],
} as const satisfies Operation;
`,
    [`lib/operations/${name}/handler.ts`]: `import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import type { Call, Handler, RequestOf } from '../../http/operation.ts';
import { ${id} } from './schema.ts';
import validate from './validate-${name}.ts';

const operate = async ({ body: { text } }: Call<RequestOf<typeof ${id}>>) => ({ data: { text } });

export const createHandler = (deps: Deps): Handler => createOperationHandler(${id}, { validate, operate }, deps);
`,
    [`functions/${name}.ts`]: `import { createDeps } from '../lib/deps.ts';
import { createHandler } from '../lib/operations/${name}/handler.ts';

export const handler = createHandler(await createDeps({ connections: 1 }));
`,
    [`test/integration/${name}/${name}.test.ts`]: `import { expect, it } from 'vitest';
import { ${id} } from '../../../lib/operations/${name}/schema.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { callAlone, createHandlers, newDouble, testDeps } from '../../support/service.ts';

const table = newDouble();
const handlers = createHandlers(testDeps(table));

it('the text that is sent is answered, and an empty one is refused', async () => {
  const { appKey } = await newCaller(table);
  const call = (text: string) => callAlone(handlers, ${id}, { appKey, body: { text } });
  expect(expectData(${id}, await call('a'))).toEqual({ text: 'a' });
  expectEnvelope(await call(''), 400, 'InvalidParameter');
});
`,
    [`packages/conformance/src/sections/operations/${name}.ts`]: `import { object, text } from '../../contract.ts';
import type { OperationSection } from '../../requirement.ts';
import { COMMON_ERRORS, refuses } from '../common.ts';

const PATH = '/${name}';

export const section: OperationSection = {
  heading: '4.${operations.length + 1} Answer the text of ${name}',
  path: PATH,
  data: object({ text }),
  requirements: {
    'text: required, 1 to 128 characters': refuses(PATH, 'text', [undefined, '', 7]),
    ...COMMON_ERRORS,
  },
};
`,
  };
}

/** Why an operation cannot have this name; undefined if it can. */
function problemOf(name: string | undefined): string | undefined {
  if (!name) return 'Give the name of the operation, such as: npm run new-operation get-incident';
  if (!/^[a-z]+(-[a-z][a-z0-9]*)+$/.test(name))
    return `"${name}" is no name of an operation: use two or more words of lower-case letters joined by hyphens, a verb first, such as get-incident.`;
  const taken = Object.keys(filesOf(name)).find((path) => existsSync(path));
  return (
    taken && `${name} is taken: ${taken} exists. Choose another name, or remove its files and its lines in ${LIST}.`
  );
}

const [name] = process.argv.slice(2);
const problem = problemOf(name);
if (problem || !name) {
  process.stderr.write(`${problem}\n`);
  process.exit(2);
}
const id = operationIdOf<string>(name);
const list = readFileSync(LIST, 'utf8')
  .replace(/(?=^import \{ \w+ \} from '\.\/)/m, `import { ${id} } from './${name}/schema.ts';\n`)
  .replace(/^(?=\] as const satisfies Operation\[\];$)/m, `  ${id},\n`);
const files = { ...filesOf(name), [LIST]: list };
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
// Sorts the imports of the list, and breaks lines that a long name makes too long.
execFileSync('npx', ['--no-install', 'biome', 'check', '--write', ...Object.keys(files)], { stdio: 'inherit' });
execFileSync('npm', ['run', '--silent', 'generate'], { stdio: 'inherit' });
process.stdout.write(
  `${Object.keys(files).join('\n')}\nChange them as CONTRIBUTING.md says under "A new operation".\n`,
);
