/** `npm run admin -- …`: the operator's commands. */
import { endOnOutputError } from '../../client/src/command/output.ts';
import { runAdmin } from './program.ts';

// An empty variable counts as unset, also for AWS's SDK.
for (const [name, value] of Object.entries(process.env)) if (value === '') delete process.env[name];
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());
endOnOutputError();
// A command does its work, and has its exit code, even if nobody reads its messages any more.
process.stderr.on('error', () => undefined);

process.exitCode = await runAdmin(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: stop.signal,
  now: Date.now,
});
