import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { jsonText } from '../json.ts';
import { checkIdempotencyKey } from '../options.ts';
import { connect } from './connect.ts';
import { asUsageError, COMMON, integer, print, text, UsageError } from './output.ts';

export const MERGE_HELP = `  merge INCIDENT [ALERT...]    move alerts into an incident: all, or none
    --alerts FILE              also those in a file, one id a line (- is standard input)
    --comment C, --title T     at most 1024 and 512 characters
    --owner MEMBER             the incident's new owner
    --idempotency-key K        repeat a merge within 24 hours without doing it twice
`;

const OPTIONS = { alerts: text, comment: text, title: text, owner: text, 'idempotency-key': text, ...COMMON };

/** The ids, each once whatever its letter case, as the service counts them. */
function distinct(ids: readonly string[]): string[] {
  const firstOf = new Map<string, string>();
  for (const id of ids) if (!firstOf.has(id.toLowerCase())) firstOf.set(id.toLowerCase(), id);
  return [...firstOf.values()];
}

export async function merge(args: string[]): Promise<void> {
  const { values, positionals } = asUsageError(() => parseArgs({ args, options: OPTIONS, allowPositionals: true }));
  const [incident_id, ...idArguments] = positionals;
  const file = values.alerts === '-' ? 0 : values.alerts;
  const fileText = file === undefined ? '' : asUsageError(() => readFileSync(file, 'utf8'));
  const alert_ids = distinct([...idArguments, ...fileText.split(/\s+/).filter(Boolean)]);
  if (incident_id === undefined || alert_ids.length === 0)
    throw new UsageError('merge requires an INCIDENT, and alerts as ALERT... or --alerts FILE');
  const idempotencyKey = values['idempotency-key'] ?? randomUUID();
  asUsageError(() => checkIdempotencyKey(idempotencyKey, '--idempotency-key'));
  const { replayed } = await connect().mergeAlerts(
    {
      alert_ids,
      incident_id,
      ...(values.comment !== undefined && { comment: values.comment }),
      ...(values.title !== undefined && { title: values.title }),
      ...(values.owner !== undefined && { owner_id: integer('owner', values.owner) }),
    },
    { idempotencyKey },
  );
  const count = alert_ids.length;
  if (values.json) print(jsonText({ incident_id, alerts: count, replayed, idempotency_key: idempotencyKey }));
  else print(`${count} ${count === 1 ? 'alert' : 'alerts'} ${replayed ? 'had been merged before' : 'merged'}`);
}
