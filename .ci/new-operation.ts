/**
 * Follows "A new operation" of CONTRIBUTING.md on a copy of the checkout: writes each file that its steps name, and runs each command but
 * the whole `npm test`. Then no other file of the copy has changed, besides what the commands generate.
 */
import { strict as assert } from 'node:assert';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sampleData } from '../packages/local/sample.ts';
import { root, shell } from './support/processes.ts';

const NAME = 'get-work-item-title';
const PATH = '/incident/work-item/title';
const HEADING = '4.99 Read the title of a work item';
/** A work item of the sample data. */
const WORK_ITEM = 'wi-1002';
const { title } = sampleData(Date.now())
  .map((line) => JSON.parse(line))
  .find(({ work_item_id }) => work_item_id === WORK_ITEM);

const SCHEMA = `import { type Operation, THROTTLE } from '../../http/operation.ts';
export const getWorkItemTitle = {
  name: '${NAME}', method: 'POST', path: '${PATH}', tag: 'Incidents', throttle: THROTTLE,
  summary: 'Read the title of a work item', description: 'A deleted work item is not found.',
  grants: [{ actions: ['GetItem'], on: ['appKey', 'workItem'] }],
  request: { title: 'GetWorkItemTitleRequest', type: 'object', required: ['work_item_id'],
    properties: { work_item_id: { type: 'string', minLength: 1, maxLength: 128, description: 'Its id' } } },
  response: { title: 'WorkItemTitle', type: 'object', required: ['title'], additionalProperties: false,
    properties: { title: { type: 'string', description: 'Its title' } } },
  example: { request: { work_item_id: '${WORK_ITEM}' }, data: { title: '${title}' } },
  refusals: [{ summary: 'It does not exist', explanation: { name: 'workItemNotFound', values: { workItemId: 'none' } } }],
} as const satisfies Operation;
`;

const HANDLER = `import { createOperationHandler } from '../../http/call.ts';
import { refusal } from '../../http/errors.ts';
import type { Call, Handler, RequestOf } from '../../http/operation.ts';
import type { Deps } from '../../deps.ts';
import { withSignal } from '../../table/client.ts';
import { keys } from '../../table/keys.ts';
import { getRow } from '../../table/read.ts';
import { getWorkItemTitle } from './schema.ts';
import validate from './validate-${NAME}.ts';

const createRead = ({ table }: Deps) =>
  async ({ body, caller, signal }: Call<RequestOf<typeof getWorkItemTitle>>) => {
    const { work_item_id: workItemId } = body;
    const row = await getRow(withSignal(table, signal), keys.workItem(caller.accountId, workItemId));
    if (!row || row.deleted_at_ms !== undefined) throw refusal('workItemNotFound', { workItemId });
    return { data: { title: row.title } };
  };

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(getWorkItemTitle, { validate, operate: createRead(deps) }, deps);
`;

const FUNCTION = `import { createHandler } from '../lib/operations/${NAME}/handler.ts';
import { createDeps } from '../lib/deps.ts';

export const handler = createHandler(await createDeps({ connections: 1 }));
`;

const TEST = `import { expect, it } from 'vitest';
import { getWorkItemTitle } from '../../../lib/operations/${NAME}/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { callAlone, handlersOver, newDouble, put, testDeps } from '../../support/service.ts';

it('the title of a work item is read, unless it is deleted', async () => {
  const table = newDouble();
  const { account, appKey } = await newCaller(table);
  const read = () => callAlone(handlersOver(testDeps(table)), getWorkItemTitle, { appKey, body: { work_item_id: 'w' } });
  const row = { work_item_id: 'w', version: 3, title: 't' };
  await put(table, keys.workItem(account, 'w'), row);
  expect(expectData(getWorkItemTitle, await read())).toEqual({ title: 't' });
  await put(table, keys.workItem(account, 'w'), { ...row, deleted_at_ms: 1 });
  expectEnvelope(await read(), 400, 'ResourceNotFound');
});
`;

const SECTION = `import { refused } from '../../answers.ts';
import { object, text } from '../../contract.ts';
import type { OperationSection } from '../../requirement.ts';
import { MISSING, needsKey, refuses } from '../common.ts';

export const section: OperationSection = {
  heading: '${HEADING}',
  path: '${PATH}',
  data: object({ title: text }),
  requirements: {
    'work_item_id: required, 1 to 128 characters': refuses('${PATH}', 'work_item_id', [undefined, '', 7]),
    'A work item that does not exist': async (api) =>
      refused(await api.call('${PATH}', { work_item_id: MISSING.work_item_id }), 'ResourceNotFound'),
    '401 Unauthorized': needsKey,
  },
};
`;

