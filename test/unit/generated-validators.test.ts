import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { validatorFile, validatorSource } from '../../infra/generate/validators.ts';
import { operations } from '../../lib/http/operations.ts';

it.each(operations)('the validator of $name is what its schema compiles to today', async (operation) => {
  expect(await readFile(validatorFile(operation), 'utf8')).toBe(await validatorSource(operation));
});
