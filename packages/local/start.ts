/** `npm start`: the service with sample data on this machine, until Ctrl-C. */
import { StartError } from './start-error.ts';
import { checkFirst, HELP, readOptions, UsageError } from './start-options.ts';

async function main(): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  let ending: Promise<void> | undefined;
  const end = (exitCode: number) => {
    ending ??= (async () => {
      for (const stop of stops.reverse()) await stop().catch(() => undefined);
      process.exit(exitCode);
    })();
    return ending;
  };
  function fail(error: unknown): void {
    if (ending) return;
    process.stderr.write(`${messageOf(error)}\n`);
    void end(error instanceof UsageError ? 2 : 1);
  }
  process.on('SIGINT', () => end(0));
  process.on('SIGTERM', () => end(0));
  process.on('SIGHUP', () => end(0)); // the terminal was closed
  process.on('disconnect', () => end(0)); // the `--watch` process that started this one was killed
  // npm does not stop its child when it is killed.
  if (process.env.npm_lifecycle_event !== undefined) whenOrphaned(() => end(0));
  try {
    if (Number(process.versions.node.split('.')[0]) < 24)
      throw new StartError('Node 24 is required: use `npm start`, which provides it.');
    const options = readOptions();
    if (options === 'help') process.stdout.write(HELP);
    else {
      await checkFirst(options);
      // Imported here, so that wrong options are reported at once.
      const { serve } = await import('./serve.ts');
      await serve(options, (stop) => stops.push(stop), fail);
    }
  } catch (error) {
    fail(error);
  }
}

const PARENT_CHECK_MS = 1_000;

function whenOrphaned(act: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => process.ppid === parent || act(), PARENT_CHECK_MS);
  timer.unref();
}

/**
 * The message shown for a failure: that of our own errors, the stack of a syntax error for its place, otherwise the error's name and first
 * line.
 */
function messageOf(error: unknown): string {
  if (error instanceof StartError || error instanceof UsageError) return error.message;
  const { name, message, stack } = error as Error;
  if (error instanceof SyntaxError) return `Cannot start the service: ${stack}`;
  return `Cannot start the service: ${name}: ${message.split('\n')[0]}`;
}

await main();
