/**
 * Follows "A new operation" of CONTRIBUTING.md in a copy of the checkout, for an operation with an integer field, a permission, exact limits
 * and a refusal of its own: changes the files that the guide names and no others, and runs each command that it names but the whole `npm test`.
 */
import { strict as assert } from 'node:assert';
import { cpSync, existsSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, shell } from './support/processes.ts';

const NAME = 'count-letters';
const SCHEMA = 'lib/operations/NAME/schema.ts';
const HANDLER = 'lib/operations/NAME/handler.ts';
const TEST = 'test/integration/NAME/NAME.test.ts';
const SECTION = 'packages/conformance/src/sections/operations/NAME.ts';

// So long that no window ends between the calls of the test.
const LIMITS = `permission: 'letters',
  rateWindows: [{ name: 'hour', limit: 2, seconds: 3_600 }, { name: 'day', limit: 30, seconds: 86_400 }],`;
const INTEGER = `least: { type: 'integer', minimum: 0, maximum: 128, default: 0, description: 'Letters that it must have' },`;
const REFUSAL = `{ summary: 'The text has fewer letters', name: 'tooFewLetters', values: { least: 9 } }`;
const CHECK = `{
  await admitted;
  if (text.length < least) throw refusal('tooFewLetters', { least });
  return { data: { text } };
};`;
const TESTS = `expectEnvelope(await call('a', 2), 400, 'InvalidParameter');
  expectEnvelope(await call('a'), 429, 'RequestTooFrequently');`;
const MESSAGE = `tooFewLetters: ({ least }) => 'At least '.concat(String(least), ' letters are needed.'),`;
const CALL = `\`\`\`sh
call /NAME '{"text":"hello"}'
\`\`\``;

/** What a person changes: in each file the first occurrence of a text, which is `$&` in what replaces it. */
const EDITS: readonly [file: string, before: string, after: string][] = [
  [SCHEMA, '  request: {', `${LIMITS}\n$&`],
  [SCHEMA, `['appKey'] }]`, `['appKey', 'rateCount'] }, { actions: ['UpdateItem'], on: ['rateCount'] }]`],
  [SCHEMA, 'properties: { text: {', `properties: { ${INTEGER} text: {`],
  [SCHEMA, 'refusals: []', `refusals: [${REFUSAL}]`],
  [HANDLER, `call.ts';`, `$&\nimport { refusal } from '../../http/errors.ts';`],
  [HANDLER, '{ text } }: Call<', '{ text, least }, admitted }: Call<'],
  [HANDLER, '({ data: { text } });', CHECK],
  [TEST, '(text: string)', '(text: string, least = 0)'],
  [TEST, 'body: { text }', 'body: { text, least }'],
  [TEST, `expectEnvelope(await call('')`, `${TESTS}\n  $&`],
  [SECTION, '  data: object', `permission: 'letters',\n$&`],
  [SECTION, '    ...COMMON_ERRORS', `'least: 0 to 128': refuses(PATH, 'least', [-1, 129, '1'], { text: 'a' }),\n$&`],
  ['lib/model/account.ts', `'monit', `, `$&'letters', `],
  [
    'lib/http/errors.ts',
    '  workItemNotFound:',
    `tooFewLetters: 'InvalidParameter' as CodeWith<{ least: number }>,\n$&`,
  ],
  ['lib/http/messages/en.ts', '    workItemNotFound:', `${MESSAGE}\n$&`],
  ['lib/http/messages/de.ts', '    workItemNotFound:', `${MESSAGE}\n$&`],
  ['lib/http/messages/zh-cn.ts', '    workItemNotFound:', `${MESSAGE}\n$&`],
  ['test/unit/http/messages.test.ts', '  workItemNotFound:', 'tooFewLetters: { least: 9 },\n$&'],
  ['README.md', '## Run it', `${CALL}\n\n$&`],
  ['CHANGELOG.md', '## ', 'It counts letters.\n\n$&'],
  ['docs/decisions.md', '## ', 'Letters are characters.\n\n$&'],
];
/** Files that the guide names for other operations. */
const OTHERS = ['test/unit/table/grants.test.ts'];
const named = (text: string) => text.replaceAll('NAME', NAME).replaceAll('HEADING', `Answer the text of ${NAME}`);

using temporary = mkdtempDisposableSync(join(tmpdir(), 'new-operation-'));
const copy = temporary.path;
const inCopy = (line: string) => shell(`cd '${copy}' && ${line}`);
const files = (await shell('git ls-files --cached --others --exclude-standard')).trim().split('\n');
for (const file of files) if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
await inCopy('git init --quiet');

const [, guide = ''] =
  /^## A new operation\n(.*?)\n## /ms.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
const codes = [...guide.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const namedFiles = codes.filter((code) => /^[\w/.-]+\.(ts|md)$/.test(code));
assert.deepEqual(namedFiles.sort(), [...new Set(EDITS.map(([file]) => file)), ...OTHERS].sort(), 'files of the guide');
for (const command of codes.filter((code) => /^npm .* /.test(code))) {
  await inCopy(named(command));
  if (command === 'npm run new-operation NAME') {
    // What the command writes works before it is changed.
    await inCopy(named('npm run check && npm test -- test/integration/NAME'));
    for (const [file, before, after] of EDITS) {
      const path = join(copy, named(file));
      const content = readFileSync(path, 'utf8');
      assert.ok(content.includes(before), `${file} has no ${before}`);
      writeFileSync(path, content.replace(before, named(after)));
    }
  }
  process.stdout.write(`ok ${command}\n`);
}
for (const [name, message] of [
  ['', 'Give the name of the operation'],
  ['Count', '"Count" is no name of an operation'],
  [NAME, `${NAME} is taken: lib/operations/${NAME}/schema.ts exists`],
  ['finish-merges', 'finish-merges is taken: functions/finish-merges.ts exists'],
] as const)
  assert.ok((await inCopy(`npm run new-operation ${name} 2>&1 || true`)).includes(message), message);
assert.ok(!existsSync(join(copy, 'lib/operations/finish-merges')), 'nothing is written for a name that is refused');
