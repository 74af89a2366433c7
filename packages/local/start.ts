/** `npm start`: the service with sample data on this machine, until Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError, UsageError } from '../admin/cli/io.ts';
import { endOnOutputError } from '../client/src/command/output.ts';
import { checkFirst, HELP, readOptions } from './start-options.ts';

/**
 * How long the end waits for what is under way: a function may try again for minutes, and a DynamoDB that has stopped answering lets a call
 * wait for ever. What waits then ends with this process, and DynamoDB Local is stopped by its supervisor.
 */
const END_MS = 3_000;

async function main(): Promise<void> {
  const started = new AsyncDisposableStack();
  let isEnding = false;
  /** Stops what was started, the latest first, and exits. */
  async function end(exitCode: number): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    await Promise.race([started.disposeAsync().catch(() => undefined), sleep(END_MS)]);
    process.exit(exitCode);
  }
  function fail(error: unknown): void {
    if (isEnding) return;
    const { message, stack } = error as Error;
    process.stderr.write(error instanceof CliError ? `${message}\n` : `Cannot start the service: ${stack}\n`);
    void end(error instanceof UsageError ? 2 : 1);
  }
  endOnOutputError(end);
  process.on('SIGINT', () => end(0));
  process.on('SIGTERM', () => end(0));
  process.on('SIGHUP', () => end(0)); // the terminal was closed
  // When npm is killed, it does not stop its child.
  if (process.env.npm_lifecycle_event !== undefined) whenOrphaned(() => end(0));
  try {
    const options = readOptions();
    if (!options) process.stdout.write(HELP);
    else {
      await checkFirst(options);
      // Imported here, so that wrong options are reported at once.
      const { serve } = await import('./serve.ts');
      await serve(options, (stop) => started.defer(stop), fail);
    }
  } catch (error) {
    fail(error);
  }
}

const PARENT_CHECK_MS = 1_000;

function whenOrphaned(callback: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => process.ppid === parent || callback(), PARENT_CHECK_MS);
  timer.unref();
}

await main();
