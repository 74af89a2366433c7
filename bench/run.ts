/** `npm run bench -- [suite…]`: measures, and says of each figure whether it meets its target. */
import { writeDocument } from './document.ts';
import { createReport, writeResults } from './report.ts';

const SUITES = ['units', 'import', 'fleet', 'limiter', 'hot-account', 'cold-start'] as const;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(SUITES as readonly string[]).includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(', ')}: there are ${SUITES.join(', ')}.\n`);
  process.exit(2);
}

const report = createReport((line) => process.stdout.write(`${line}\n`));
for (const suite of SUITES) {
  if (wanted.length > 0 && !wanted.includes(suite)) continue;
  process.stdout.write(`\n${suite}\n`);
  const { run } = (await import(`./suites/${suite}.ts`)) as { run(add: ReturnType<typeof report.of>): Promise<void> };
  await run(report.of(suite));
}
const all = writeResults(report.figures);
await writeDocument(all);
const missed = report.figures.filter(({ met }) => met === false);
process.stdout.write(
  missed.length === 0
    ? '\nEvery target is met.\n'
    : `\n${missed.length} missed: ${missed.map(({ name }) => name).join('; ')}.\n`,
);
