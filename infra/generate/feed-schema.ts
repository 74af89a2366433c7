/**
 * Writes `feed.schema.json`, the JSON Schema of a record that is sent to the ingest queue (docs/feed.md): `npm run generate`. A test
 * fails if the file is out of date.
 */
import { writeFileSync } from 'node:fs';
import { FEED_KINDS, LINES } from '../../lib/ingest/kinds.ts';

export const FEED_SCHEMA_FILE = new URL('../../feed.schema.json', import.meta.url);

function recordSchema(): object {
  const schemas = [...FEED_KINDS.map((kind) => [kind, LINES[kind]] as const), ['host', LINES.retired_host] as const];
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A record of the feed',
    oneOf: schemas.map(([kind, line]) => ({
      ...line,
      ...(kind === 'alert' && { oneOf: [{ required: ['alert_id'] }, { required: ['source_id'] }] }),
      required: ['kind', ...line.required],
      properties: { ...line.properties, kind: { const: kind } },
    })),
  };
}

export const feedSchemaText = () => `${JSON.stringify(recordSchema(), undefined, 2)}\n`;

if (import.meta.main) writeFileSync(FEED_SCHEMA_FILE, feedSchemaText());
