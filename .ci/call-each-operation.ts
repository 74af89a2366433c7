/** Starts the service as the README says, runs the calls that it prints as they stand and the smoke test, and stops it. */
import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { DEMO_KEYS } from '../infra/local/sample.ts';

const run = promisify(execFile);

const port = await new Promise<number>((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
  });
});

const service = spawn('npm', ['start', '--silent', '--', '--port', String(port)], {
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true,
});
const stop = () => {
  if (service.pid !== undefined && service.exitCode === null && service.signalCode === null)
    process.kill(-service.pid, 'SIGTERM');
};
process.once('exit', stop);

let output = '';
const calls = await new Promise<string[]>((resolve, reject) => {
  const late = setTimeout(() => reject(new Error(`the service did not start in 60 s:\n${output}`)), 60_000);
  service.once('exit', (code) => reject(new Error(`the service ended with exit code ${code}:\n${output}`)));
  service.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (!output.includes('Ctrl-C stops it')) return;
    clearTimeout(late);
    resolve(output.split('\n').filter((line) => line.startsWith('curl ')));
  });
});

let failed = 0;
for (const call of calls) {
  const { stdout } = await run('bash', ['-c', call]);
  const answer = JSON.parse(stdout) as { request_id?: string; error?: unknown };
  const ok = typeof answer.request_id === 'string' && 'data' in answer && answer.error === undefined;
  if (!ok) failed += 1;
  process.stdout.write(
    `${ok ? 'ok' : 'NOT OK'} ${call.replace(/app_key=[^']*/, 'app_key=…').slice(0, 110)}\n${stdout.slice(0, 160)}\n`,
  );
}
if (calls.length !== 4) failed += 1;

const env = { ...process.env, APP_KEY: DEMO_KEYS.demo };
const smoke = `npm run --silent smoke -- --url http://127.0.0.1:${port}`;
const checked = await run('bash', ['-c', smoke], { env }).catch((error: { stdout: string }) => {
  failed += 1;
  return error;
});
process.stdout.write(checked.stdout);

service.removeAllListeners('exit');
const ended = new Promise<boolean>((resolve) => service.once('close', () => resolve(true)));
stop();
const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 10_000).unref());
if (!(await Promise.race([ended, late]))) {
  failed += 1;
  process.stdout.write('NOT OK the service did not stop\n');
}
process.exit(failed === 0 ? 0 : 1);
