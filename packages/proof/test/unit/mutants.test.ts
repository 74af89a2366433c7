import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FORMER } from '../../mutants/former.ts';
import { MUTANTS } from '../../mutants/mutants.ts';

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

it.each([...MUTANTS, ...FORMER])('"$name" is planted in code that exists', ({ file, find }) => {
  expect(read(file).split(find)).toHaveLength(2);
});
