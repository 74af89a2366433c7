/**
 * Adds a fifth operation to a copy of the tree, as a developer would, from three files of this folder: the entry in the list of
 * operations, the code and the function. `npm run check` also compiles these files here, so that it notices a rename in `lib`.
 * In the copy, the compiler must name the tests that lack a call of the operation. Once it is added there, check, synthesis, client,
 * local service and the tests that loop over the list must work without another change.
 */
import { cpSync, mkdirSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run, startService } from '../support/processes.ts';
import { getWorkItem } from './operation.ts';

const { name, path, example } = getWorkItem;

using temporary = mkdtempDisposableSync(join(tmpdir(), 'fifth-operation-'));
const folder = temporary.path;
const inCopy = (command: string, ...args: string[]) => run(command, args, {}, folder);
const npm = (...args: string[]) => inCopy('npm', 'run', '--silent', ...args);
const npmExec = (...args: string[]) => inCopy('npm', 'exec', '--no', '--', ...args);
const say = (text: string) => process.stdout.write(`${text}, after ${Math.round(performance.now() / 1_000)} s\n`);

/** Inserts text before `anchor`, which the file must contain exactly once. */
function insert(file: string, anchor: string, text: string): void {
  const copy = join(folder, file);
  const original = readFileSync(copy, 'utf8');
  if (original.split(anchor).length !== 2) throw new Error(`${file} must contain this once: ${anchor}`);
  writeFileSync(
    copy,
    original.replace(anchor, () => `${text}${anchor}`),
  );
}

/** @throws unless the compiler finds mistakes in exactly these files */
async function compilerAsksFor(project: string, ...files: string[]): Promise<void> {
  const printed = await npmExec('tsc', '-p', project, '--noEmit', '--pretty', 'false').catch(({ message }) => message);
  const filesWithErrors = new Set(Array.from(printed.matchAll(/^(\S+?)\(\d+,\d+\): error/gm), ([, file]) => file));
  if ([...filesWithErrors].sort().join() !== files.sort().join())
    throw new Error(`the compiler must ask for ${files.join(', ')}, and nothing else:\n${printed}`);
  say(`the compiler asks for ${files.join(', ')}`);
}

/** The text of a file of this folder, with its imports replaced. */
function source(file: string, imports: Record<string, string>): string {
  let text = readFileSync(new URL(file, import.meta.url), 'utf8');
  for (const [from, to] of Object.entries(imports)) {
    if (!text.includes(from)) throw new Error(`${file} must contain: ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

function addOperation(): void {
  const entry = source('operation.ts', { "import type { Operation } from '../../lib/http/operations.ts';\n": '' });
  insert('lib/http/operations.ts', 'export const operations = [', entry);
  insert('lib/http/operations.ts', '] as const satisfies Operation[]', ', getWorkItem');
  mkdirSync(join(folder, `lib/operations/${name}`));
  writeFileSync(
    join(folder, `lib/operations/${name}/read.ts`),
    source('read.ts', { '../../lib/': '../../', './operation.ts': '../../http/operations.ts' }),
  );
  writeFileSync(
    join(folder, `functions/${name}.ts`),
    source('function.ts', { '../../lib/': '../lib/', './read.ts': `../lib/operations/${name}/read.ts` }),
  );
}

/** Adds to the tests that loop over the list how to call the operation, and how to try it on another account's data. */
function addToTests(): void {
  insert('test/support/handlers.ts', '  mergeAlerts: ', 'getWorkItem: createGetWorkItemHandler(deps),');
  insert(
    'test/support/handlers.ts',
    'import { createMergeAlertsHandler',
    `import { createGetWorkItemHandler } from '../../lib/operations/${name}/read.ts';\n`,
  );
  insert(
    'test/integration/security.test.ts',
    "  'merge-alerts': {",
    `'${name}': {
      valid: { work_item_id: 'none' },
      foreign: { work_item_id: otherTenant.workItem },
      foreignCode: 'ResourceNotFound',
    },`,
  );
}

async function synthesize(): Promise<void> {
  await npm('synth');
  const template = readFileSync(join(folder, 'cdk.out/IncidentMonitoringRum.template.json'), 'utf8');
  if (!template.includes('"getworkitemFunction')) throw new Error('the template has no function of the operation');
  say('synthesized');
}

async function callLocally(): Promise<void> {
  const { output, stop } = await startService([], folder);
  try {
    const call = output.split('\n').find((line) => line.startsWith('curl ') && line.includes(path));
    const answer = call && JSON.parse(await inCopy('bash', '-c', call));
    if (answer?.data?.title !== example.data.title) throw new Error(`${call}: ${JSON.stringify(answer)}`);
    say('called on the local service');
  } finally {
    await stop();
  }
}

/** The tests that loop over the list. Other tests name the contract's four operations one by one, on purpose. */
const TESTS = [
  'test/unit/openapi.test.ts',
  'test/unit/generated-files.test.ts',
  'test/infra/gateway.test.ts',
  'test/integration/description.test.ts',
  'test/integration/security.test.ts',
];

const files = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
for (const file of files.split('\0').filter(Boolean)) cpSync(join(root, file), join(folder, file));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

addOperation();
await npmExec('node', 'infra/generate/validators.ts');
await compilerAsksFor('.', 'test/support/handlers.ts', 'test/integration/security.test.ts');
addToTests();
await npm('generate');
if (!readFileSync(join(folder, 'packages/client/src/types.ts'), 'utf8').includes('getWorkItem(request: '))
  throw new Error('the client has no method of the operation');
await npm('fix');
await Promise.all([
  npm('check').then(() => say('checked')),
  synthesize(),
  inCopy('npm', 'test', '--silent', '--', ...TESTS).then(() => say('tested')),
  callLocally(),
]);
