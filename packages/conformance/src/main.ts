/** `npm run certify`: shows, sentence by sentence, that a service keeps the contract; `npm run smoke` is its part without data. */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { startVitest } from 'vitest/node';
import type { Int64 } from '../../../lib/shared/json.ts';
import { accountId } from '../../admin/cli/arguments.ts';
import { explain } from '../../admin/cli/command-errors.ts';
import { UsageError } from '../../admin/cli/io.ts';
import type { Target } from './contract.test.ts';
import { entitiesOf, entityLines, fleetLines, linesText, otherAccountLines, rumLines } from './data.ts';
import { checkLab, openLab } from './deployment.ts';
import { sentencesOf } from './sections/index.ts';

interface Options {
  url?: string;
  run?: string;
  data?: Int64;
  other?: Int64;
  only?: string[];
  smoke?: true;
  reporter?: string[];
}

/** What has to be imported before a deployment can be certified. */
function dataText(account: Int64, other: Int64 | undefined, run: string): string {
  const nowMs = Date.now();
  const entities = entitiesOf(run);
  return linesText([
    ...fleetLines(account, nowMs, { large: true }),
    ...rumLines(account, nowMs),
    ...entityLines(account, entities),
    ...(other === undefined ? [] : otherAccountLines(other, entities)),
  ]);
}

const print = (text: string) => void process.stdout.write(`${text}\n`);

async function run({ url, run: name, data, other, only, smoke, reporter }: Options): Promise<number> {
  if (data !== undefined) {
    if (name === undefined) throw new UsageError('No run name given: pass --run NAME, a new name for each run.');
    process.stdout.write(dataText(data, other, name));
    return 0;
  }
  if (smoke && url === undefined) throw new UsageError('No service given: pass --url, such as http://127.0.0.1:3000.');
  if (!smoke && url !== undefined && name === undefined)
    throw new UsageError(
      'No run name given: pass --run NAME of the imported data (see "The certificate" in docs/reliability.md).',
    );
  sentencesOf(only);
  if (url !== undefined) await checkLab(await openLab(url, name, process.env), name);
  const target: Target = {
    ...(url !== undefined && { url }),
    ...(name !== undefined && { run: name }),
    ...(only && { only }),
  };
  const began = performance.now();
  const vitest = await startVitest('test', [], {
    config: fileURLToPath(new URL('../vitest.config.ts', import.meta.url)),
    project: ['contract'],
    provide: { target },
    reporters: reporter ?? ['tree'],
    hideSkippedTests: smoke === true,
    watch: false,
  });
  const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  const [ok, failed] = [count('passed'), count('failed')];
  const sent = tests.reduce((sum, test) => sum + (test.meta().sent ?? 0), 0);
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  print(
    `${ok + failed} of ${tests.length} rules shown: ${ok} ok, ${failed} failed. ${tests.length - ok - failed} not shown. ${sent} calls in ${seconds} s.`,
  );
  const isBroken = vitest.state.getUnhandledErrors().length > 0 || tests.length === 0;
  await vitest.close();
  return failed > 0 || isBroken ? 1 : 0;
}

const program = new Command('npm run certify --')
  .description(
    'Show, sentence by sentence, that the service keeps its contract. Without options it starts a service of its own.',
  )
  .option('--url <url>', 'certify the service at this address; the key comes from APP_KEY, or is asked for')
  .option('--run <name>', 'name of the data set, a new one for each run')
  .option(
    '--data <account>',
    'print the data set of an account, for `npm run --silent admin -- import -` (pipe it with `npm run --silent certify`)',
    accountId,
  )
  .option('--other <account>', 'with --data: add data of another account, which the first must not reach', accountId)
  .option('--only <numbers...>', 'only sections or sentences with these numbers, such as 4.1 or 8-2')
  .option('--reporter <names...>', 'reporters of vitest, such as verbose, json or junit')
  .option('--smoke', 'only what needs no data and writes nothing (npm run smoke)')
  .exitOverride();
try {
  process.exitCode = await run(program.parse().opts());
} catch (error) {
  const { line, exitCode } = explain(error, false);
  if (line !== '') process.stderr.write(`${line}\n`);
  process.exitCode = exitCode;
}
