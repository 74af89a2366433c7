/** `npm run new-operation NAME` writes an operation that works. CONTRIBUTING.md says what to change in it. */
import { execSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operationIdOf } from '../../lib/operations/index.ts';
import { TEMPLATES } from './operation-templates.ts';

const LIST = 'lib/operations/index.ts';
const SECTIONS = 'packages/conformance/src/sections/operations';
const FIRST_IMPORT = /^import \{ \w+ \} from '\.\/[\w-]+\/schema\.ts';/m;
const END_OF_LIST = /^\] as const satisfies Operation\[\];/m;
const MAX_NAME_LENGTH = 40;

/** The first free number of a section of the certificate. */
function freeSection(): number {
  const headings = readdirSync(SECTIONS).map((file) => readFileSync(`${SECTIONS}/${file}`, 'utf8'));
  return 1 + Math.max(...headings.map((text) => Number(/heading: '4\.(\d+)/.exec(text)?.[1] ?? 0)));
}

/** The files of an operation, by their paths. */
function filesOf(name: string): [path: string, text: string][] {
  const id = operationIdOf(name);
  const named = (text: string) =>
    text
      .replaceAll('operation-name', name)
      .replaceAll('operationName', id)
      .replaceAll(
        'OperationName',
        id.replace(/^./, (letter) => letter.toUpperCase()),
      )
      .replaceAll('SECTION', String(freeSection()));
  return Object.entries(TEMPLATES).map(([path, text]) => [named(path), named(text)]);
}

/** Why there can be no operation of this name; undefined if there can. */
function problemOf(name: string, list: string): string | undefined {
  if (!/^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)+$/.test(name) || name.length > MAX_NAME_LENGTH)
    return `"${name}" is no name of an operation: give two or more words in lower case with hyphens, at most ${MAX_NAME_LENGTH} characters, such as get-incident.`;
  const taken = filesOf(name).find(([path]) => existsSync(path));
  if (taken)
    return `${taken[0]} is there already: choose another name, or remove what is left of an earlier operation.`;
  const id = new RegExp(`\\b${operationIdOf(name)}\\b`);
  if (id.test(list + Object.values(TEMPLATES).join()))
    return `The code of an operation uses ${operationIdOf(name)} for something else: choose another name.`;
  if (!FIRST_IMPORT.test(list) || !END_OF_LIST.test(list))
    return `${LIST} does not look as usual: it must import an operation's schema, and end its list by "] as const satisfies Operation[];".`;
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
const id = operationIdOf(name);
const files = filesOf(name);
for (const [path, text] of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { flag: 'wx' });
}
const imported = list.replace(FIRST_IMPORT, `import { ${id} } from './${name}/schema.ts';\n$&`);
writeFileSync(LIST, imported.replace(END_OF_LIST, `  ${id},\n$&`));
const written = [LIST, ...files.map(([path]) => path)];
execSync(`npm exec -- biome check --write ${written.join(' ')} && npm run --silent generate`, { stdio: 'inherit' });
process.stdout.write(
  `Written:\n${written.map((path) => `  ${path}\n`).join('')}Next: "A new operation" of CONTRIBUTING.md.\n`,
);
