// Exits with 3 when more than N % of the account's hosts are stale: node watch-fleet.mjs N
import { refuseUse, run } from './client.mjs';

const [, , limit = ''] = process.argv;
const maxPercent = /^\d+(\.\d+)?$/.test(limit) ? Number(limit) : Number.NaN;
if (!(maxPercent <= 100)) refuseUse('Usage: node watch-fleet.mjs N, with N from 0 to 100');

await run(async (client) => {
  let hosts = 0;
  let stale = 0;
  for await (const { coverage } of client.pages()) {
    hosts += coverage.returned;
    stale += coverage.states.stale;
  }
  const percent = hosts === 0 ? 0 : (100 * stale) / hosts;
  console.log(`${stale} of ${hosts} hosts are stale: ${percent.toFixed(1)} %`);
  if (percent > maxPercent) process.exitCode = 3;
});
