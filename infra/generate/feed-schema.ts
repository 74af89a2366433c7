/** Writes `feed.schema.json`: the JSON Schema of a record of the feed. `npm run generate`; a test compares it with the specification. */
import { writeFileSync } from 'node:fs';
import { DATA_LINES, FEED_KINDS, FEED_LINES } from '../../lib/ingest/kinds.ts';

export const FEED_SCHEMA_FILE = new URL('../../feed.schema.json', import.meta.url);

function schemaOf(): object {
  const { retired_host, ...own } = FEED_LINES;
  const lines = FEED_KINDS.map((kind) => [kind, { ...DATA_LINES, ...own }[kind]] as const);
  const named = [...lines, ['host', retired_host] as const];
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A record of the feed',
    oneOf: named.map(([kind, line]) => ({
      ...line,
      ...(kind === 'alert' && { oneOf: [{ required: ['alert_id'] }, { required: ['source_id'] }] }),
      required: ['kind', ...line.required],
      properties: { ...line.properties, kind: { const: kind } },
    })),
  };
}

export const feedSchemaText = () => `${JSON.stringify(schemaOf(), undefined, 2)}\n`;

if (import.meta.main) writeFileSync(FEED_SCHEMA_FILE, feedSchemaText());
