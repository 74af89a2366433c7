/** What each operation of the list has, besides its schema. CONTRIBUTING.md says how to add one. */
import { existsSync, globSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { operations } from '../../lib/operations/index.ts';
import { textOf } from '../support/documents.ts';

const SECTIONS = 'packages/conformance/src/sections/operations';

it('each operation has all its parts, and each part belongs to an operation', () => {
  const readme = textOf('README.md');
  const missing = operations.flatMap(({ name, path }) => {
    const parts: [what: string, isThere: boolean][] = [
      [`lib/operations/${name}/handler.ts`, existsSync(`lib/operations/${name}/handler.ts`)],
      [`validate-${name}.ts: run npm run generate`, existsSync(`lib/operations/${name}/validate-${name}.ts`)],
      [`functions/${name}.ts`, existsSync(`functions/${name}.ts`)],
      [`test in test/integration/${name}/`, globSync(`test/integration/${name}/*.test.ts`).length > 0],
      [`section in the certificate: ${SECTIONS}/${name}.ts`, existsSync(`${SECTIONS}/${name}.ts`)],
      ['call in README.md', readme.includes(`\ncall ${path} `)],
    ];
    return parts.flatMap(([what, isThere]) => (isThere ? [] : [`${name} has no ${what}`]));
  });
  const names: string[] = operations.map(({ name }) => name);
  const folders = readdirSync('lib/operations').filter((entry) => !entry.includes('.'));
  const sections = readdirSync(SECTIONS).map((file) => basename(file, '.ts'));
  const unlisted = new Set([...folders, ...sections].filter((name) => !names.includes(name)));
  expect([...missing, ...[...unlisted].map((name) => `${name} is not in lib/operations/index.ts`)]).toEqual([]);
});
