import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MUTANTS } from '../../mutants/mutants.ts';

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

it.each(MUTANTS)('the text that "$name" replaces occurs once in its file', ({ file, find }) => {
  expect(read(file).split(find)).toHaveLength(2);
});
