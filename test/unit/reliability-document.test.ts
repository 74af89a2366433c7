import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BREAKING } from '../mutants/breaking.ts';
import { mutantsTable, withMutants } from '../mutants/document.ts';
import { MUTANTS } from '../mutants/mutants.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('docs/reliability.md lists the bugs that are planted', () => {
  const document = read('docs/reliability.md');
  expect(withMutants(document, mutantsTable())).toBe(document);
  expect(document).toContain(MUTANTS[0]?.name);
});

it.each([...MUTANTS, ...BREAKING])('"$name" is planted in code that is there', ({ file, find }) => {
  expect(read(file).split(find)).toHaveLength(2);
});
