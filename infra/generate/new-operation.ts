/** `npm run new-operation NAME` writes an operation that works. CONTRIBUTING.md says what to change in it. */
import { execSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operationIdOf } from '../../lib/operations/index.ts';
import { TEMPLATES } from './operation-templates.ts';

const LIST = 'lib/operations/index.ts';
const SECTIONS = 'packages/conformance/src/sections/operations';
const MAX_NAME_LENGTH = 40;

/** The first number of a section of the certificate after all that are used. */
function freeSection(): number {
  const sections = readdirSync(SECTIONS).map((file) => readFileSync(`${SECTIONS}/${file}`, 'utf8'));
  return 1 + Math.max(...sections.map((text) => Number(/heading: '4\.(\d+)/.exec(text)?.[1] ?? 0)));
}

/** The files of an operation, by their paths. */
function filesOf(name: string): [path: string, text: string][] {
  const id = operationIdOf(name);
  const section = String(freeSection());
  const named = (text: string) =>
    text
      .replaceAll('operation-name', name)
      .replaceAll('operationName', id)
      .replaceAll('OperationName', `${id[0]?.toUpperCase()}${id.slice(1)}`)
      .replaceAll('SECTION', section);
  return Object.entries(TEMPLATES).map(([path, text]) => [named(path), named(text)]);
}

/** The list with a further operation. Biome sorts the imports. */
const withOperation = (list: string, name: string) =>
  list
    .replace(/^import \{ \w+ \} from '\.\//m, `import { ${operationIdOf(name)} } from './${name}/schema.ts';\n$&`)
    .replace(/^\] as const satisfies/m, `  ${operationIdOf(name)},\n$&`);

/** Why there can be no operation of this name, and what to do; undefined if there can. */
function problemOf(name: string, list: string): string | undefined {
  if (!/^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)+$/.test(name) || name.length > MAX_NAME_LENGTH)
    return `"${name}" cannot be the name of an operation: give two or more words in lower case with hyphens, at most ${MAX_NAME_LENGTH} characters, such as get-incident.`;
  const taken = filesOf(name).find(([path]) => existsSync(path));
  if (taken) return `${taken[0]} exists: choose another name, or remove what is left of an earlier operation.`;
  const id = operationIdOf(name);
  // The code of an operation imports functions, such as getRow.
  if (new RegExp(`\\b${id}\\b`).test([list, ...Object.values(TEMPLATES)].join()))
    return `The code of operations uses ${id} for something else: choose another name.`;
  return undefined;
}

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const [name = ''] = process.argv.slice(2);
const list = readFileSync(LIST, 'utf8');
const problem = problemOf(name, list);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
const files = [...filesOf(name), [LIST, withOperation(list, name)] as const];
for (const [path, text] of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const paths = files.map(([path]) => path);
execSync(`npm exec -- biome check --write ${paths.join(' ')} && npm run --silent generate`, { stdio: 'inherit' });
process.stdout.write(`Written:\n${paths.join('\n')}\nNext: "A new operation" of CONTRIBUTING.md.\n`);
