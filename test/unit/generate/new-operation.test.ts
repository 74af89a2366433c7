/** What `npm run new-operation` refuses. `.ci/new-operation.ts` makes an operation. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';

it.each([
  ['', '"" cannot be the name of an operation: give two or more words in lower case with hyphens'],
  ['alerts', '"alerts" cannot be the name'],
  ['getAlert', '"getAlert" cannot be the name'],
  ['get-../x', '"get-../x" cannot be the name'],
  ['get-alert', 'lib/operations/get-alert/schema.ts exists: choose another name'],
  ['finish-merges', 'functions/finish-merges.ts exists: choose another name'],
  ['get-row', 'The code of operations uses getRow for something else: choose another name.'],
])('the name "%s" is refused, and nothing is written: %s', (name, message) => {
  const { status, stderr } = spawnSync(process.execPath, ['infra/generate/new-operation.ts', name], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
  for (const part of ['finish-merges', 'get-row']) expect(existsSync(`lib/operations/${part}`)).toBe(false);
});
