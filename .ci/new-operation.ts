/**
 * Follows "A new operation" of CONTRIBUTING.md on a copy of the checkout, for an operation with an integer, a permission, exact limits and a
 * refusal of its own: changes the files that it names and no others, and runs each command that it names but the whole `npm test`.
 */
import { strict as assert } from 'node:assert';
import { cpSync, existsSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_KEYS } from '../packages/local/sample.ts';
import { root, shell } from './support/processes.ts';

const NAME = 'get-work-item-title';
const HEADING = 'Read the title of a work item';
const VALUES = `{ given: '3', stored: '2' }`;

/** In each file: a text of it, and the text before that. */
const INSERTED: Readonly<Record<string, readonly [text: string, before: string][]>> = {
  'lib/operations/NAME/schema.ts': [
    [
      `permission: 'title',
      rateWindows: [{ name: 'second', limit: 5, seconds: 1 }, { name: 'minute', limit: 60, seconds: 60 }],`,
      '  throttle: THROTTLE',
    ],
    [`{ actions: ['GetItem', 'UpdateItem'], on: ['rateCount'] },`, `{ actions: ['GetItem']`],
    [
      `version: { type: 'integer', format: 'int64', minimum: 1, description: 'Its lowest version' },`,
      '      work_item_id: {',
    ],
    [
      `{ summary: 'Not that version', explanation: { name: 'versionTooLow', values: ${VALUES} } },
      { summary: 'The permission is missing', explanation: { name: 'permissionMissing', values: { permission: 'title' } } },`,
      '    {\n      summary:',
    ],
  ],
  'lib/operations/NAME/handler.ts': [
    [
      `if (body.version !== undefined && BigInt(row.version) < BigInt(body.version))
        throw refusal('versionTooLow', { given: String(body.version), stored: String(row.version) });`,
      '    return { data',
    ],
  ],
  'packages/conformance/src/sections/operations/NAME.ts': [
    [`permission: 'title',`, '  data: object'],
    [
      `'version: integer from 1': refuses(PATH, 'version', [0, '1', 1.5], { work_item_id: 'x' }),`,
      `    'ResourceNotFound`,
    ],
  ],
  'test/integration/NAME/NAME.test.ts': [
    [
      `const versionOf = (version: number) => callAlone(handlers, getWorkItemTitle, { appKey, body: { work_item_id: 'w', version } });
      await put(table, keys.workItem(account, 'w'), row);
      expectData(getWorkItemTitle, await versionOf(3));
      expectEnvelope(await versionOf(4), 400, 'InvalidParameter');`,
      '});',
    ],
  ],
  'lib/model/account.ts': [[`'title', `, `'monit', `]],
  'lib/http/errors.ts': [
    [`versionTooLow: 'InvalidParameter' as CodeWith<{ given: string; stored: string }>,`, '  versionDiffers:'],
  ],
  ...Object.fromEntries(
    ['en', 'de', 'zh-cn'].map((language) => [
      `lib/http/messages/${language}.ts`,
      [['versionTooLow: ({ given, stored }) => `version ${stored} is below ${given}.`,', '    versionDiffers:']],
    ]),
  ),
  'test/unit/http/messages.test.ts': [[`versionTooLow: ${VALUES},`, '  versionDiffers:']],
  'README.md': [
    [
      `\`\`\`sh
curl -s 'http://127.0.0.1:3000/NAME?app_key=${DEMO_KEYS.demo}' -H 'Content-Type: application/json' -d '{"work_item_id":"wi-1002"}'
\`\`\`
\`\`\`json
{"request_id":"1","data":{"title":"Roll back to 4.10.7"}}
\`\`\`\n\n`,
      'A failed call has',
    ],
  ],
  'CHANGELOG.md': [['The title of a work item can be read.\n\n', '## ']],
  'docs/decisions.md': [['A title of 0 characters is returned as it is.\n\n', '## ']],
};
/** What the guide names for other operations. */
const NOT_CHANGED = ['test/unit/table/grants.test.ts'];
const named = (text: string) => text.replaceAll('NAME', NAME).replaceAll('HEADING', HEADING);

using temporary = mkdtempDisposableSync(join(tmpdir(), 'new-operation-'));
const copy = temporary.path;
const inCopy = (line: string) => shell(`cd '${copy}' && ${line}`);
const files = (await shell('git ls-files --cached --others --exclude-standard')).trim().split('\n');
for (const file of files) if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
await inCopy('git init --quiet && git add --all');

function edit(file: string): void {
  const path = join(copy, named(file));
  for (const [text, before] of INSERTED[file] ?? []) {
    const [head, ...tail] = readFileSync(path, 'utf8').split(before);
    assert.ok(tail.length > 0, `${file} has no ${before}`);
    writeFileSync(path, [head, named(text), before, tail.join(before)].join(''));
  }
}

const [, section = ''] =
  /^## A new operation\n(.*?)\n## /ms.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
const codes = [...section.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const namedFiles = codes.filter((code) => /^[\w/.-]+\.(ts|md)$/.test(code));
assert.deepEqual(namedFiles.sort(), [...Object.keys(INSERTED), ...NOT_CHANGED].sort(), 'files of the guide');
for (const code of codes.filter((code) => /^npm .* /.test(code))) {
  const began = Date.now();
  await inCopy(named(code));
  if (code.startsWith('npm run new-operation')) for (const file of Object.keys(INSERTED)) edit(file);
  process.stdout.write(`ok ${code}, ${Math.round((Date.now() - began) / 1_000)} s\n`);
}
