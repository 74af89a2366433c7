/** Starts the service as the README says, runs the calls that it prints, word for word, and the smoke test, then stops it. */
import { DEMO_KEYS } from '../infra/generate/sample.ts';
import { operations } from '../lib/http/operations.ts';
import { shell, startService } from './support/processes.ts';

const { url, output, stop } = await startService();
const calls = output.split('\n').filter((line) => line.startsWith('curl '));

let failed = 0;
for (const call of calls) {
  const stdout = await shell(call);
  const answer = JSON.parse(stdout) as { request_id?: string; error?: unknown };
  const ok = typeof answer.request_id === 'string' && 'data' in answer && answer.error === undefined;
  if (!ok) failed += 1;
  process.stdout.write(
    `${ok ? 'ok' : 'NOT OK'} ${call.replace(/app_key=[^']*/, 'app_key=…').slice(0, 110)}\n${stdout.slice(0, 160)}\n`,
  );
}
if (calls.length !== operations.length) {
  failed += 1;
  process.stdout.write(`NOT OK the service printed ${calls.length} calls for ${operations.length} operations\n`);
}

try {
  process.stdout.write(await shell(`npm run --silent smoke -- --url ${url}`, { APP_KEY: DEMO_KEYS.demo }));
} catch (error) {
  failed += 1;
  process.stdout.write(`NOT OK ${error}\n`);
}

if (!(await stop())) {
  failed += 1;
  process.stdout.write('NOT OK the service did not stop\n');
}
process.exit(failed === 0 ? 0 : 1);
