// Merges the alerts that a file lists, one id a line, into an incident: node merge-from-file.mjs INCIDENT FILE
// Run it again after a failure: it sends the merge with the same idempotency key, so nothing is merged twice.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { refuseUse, run } from './client.mjs';

const [, , incident_id = '', file = ''] = process.argv;
if (!incident_id || !file) refuseUse('Usage: node merge-from-file.mjs INCIDENT FILE');
const keyFile = `${file}.key`;

/** The ids of the file, each once whatever its letter case, as the service counts them. */
function readIds() {
  const seen = new Set();
  const ids = readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
  return ids.filter((id) => !seen.has(id.toLowerCase()) && seen.add(id.toLowerCase()));
}

/** The idempotency key, which is stored before the merge is sent. */
function readKey() {
  // The file is empty if the program died before it wrote the key.
  const storedKey = existsSync(keyFile) ? readFileSync(keyFile, 'utf8') : '';
  const idempotencyKey = storedKey || randomUUID();
  if (!storedKey) writeFileSync(keyFile, idempotencyKey);
  return idempotencyKey;
}

/**
 * @template Result
 * @param {() => Result} work
 */
function orRefuseUse(work) {
  try {
    return work();
  } catch (error) {
    refuseUse(/** @type {Error} */ (error).message);
  }
}

await run(async (client) => {
  const alert_ids = orRefuseUse(readIds);
  if (alert_ids.length === 0) refuseUse(`${file} lists no ids`);
  const idempotencyKey = orRefuseUse(readKey);
  const { replayed } = await client.mergeAlerts({ alert_ids, incident_id }, { idempotencyKey });
  rmSync(keyFile);
  const { length } = alert_ids;
  console.log(`${length} ${length === 1 ? 'alert' : 'alerts'} ${replayed ? 'had been merged before' : 'merged'}`);
});
