/**
 * Adds a fifth operation to a copy of the tree, as a developer would, by three files: an entry of the list, a feature and a function.
 * The compiler then names the tests that must learn how to call it. With these extended, check, synthesis, client, the local service
 * and the tests that go through the list work, without another change.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sampleData } from '../../infra/generate/sample.ts';
import { root, run, startService } from '../support/processes.ts';

const NAME = 'get-work-item';
const PATH = '/incident/work-item/info';
const FEATURE = fileURLToPath(new URL('get-work-item.ts.txt', import.meta.url));

/** A work item of the sample data, which no example deletes. */
const { work_item_id, version, title } = JSON.parse(
  [...sampleData(Date.now())].find((line) => line.includes('"wi-1002"')) ?? '{}',
);

const folder = mkdtempSync(join(tmpdir(), 'fifth-operation-'));
const inCopy = (command: string, ...args: string[]) => run(command, args, {}, folder);
const npm = (...args: string[]) => inCopy('npm', 'run', '--silent', ...args);
const npmExec = (...args: string[]) => inCopy('npm', 'exec', '--no', '--', ...args);
const say = (text: string) => process.stdout.write(`${text}, after ${Math.round(performance.now() / 1_000)} s\n`);

/** Puts text before the one place of a file that holds `anchor`. */
function insert(file: string, anchor: string, text: string): void {
  const path = join(folder, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(anchor).length !== 2) throw new Error(`${file} must hold this once: ${anchor}`);
  writeFileSync(
    path,
    source.replace(anchor, () => `${text}${anchor}`),
  );
}

/** @throws unless the compiler finds mistakes in exactly these files */
async function compilerAsksFor(project: string, ...files: string[]): Promise<void> {
  const printed = await npmExec('tsc', '-p', project, '--noEmit', '--pretty', 'false').catch(({ message }) => message);
  const found = new Set(Array.from(printed.matchAll(/^(\S+?)\(\d+,\d+\): error/gm), ([, file]) => file));
  if ([...found].sort().join() !== files.sort().join())
    throw new Error(`the compiler must ask for ${files.join(', ')}, and nothing else:\n${printed}`);
  say(`the compiler asks for ${files.join(', ')}`);
}

function addOperation(): void {
  insert(
    'lib/http/operations.ts',
    'export const operations = [',
    `export const getWorkItem = {
      name: '${NAME}',
      method: 'POST',
      path: '${PATH}',
      summary: 'Read a work item',
      description: 'The work item as it is now.',
      tag: 'Incidents',
      throttle: PLAN,
      grants: [{ actions: ['GetItem'], on: ['appKey', 'workItems'] }],
      request: {
        title: 'GetWorkItemRequest',
        type: 'object',
        required: ['work_item_id'],
        properties: { work_item_id: { type: 'string', minLength: 1, maxLength: 128, description: 'The work item' } },
      },
      response: {
        title: 'WorkItem',
        type: 'object',
        required: ['work_item_id', 'version', 'title'],
        properties: {
          work_item_id: { type: 'string', description: 'Names it' },
          version: { type: 'integer', format: 'int64', description: 'Its version' },
          title: { type: 'string', description: 'Its title' },
        },
      },
      example: { request: { work_item_id: '${work_item_id}' }, data: ${JSON.stringify({ work_item_id, version, title })} },
      refusals: [
        {
          summary: 'The work item does not exist',
          explanation: { name: 'workItemNotFound', values: { workItemId: 'wi-none' } },
        },
      ],
    } as const satisfies Operation;

    `,
  );
  insert('lib/http/operations.ts', '] as const satisfies Operation[]', ', getWorkItem');
  cpSync(FEATURE, join(folder, `lib/operations/${NAME}/read.ts`));
  writeFileSync(
    join(folder, `functions/${NAME}.ts`),
    `import { createDeps } from '../lib/shared/deps.ts';
    import { createGetWorkItemHandler } from '../lib/operations/${NAME}/read.ts';

    export const handler = createGetWorkItemHandler(await createDeps({ connections: 1 }));
    `,
  );
}

/** Tells the tests that go through the list how to call the operation, and how to try it for another account. */
function addToTests(): void {
  insert('test/support/handlers.ts', '  mergeAlerts: ', 'getWorkItem: createGetWorkItemHandler(deps),');
  insert(
    'test/support/handlers.ts',
    'import { createMergeAlertsHandler',
    `import { createGetWorkItemHandler } from '../../lib/operations/${NAME}/read.ts';\n`,
  );
  insert(
    'test/integration/security.test.ts',
    "  'merge-alerts': {",
    `'${NAME}': {
      valid: () => ({ work_item_id: 'none' }),
      text: 'work_item_id',
      integer: '',
      foreign: () => ({ work_item_id: \`item of \${SECRET.length}\` }),
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
    const call = output.split('\n').find((line) => line.startsWith('curl ') && line.includes(PATH));
    const answer = call && JSON.parse(await inCopy('bash', '-c', call));
    if (answer?.data?.title !== title) throw new Error(`${call}: ${JSON.stringify(answer)}`);
    say('called on the local service');
  } finally {
    await stop();
  }
}

/** The tests that go through the list. Others name the contract's four operations one by one, on purpose. */
const TESTS = [
  'test/unit/openapi.test.ts',
  'test/unit/generated-validators.test.ts',
  'test/infra/gateway.test.ts',
  'test/integration/description.test.ts',
  'test/integration/security.test.ts',
];

try {
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
} finally {
  rmSync(folder, { recursive: true });
}
