/** `npm run certify`: shows, sentence by sentence, that a service keeps the contract; `npm run smoke` is its part without data. */
import { Command } from 'commander';
import type { Int64 } from '../../lib/json.ts';
import { accountId } from '../arguments.ts';
import { explain } from '../errors.ts';
import { UsageError } from '../io.ts';
import { entitiesOf, entityLines, fleetLines, linesText, rumLines, strangerLines } from './data.ts';
import { openLab } from './deployment.ts';
import { briefText, sectionText, summaryText } from './print.ts';
import { certify, type RunOptions, type Verdict } from './run.ts';
import { SECTIONS } from './sections/index.ts';

interface Options {
  url?: string;
  run?: string;
  data?: Int64;
  other?: Int64;
  only?: string[];
  smoke?: true;
}

/** What has to be imported before a deployment can be certified. */
function dataText(account: Int64, other: Int64 | undefined, run: string): string {
  const nowMs = Date.now();
  const entities = entitiesOf(run);
  return linesText([
    ...fleetLines(account, nowMs, { large: true }),
    ...rumLines(account, nowMs),
    ...entityLines(account, entities),
    ...(other === undefined ? [] : strangerLines(other, entities)),
  ]);
}

const print = (text: string) => void process.stdout.write(`${text}\n`);

async function run({ url, run: name, data, other, only, smoke }: Options): Promise<number> {
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
  const began = performance.now();
  const { lab, stop } =
    url === undefined
      ? await (await import('./local.ts')).startLab() // Loads the CDK, which takes half a second.
      : { lab: await openLab(url, name, process.env), stop: async () => {} };
  const end = () => void stop().finally(() => process.exit(130));
  process.once('SIGINT', end).once('SIGTERM', end);
  const options: RunOptions = {
    ...(only && { only }),
    slowAside: url === undefined,
    onSection(section, results) {
      const text = smoke ? briefText(section, results) : sectionText(section, results);
      if (text !== undefined) print(text);
    },
  };
  try {
    const results = await certify(lab, SECTIONS, options);
    print(summaryText(results, (performance.now() - began) / 1_000));
    // Its own service skips nothing.
    const bad: readonly Verdict[] = url === undefined ? ['FAILED', 'skipped'] : ['FAILED'];
    return results.some(({ verdict }) => bad.includes(verdict)) ? 1 : 0;
  } finally {
    await stop();
  }
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
  .option('--smoke', 'only what needs no data and writes nothing (npm run smoke)')
  .exitOverride();
try {
  process.exitCode = await run(program.parse().opts());
} catch (error) {
  const { line, exitCode } = explain(error, false);
  if (line !== '') process.stderr.write(`${line}\n`);
  process.exitCode = exitCode;
}
