/** The files that `npm run generate` writes are what it would write today. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CLIENT_TYPES_FILE, clientTypes } from '../../../infra/generate/client-types.ts';
import { EVENTS_FILE, eventsText } from '../../../infra/generate/events.ts';
import { FEED_SCHEMA_FILE, feedSchemaText } from '../../../infra/generate/feed-schema.ts';
import { OPENAPI_FILE, openApiText } from '../../../infra/generate/openapi.ts';
import { validatorFile, validatorSource } from '../../../infra/generate/validators.ts';
import { operations } from '../../../lib/operations/index.ts';

it.each<[file: URL | string, generate: () => string | Promise<string>]>([
  [OPENAPI_FILE, openApiText],
  [CLIENT_TYPES_FILE, clientTypes],
  [FEED_SCHEMA_FILE, feedSchemaText],
  [EVENTS_FILE, eventsText],
  ...operations.map((operation): [URL, () => Promise<string>] => [
    validatorFile(operation),
    () => validatorSource(operation),
  ]),
])('%s', async (file, generate) => {
  expect(readFileSync(file, 'utf8')).toBe(await generate());
});
