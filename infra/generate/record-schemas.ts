/** The schemas of records in openapi.json, so that generated clients can send them. `feed.schema.json` has the rules that these leave out. */

import { LINES, type LineSchema } from '../../lib/ingest/lines.ts';
import { INGEST_KINDS } from '../../lib/model/kinds.ts';
import { schemaRef } from './components.ts';

type Schema = Record<string, unknown>;

const titleOf = (kind: string) =>
  `${kind.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase())}Record`;

/** A record of a kind: the account is the key's. */
function recordSchema(kind: string, { required, properties, additionalProperties }: LineSchema): Schema {
  return {
    type: 'object',
    description: `A record of kind ${kind}`,
    required: ['kind', ...required.filter((name) => name !== 'account_id')],
    properties: {
      ...properties,
      // Generators of clients take no constant but a text.
      ...('retired' in properties && { retired: { type: 'boolean' } }),
      kind: { type: 'string', const: kind },
    },
    additionalProperties,
  };
}

const KINDS: readonly (readonly [title: string, schema: Schema])[] = [
  ...INGEST_KINDS.map((kind) => [titleOf(kind), recordSchema(kind, LINES[kind])] as const),
  [titleOf('retired_host'), recordSchema('host', LINES.retired_host)],
];

export const RECORD_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(KINDS),
  IngestRecord: { anyOf: KINDS.map(([title]) => schemaRef(title)) },
};
