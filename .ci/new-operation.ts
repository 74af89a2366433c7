/**
 * Follows "A new operation" of CONTRIBUTING.md on a copy of the checkout, for an operation with an integer, a permission, exact limits and a
 * refusal of its own: changes the files that the guide names and no others, and runs each command that it names but the whole `npm test`.
 */
import { strict as assert } from 'node:assert';
import { cpSync, existsSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_KEYS } from '../packages/local/sample.ts';
import { root, shell } from './support/processes.ts';

const NAME = 'get-work-item-title';
const HEADING = 'Read the title of a work item';

const SCHEMA = 'lib/operations/NAME/schema.ts';
const HANDLER = 'lib/operations/NAME/handler.ts';
const TEST = 'test/integration/NAME/NAME.test.ts';
const SECTION = 'packages/conformance/src/sections/operations/NAME.ts';

const LIMITS = `permission: 'title', rateWindows: [{ name: 'second', limit: 5, seconds: 1 }, { name: 'minute', limit: 60, seconds: 60 }],`;
const INTEGER = `version: { type: 'integer', format: 'int64', minimum: 1, description: 'Its lowest version' },`;
const VALUES = `{ given: '3', stored: '2' }`;
const REFUSALS = `{ summary: 'It has a lower version', explanation: { name: 'versionTooLow', values: ${VALUES} } },
  { summary: 'No permission', explanation: { name: 'permissionMissing', values: { permission: 'title' } } },`;
const CHECK = `if (version !== undefined && BigInt(row.version) < BigInt(version))
  throw refusal('versionTooLow', { given: String(version), stored: String(row.version) });`;
const TESTS = `
  await put(table, keys.workItem(account, 'w'), row);
  expectData(getWorkItemTitle, await call({ work_item_id: 'w', version: 3 }));
  expectEnvelope(await call({ work_item_id: 'w', version: 4 }), 400, 'InvalidParameter');`;
const MESSAGE = `versionTooLow: ({ given, stored }) => ['version', stored, 'is below', given, '.'].join(' '),`;
const CURL = `\`\`\`sh
curl -s 'http://127.0.0.1:3000/NAME?app_key=${DEMO_KEYS.demo}' -H 'Content-Type: application/json' -d '{"work_item_id":"wi-1002"}'
\`\`\`
\`\`\`json
{"request_id":"1","data":{"title":"Roll back to 4.10.7"}}
\`\`\`\n\n`;

/** What is written into files by hand, and the text before which it is written. */
const WRITTEN: [file: string, text: string, before: string][] = [
  [SCHEMA, LIMITS, '  throttle:'],
  [SCHEMA, `{ actions: ['GetItem', 'UpdateItem'], on: ['rateCount'] },`, `{ actions: ['GetItem'`],
  [SCHEMA, INTEGER, '      work_item_id: {'],
  [SCHEMA, REFUSALS, '    { summary:'],
  [HANDLER, 'version, ', 'work_item_id: workItemId'],
  [HANDLER, CHECK, '    return { data'],
  [TEST, TESTS, '\n});'],
  [SECTION, `permission: 'title',`, '  data: object'],
  [SECTION, `'version: from 1': refuses(PATH, 'version', [0, '1'], { work_item_id: 'x' }),`, `    'ResourceNotFound`],
  ['lib/model/account.ts', `'title', `, `'monit', `],
  [
    'lib/http/errors.ts',
    `versionTooLow: 'InvalidParameter' as CodeWith<{ given: string; stored: string }>,`,
    '  versionDiffers:',
  ],
  ['lib/http/messages/en.ts', MESSAGE, '    versionDiffers:'],
  ['lib/http/messages/de.ts', MESSAGE, '    versionDiffers:'],
  ['lib/http/messages/zh-cn.ts', MESSAGE, '    versionDiffers:'],
  ['test/unit/http/messages.test.ts', `versionTooLow: ${VALUES},`, '  versionDiffers:'],
  ['README.md', CURL, 'A failed call has'],
  ['CHANGELOG.md', 'The title of a work item can be read.\n\n', '## '],
  ['docs/decisions.md', 'A title of 0 characters is returned as it is.\n\n', '## '],
];
/** Files that the guide names for other operations. */
const UNTOUCHED = ['test/unit/table/grants.test.ts'];
const named = (text: string) => text.replaceAll('NAME', NAME).replaceAll('HEADING', HEADING);

using temporary = mkdtempDisposableSync(join(tmpdir(), 'new-operation-'));
const copy = temporary.path;
const inCopy = (line: string) => shell(`cd '${copy}' && ${line}`);
const files = (await shell('git ls-files --cached --others --exclude-standard')).trim().split('\n');
for (const file of files) if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
await inCopy('git init --quiet');

const [, section = ''] =
  /^## A new operation\n(.*?)\n## /ms.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
const codes = [...section.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const namedFiles = codes.filter((code) => /^[\w/.-]+\.(ts|md)$/.test(code));
assert.deepEqual(namedFiles.sort(), [...new Set(WRITTEN.map(([file]) => file)), ...UNTOUCHED].sort());
for (const code of codes.filter((code) => /^npm .* /.test(code))) {
  await inCopy(named(code));
  if (code === 'npm run new-operation NAME')
    for (const [file, text, before] of WRITTEN) {
      const path = join(copy, named(file));
      const [head, ...rest] = readFileSync(path, 'utf8').split(before);
      assert.ok(rest.length > 0, `${file} has no ${before}`);
      writeFileSync(path, [head + named(text), ...rest].join(before));
    }
  process.stdout.write(`ok ${code}\n`);
}
