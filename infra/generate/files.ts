/** The files that are generated: `npm run generate` writes them. A test fails if one is out of date. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { clientTypes } from './client-types.ts';
import { eventsText } from './events.ts';
import { feedSchemaText } from './feed-schema.ts';
import { openApiText } from './openapi.ts';
import { VALIDATORS } from './validators.ts';

/** Their paths in the repository, and what makes their texts. */
export const FILES = Object.entries<() => string | Promise<string>>({
  ...VALIDATORS,
  'openapi.json': openApiText,
  'feed.schema.json': feedSchemaText,
  'packages/client/src/types.ts': clientTypes,
  'events.schema.json': eventsText,
});

if (import.meta.main)
  for (const [path, textOf] of FILES) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, await textOf());
  }
