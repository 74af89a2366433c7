/**
 * Makes an operation in a copy of the checkout as "A new operation" of CONTRIBUTING.md says: by the command, then with an integer field, a
 * permission, exact limits and a refusal of its own. Then the checks and the tests that concern it pass, and no other file has changed.
 */
import { strict as assert } from 'node:assert';
import { cpSync, existsSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root, shell } from './support/processes.ts';

const NAME = 'count-letters';
const FOLDER = `lib/operations/${NAME}`;
const TEST = `test/integration/${NAME}/${NAME}.test.ts`;
const SECTION = `packages/conformance/src/sections/operations/${NAME}.ts`;
const README = `
\`\`\`sh
curl -s 'http://127.0.0.1:3000/${NAME}?app_key=KEY' -H 'Content-Type: application/json' -d '{"text":"hello"}'
\`\`\`
`;

/** What a person changes: in each file these texts are replaced. */
const EDITS: Readonly<Record<string, readonly [before: string, after: string][]>> = {
  [`${FOLDER}/schema.ts`]: [
    [
      `  tag: 'Incidents',\n`,
      `$&  permission: 'letters',
  rateWindows: [
    { name: 'hour', limit: 2, seconds: 3_600 },
    { name: 'day', limit: 30, seconds: 86_400 },
  ],\n`,
    ],
    [
      `[{ actions: ['GetItem'], on: ['appKey'] }]`,
      `[{ actions: ['GetItem'], on: ['appKey', 'rateCount'] }, { actions: ['UpdateItem'], on: ['rateCount'] }]`,
    ],
    [
      `description: 'Any text' } }`,
      `description: 'Any text' },
       least: { type: 'integer', minimum: 0, maximum: 128, default: 0, description: 'Letters that the text must have' } }`,
    ],
    [
      'refusals: []',
      `refusals: [{ summary: 'The text has fewer letters', explanation: { name: 'tooFewLetters', values: { least: 9 } } }]`,
    ],
  ],
  [`${FOLDER}/handler.ts`]: [
    [`call.ts';\n`, `$&import { refusal } from '../../http/errors.ts';\n`],
    ['{ text } }: Call<', '{ text, least }, admitted }: Call<'],
    [
      '({ data: { text } });',
      `{
  await admitted;
  if (text.length < least) throw refusal('tooFewLetters', { least });
  return { data: { text } };
};`,
    ],
  ],
  [TEST]: [
    ['(text: string)', '(text: string, least = 0)'],
    ['body: { text }', 'body: { text, least }'],
    [
      `  expectEnvelope(await call(''),`,
      `  expectEnvelope(await call('a', 2), 400, 'InvalidParameter');
  expectEnvelope(await call('a'), 429, 'RequestTooFrequently');\n$&`,
    ],
  ],
  'lib/model/account.ts': [[`'monit', 'feed'`, `$&, 'letters'`]],
  'lib/http/errors.ts': [
    ['  workItemNotFound: ', `  tooFewLetters: 'InvalidParameter' as CodeWith<{ least: number }>,\n$&`],
  ],
  'test/unit/http/messages.test.ts': [['  workItemNotFound: ', '  tooFewLetters: { least: 9 },\n$&']],
  ...Object.fromEntries(
    ['en', 'de', 'zh-cn'].map((language) => [
      `lib/http/messages/${language}.ts`,
      [['    workItemNotFound: ', `    tooFewLetters: ({ least }) => \`At least \${least} letters are needed.\`,\n$&`]],
    ]),
  ),
  'README.md': [['## Run it', `$&\n${README}`]],
};
/** What the command writes or changes besides, and what it generates. */
const WRITTEN = [
  ...[`functions/${NAME}.ts`, 'lib/operations/index.ts', SECTION],
  ...[`${FOLDER}/validate-${NAME}.ts`, 'openapi.json', 'packages/client/src/types.ts'],
];
const TESTS = `test/unit/operations generated-files grants unit/http/messages integer-fields http/description infra/functions infra/monitoring infra/bundles ${TEST}`;

using temporary = mkdtempDisposableSync(join(tmpdir(), 'new-operation-'));
const copy = temporary.path;
const inCopy = (line: string) => shell(`cd '${copy}' && ${line}`);
const files = (await shell('git ls-files --cached --others --exclude-standard')).trim().split('\n');
for (const file of files) if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
await inCopy('git init --quiet && git add --all');

function edit(file: string): void {
  const path = join(copy, file);
  let content = readFileSync(path, 'utf8');
  for (const [before, after] of EDITS[file] ?? []) {
    assert.ok(content.includes(before), `${file} has no ${before}`);
    content = content.replace(before, after);
  }
  writeFileSync(path, content);
}

await inCopy(`npm run new-operation ${NAME}`);
// What the command writes works before it is changed, and the test of all parts names the one that is left to a person.
await inCopy('npm run check');
const tested = stripVTControlCharacters(await inCopy(`npm test -- test/unit/operations ${TEST} 2>&1 || true`));
assert.match(tested, /count-letters has no curl in README\.md/);
assert.match(tested, /Tests +1 failed \| 1 passed/);
process.stdout.write('ok the command\n');

edit(`${FOLDER}/schema.ts`);
const unlisted = await inCopy('npm run generate 2>&1 || true');
assert.match(unlisted, /count-letters has the refusal tooFewLetters: add it to REFUSALS of lib\/http\/errors\.ts/);
for (const file of Object.keys(EDITS).slice(1)) edit(file);
await inCopy('npm run generate && npm run fix && npm run check');
await inCopy(`npm test -- ${TESTS}`);
process.stdout.write('ok an integer field, a permission, exact limits and a refusal\n');

for (const [name, message] of [
  ['', 'Give the name of the operation'],
  ['Count', '"Count" is no name of an operation'],
  [NAME, `${NAME} is taken: ${FOLDER}/schema.ts exists`],
  ['finish-merges', 'finish-merges is taken: functions/finish-merges.ts exists'],
] as const)
  assert.ok((await inCopy(`npm run new-operation ${name} 2>&1 || true`)).includes(message), message);
const changed = (await inCopy('git add --all --intent-to-add && git diff --name-only')).trim().split('\n');
assert.deepEqual(changed.sort(), [...Object.keys(EDITS), ...WRITTEN].sort());
process.stdout.write(`ok ${Object.keys(EDITS).length} files by hand\n`);
