/** The schemas of lines of import and the feed, by what `lib/model` declares. `feed.schema.json` is generated from them. */

import { alert } from '../model/alert.ts';
import { AT_MS, type Field, type Fields, namesOf, schemasOf } from '../model/fields.ts';
import { host } from '../model/host.ts';
import { incident } from '../model/incident.ts';
import { INGEST_KINDS, KINDS, type Kind, modelOf } from '../model/kinds.ts';
import { text } from '../shared/json.ts';

const accountId = { type: 'integer', format: 'int64', minimum: 1 } as const;

export interface LineSchema {
  readonly type: 'object';
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object | undefined>>;
  readonly additionalProperties: boolean;
}

interface Differences {
  required?: readonly string[];
  properties?: Readonly<Record<string, object>>;
}

function lineSchema(
  kind: Kind,
  fields: Fields,
  { required = namesOf(fields, { required: true }), properties }: Differences = {},
): LineSchema {
  const isIngestKind = (INGEST_KINDS as readonly Kind[]).includes(kind);
  return {
    type: 'object',
    required: ['account_id', ...required],
    properties: {
      kind: text,
      account_id: accountId,
      ...(isIngestKind && { at_ms: AT_MS }),
      ...schemasOf(fields, isNotOfRecords),
      ...properties,
    },
    additionalProperties: modelOf(kind).open === true,
  };
}
const isNotOfRecords = ({ by }: Field) => by === 'exports' || by === 'service';

/** Fields that an alert record without a key cannot have, besides the key. */
export const KEYED_ONLY = namesOf(alert.fields, { by: 'records with a key' }).filter((name) => name !== 'alert_key');

/** The schemas of lines, by kind; those of a host that is retired, and those that only import takes, are others. */
export const LINES = {
  ...(Object.fromEntries(KINDS.map((kind) => [kind, lineSchema(kind, modelOf(kind).fields)])) as Record<
    Kind,
    LineSchema
  >),
  // Requires a title unless its status is `Ok`, which no schema here expresses.
  alert: lineSchema('alert', alert.fields, { required: [] }),
  host: lineSchema('host', host.fields, { properties: { retired: { const: false } } }),
  retired_host: lineSchema('host', host.fields, {
    required: ['host_id', 'retired'],
    properties: { retired: { const: true } },
  }),
  exported_incident: lineSchema('incident', incident.fields, {
    properties: schemasOf(incident.fields, ({ by }) => by !== 'exports'),
  }),
  exported_alert: lineSchema('alert', alert.fields, {
    required: ['title', 'alert_id', 'alert_key', 'alert_status', 'started_at_ms'],
    properties: schemasOf(alert.fields, ({ by }) => by !== 'exports'),
  }),
} as const;

export type LineName = keyof typeof LINES;

/** The lines that the feed takes. */
export const RECORD_NAMES: readonly LineName[] = [...INGEST_KINDS, 'retired_host'];
