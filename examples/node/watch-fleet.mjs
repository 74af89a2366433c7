// Exits with 1 when more than N % of the account's hosts are stale: node watch-fleet.mjs N
import { createClient } from 'incident-monitoring-rum-client';

const maxPercent = Number(process.argv[2] ?? Number.NaN);
if (!(maxPercent >= 0 && maxPercent <= 100)) {
  console.error('Usage: node watch-fleet.mjs N, with N from 0 to 100');
  process.exit(2);
}
const client = createClient({
  url: process.env.BASE_URL || 'http://127.0.0.1:3000',
  appKey: process.env.APP_KEY ?? '',
});
let hosts = 0;
let stale = 0;
for await (const { coverage } of client.pages()) {
  hosts += coverage.returned;
  stale += coverage.states.stale;
}
const percent = hosts === 0 ? 0 : (100 * stale) / hosts;
console.log(`${stale} of ${hosts} hosts are stale: ${percent.toFixed(1)} %`);
process.exitCode = percent > maxPercent ? 1 : 0;
