/**
 * `npm run prove:mutants`: plants the bugs of the merges, the accounts and the rate limit, one at a time, and shows that
 * `npm run prove` finds each, without being told where. Arguments choose mutants by a part of their name.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { MUTANTS, type Mutant } from './mutants.ts';
import { copySources, withBug } from './plant.ts';

/** What the scenarios run. */
const PROVED = /^lib\/(incidents|accounts|auth)\/|^lib\/api\/rate-limit|^lib\/table\/(batch-get|settle)|^lib\/data\//;

/** The shorter forms first. @returns the first lines that tell of a failure */
async function find(folder: string): Promise<string | undefined> {
  for (const form of ['quick', 'short', 'default']) {
    const out = await new Promise<string>((resolve) => {
      const args = ['test/simulation/prove.ts', '--form', form, '--stop'];
      execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 28 }, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    const failed = out.slice(out.search(/^FAILED|^.*Error: /m));
    if (!out.includes('all hold.')) return failed.slice(0, 4_000);
  }
  return undefined;
}

const wanted = process.argv.slice(2);
const isWanted = ({ name, file }: Mutant) =>
  PROVED.test(file) && (wanted.length === 0 || wanted.some((part) => name.includes(part)));
let survivors = 0;
const folder = copySources('prove');
for (const mutant of MUTANTS.filter(isWanted)) {
  const found = await withBug(folder, mutant, () => find(folder));
  if (!found) survivors += 1;
  process.stdout.write(`${found ? 'found   ' : 'SURVIVED'} ${mutant.name}\n${found ?? ''}\n`);
}
rmSync(folder, { recursive: true, force: true });
process.exit(survivors === 0 ? 0 : 1);
