/** Merges alerts, such as those that another command lists. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { jsonText } from '../json.ts';
import { checkIdempotencyKey } from '../options.ts';
import { connect } from './connect.ts';
import { asUsageError, COMMON, integer, print, text, UsageError } from './output.ts';

export const MERGE_HELP = `  merge INCIDENT ALERT...      merge alerts into an incident (- instead of ALERT reads ids from standard input, one a line)
    --title T, --owner MEMBER, --comment C
    --idempotency-key K        repeat a merge within 24 hours without doing it twice
`;

const OPTIONS = { title: text, owner: text, comment: text, 'idempotency-key': text, ...COMMON };
const OBJECT_ID = /^[0-9a-f]{24}$/i;

export async function merge(args: string[]): Promise<void> {
  const { values, positionals } = asUsageError(() => parseArgs({ args, options: OPTIONS, allowPositionals: true }));
  const [incident_id = '', ...given] = positionals;
  if (!OBJECT_ID.test(incident_id)) throw new UsageError('merge requires the id of one INCIDENT');
  const { title, owner, comment, 'idempotency-key': idempotencyKey = randomUUID() } = values;
  asUsageError(() => checkIdempotencyKey(idempotencyKey, '--idempotency-key'));
  const request = {
    incident_id,
    alert_ids: idsOf(given),
    ...(title !== undefined && { title }),
    ...(owner !== undefined && { owner_id: integer('owner', owner) }),
    ...(comment !== undefined && { comment }),
  };
  const { replayed } = await connect().mergeAlerts(request, { idempotencyKey });
  const { length } = request.alert_ids;
  if (values.json) print(String(jsonText({ ...request, replayed })));
  else print(`${length} ${length === 1 ? 'alert' : 'alerts'} ${replayed ? 'had been merged before' : 'merged'}`);
}

/** Each id once, whatever its letter case, as the service counts them. @throws UsageError for what is no id, and if there are none */
function idsOf(given: readonly string[]): string[] {
  const isInput = given.length === 1 && given[0] === '-';
  const words = isInput
    ? readFileSync(0, 'utf8')
        .replace(/^\ufeff/, '')
        .split('\n')
    : given;
  const ids = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    const id = word.trim();
    if (isInput && id === '') continue;
    if (!OBJECT_ID.test(id))
      throw new UsageError(`${isInput ? `line ${index + 1}: ` : ''}${id.slice(0, 80)} is not the id of an alert`);
    ids.set(id.toLowerCase(), ids.get(id.toLowerCase()) ?? id);
  }
  if (ids.size === 0) throw new UsageError('there are no ids of alerts to merge');
  return [...ids.values()];
}
