// Merges the alerts that a file lists, one id a line, into an incident: node merge-from-file.mjs INCIDENT FILE
// Run it again after a failure: it sends the merge with the same idempotency key, so nothing is merged twice.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createClient } from 'incident-monitoring-rum-client';

const [, , incident_id, file] = process.argv;
if (!incident_id || !file) {
  console.error('Usage: node merge-from-file.mjs INCIDENT FILE');
  process.exit(2);
}
const client = createClient({
  url: process.env.BASE_URL || 'http://127.0.0.1:3000',
  appKey: process.env.APP_KEY ?? '',
});
const alert_ids = readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
const keyFile = `${file}.key`;
// The idempotency key is stored before the merge is sent. The file is empty if the program died before it wrote the key.
const storedKey = existsSync(keyFile) ? readFileSync(keyFile, 'utf8') : '';
const idempotencyKey = storedKey || randomUUID();
if (!storedKey) writeFileSync(keyFile, idempotencyKey);
const { replayed } = await client.mergeAlerts({ alert_ids, incident_id }, { idempotencyKey });
rmSync(keyFile);
console.log(`${alert_ids.length} alerts ${replayed ? 'had been merged before' : 'merged'}`);
