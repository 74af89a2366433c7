import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { FEED_SCHEMA_FILE, feedSchemaText } from '../../infra/generate/feed-schema.ts';
import {
  lineValidatorFile,
  lineValidatorSource,
  validatorFile,
  validatorSource,
} from '../../infra/generate/validators.ts';
import { operations } from '../../lib/http/operations.ts';

it.each(operations)('the validator of $name is what its schema compiles to today', async (operation) => {
  expect(await readFile(validatorFile(operation), 'utf8')).toBe(await validatorSource(operation));
});

it('the validators of lines and the schema of the feed are what the kinds generate today', async () => {
  expect(await readFile(lineValidatorFile, 'utf8')).toBe(await lineValidatorSource());
  expect(await readFile(FEED_SCHEMA_FILE, 'utf8')).toBe(feedSchemaText());
});
