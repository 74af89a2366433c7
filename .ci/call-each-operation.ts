/** Starts the service as the README says, runs the calls that it prints, word for word, and the smoke test. */
import { strict as assert } from 'node:assert';
import { DEMO_KEYS } from '../infra/generate/sample.ts';
import { operations } from '../lib/http/operations.ts';
import { shell, startService } from './support/processes.ts';

await using service = await startService();
const calls = service.output.split('\n').filter((line) => line.startsWith('curl '));
assert.equal(calls.length, operations.length, 'the service prints a call of each operation');
for (const call of calls) {
  const answer = JSON.parse(await shell(call));
  assert.ok(typeof answer.request_id === 'string' && 'data' in answer && !answer.error, JSON.stringify(answer));
}
process.stdout.write(await shell(`npm run --silent smoke -- --url ${service.url}`, { APP_KEY: DEMO_KEYS.demo }));