const README = `
\`\`\`sh
curl -s 'http://127.0.0.1:3000${PATH}?app_key=KEY' -H 'Content-Type: application/json' -d '{"work_item_id":"${WORK_ITEM}"}'
\`\`\`
`;

/** What becomes of each file that the steps name. */
const EDITS: Readonly<Record<string, (before: string) => string>> = {
  'lib/operations/NAME/schema.ts': () => SCHEMA,
  'lib/operations/index.ts': (before) =>
    before
      .replace('import { browseFleet }', `import { getWorkItemTitle } from './${NAME}/schema.ts';\n$&`)
      .replace('  browseFleet,\n', '$&  getWorkItemTitle,\n'),
  'lib/operations/NAME/handler.ts': () => HANDLER,
  'functions/NAME.ts': () => FUNCTION,
  'test/integration/NAME/NAME.test.ts': () => TEST,
  'packages/conformance/src/sections/operations/NAME.ts': () => SECTION,
  'README.md': (before) => before + README,
  'CHANGELOG.md': (before) => `${before}\nIt reads the title of a work item.\n`,
  'docs/decisions.md': (before) => `${before}\n## Title of a work item\nOne of 0 characters is returned as it is.\n`,
};
/** What the commands write. */
const GENERATED = [`lib/operations/${NAME}/validate-${NAME}.ts`, 'openapi.json', 'packages/client/src/types.ts'];
const named = (text: string) => text.replaceAll('NAME', NAME).replaceAll('HEADING', HEADING);

using temporary = mkdtempDisposableSync(join(tmpdir(), 'new-operation-'));
const copy = temporary.path;
const inCopy = (line: string) => shell(`cd '${copy}' && ${line}`);
const files = (await shell('git ls-files --cached --others --exclude-standard')).trim().split('\n');
for (const file of files) if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
await inCopy('git init --quiet && git add --all');

function write(file: string): void {
  const edit = EDITS[file];
  assert.ok(edit, `a step names ${file}, which this walk does not write`);
  const path = join(copy, named(file));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, edit(existsSync(path) ? readFileSync(path, 'utf8') : ''));
}

/** What `test/unit/operations` says that the operation lacks. */
async function missingParts(): Promise<string[]> {
  const output = await inCopy('npm test -- test/unit/operations 2>&1 || true');
  return [...output.matchAll(/"([^"]+ has no [^"]+)"/g)].map(([, text = '']) => text);
}
/** All that is missing after a step, by name. Other steps leave the parts that follow them to the last one, which must find none. */
const MISSING_AFTER: Readonly<Record<number, readonly string[]>> = {
  2: [
    'lib/operations/NAME/handler.ts',
    'functions/NAME.ts',
    'test in test/integration/NAME/',
    'section in the certificate: packages/conformance/src/sections/operations/NAME.ts',
    'curl in README.md',
  ],
};

const [, section = ''] =
  /^## A new operation\n(.*?)\n## /ms.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
const steps = [...section.matchAll(/^\d\. .*(?:\n {3}.*)*/gm)].map(([step]) => step.replaceAll('\n   ', ' '));
const written = new Set<string>();
for (const [index, step] of steps.entries()) {
  for (const [, code = ''] of step.matchAll(/`([^`]+)`/g))
    if (/^npm .* /.test(code)) await inCopy(named(code));
    else if (/^[\w/.-]+\.(ts|md)$/.test(code)) {
      write(code);
      written.add(code);
    }
  const missing = MISSING_AFTER[index + 1];
  if (missing)
    assert.deepEqual(
      await missingParts(),
      missing.map((part) => named(`NAME has no ${part}`)),
    );
  process.stdout.write(`ok ${step}\n`);
}
assert.deepEqual([...written].sort(), Object.keys(EDITS).sort(), 'the steps name each file');
const changed = (await inCopy('git add --all --intent-to-add && git diff --name-only')).trim().split('\n');
assert.deepEqual(changed.sort(), [...Object.keys(EDITS).map(named), ...GENERATED].sort());
process.stdout.write(`ok ${written.size} files by hand\n`);
