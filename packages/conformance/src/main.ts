/** `npm run certify`: checks each requirement of the contract on a service. `npm run smoke` runs only the checks that need no data. */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { startVitest } from 'vitest/node';
import type { Int64 } from '../../../lib/shared/json.ts';
import { accountId } from '../../admin/cli/arguments.ts';
import { failureOf } from '../../admin/cli/command-errors.ts';
import { CliError, UsageError } from '../../admin/cli/io.ts';
import { endOnOutputError } from '../../client/src/command/output.ts';
import type { Target } from './certificate.test.ts';
import { accountLines, dataSetOf, otherAccountLines, textsOf } from './data.ts';
import { deployedEnvironment } from './environment.ts';
import { checkEnvironment } from './preflight.ts';
import { requirementsOf } from './sections/index.ts';

interface Options {
  url?: string;
  run?: string;
  data?: Int64;
  other?: Int64;
  only?: string[];
  smoke?: boolean;
  reporter?: string[];
}

/** Prints the data set that has to be imported before a deployment can be certified. */
function printData(account: Int64, otherAccount: Int64 | undefined, run: string): void {
  // If the command that reads the data ends early, it reports the reason itself.
  endOnOutputError();
  const dataSet = dataSetOf(run);
  const otherLines = otherAccount === undefined ? [] : otherAccountLines(otherAccount, dataSet);
  const lines = [...accountLines(account, Date.now(), dataSet), ...otherLines];
  process.stdout.write(`${textsOf(lines).join('\n')}\n`);
}

/** Runs the tests. @returns the exit code */
async function certify(target: Target, { reporter = ['tree'], smoke = false }: Options): Promise<number> {
  const began = performance.now();
  const vitest = await startVitest('test', [], {
    config: fileURLToPath(new URL('../vitest.config.ts', import.meta.url)),
    provide: { target },
    reporters: reporter,
    hideSkippedTests: smoke,
    watch: false,
  });
  const modules = vitest.state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  const [passed, failed] = [count('passed'), count('failed')];
  const sent = tests.reduce((sum, test) => sum + (test.meta().sent ?? 0), 0);
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  process.stdout.write(
    `${passed + failed} of ${tests.length} requirements checked: ${passed} ok, ${failed} failed. ${tests.length - passed - failed} not checked. ${sent} calls in ${seconds} s.\n`,
  );
  const isOk = modules.every((module) => module.ok()) && vitest.state.getUnhandledErrors().length === 0;
  await vitest.close();
  return isOk && tests.length > 0 ? 0 : 1;
}

/** Prints the data set or runs the tests, as the options say. @returns the exit code */
async function execute(options: Options): Promise<number> {
  const { url, run, data: dataAccount, other: otherAccount, only, smoke } = options;
  if (dataAccount !== undefined) {
    if (run === undefined) throw new UsageError('No run name given: pass --run NAME, a new name for each run.');
    printData(dataAccount, otherAccount, run);
    return 0;
  }
  if (url === undefined) throw new UsageError('No service given: pass --url, such as http://127.0.0.1:3000.');
  if (smoke && run !== undefined) throw new UsageError('--smoke writes nothing and needs no data: leave out --run.');
  if (!smoke && run === undefined)
    throw new UsageError(
      'No run name given: pass --run NAME of the imported data (see "The certificate" in docs/internals/reliability.md).',
    );
  if (requirementsOf(only).length === 0)
    throw new CliError(`No requirement has the number ${only?.join(' or ')}: pass numbers such as 4.1 or 8-2.`);
  await checkEnvironment(await deployedEnvironment(url, run, process.env), run);
  return certify({ url, ...(run !== undefined && { run }), ...(only && { only }) }, options);
}

const program = new Command('npm run certify --')
  .description('Check each requirement of the contract on the service at --url.')
  .option('--url <url>', 'certify the service at this address; the key comes from APP_KEY, or is asked for')
  .option('--run <name>', 'name of the data set, a new one for each run')
  .option(
    '--data <account>',
    'print the data set for an account; pipe it from `npm run --silent certify` to `npm run --silent admin -- import -`',
    accountId,
  )
  .option(
    '--other <account>',
    'with --data: also print data for another account, which the first must not be able to reach',
    accountId,
  )
  .option('--only <numbers...>', 'only sections or requirements with these numbers, such as 4.1 or 8-2')
  .option('--reporter <names...>', 'reporters of vitest, such as verbose, json or junit')
  .option('--smoke', 'only the checks that need no data and write nothing (npm run smoke)')
  .exitOverride();
try {
  process.exitCode = await execute(program.parse().opts());
} catch (error) {
  const { line, exitCode } = failureOf(error, false);
  if (line !== '') process.stderr.write(`${line}\n`);
  process.exitCode = exitCode;
}
