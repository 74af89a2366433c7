import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MUTANTS } from '../../mutants/mutants.ts';

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

it.each(MUTANTS)('"$name" is planted in code that exists', ({ file, find }) => {
  expect(read(file).split(find)).toHaveLength(2);
});
