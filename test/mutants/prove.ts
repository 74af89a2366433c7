/**
 * `npm run prove:mutants`: plants the bugs of the merges, the accounts and the rate limit, one at a time, and shows that
 * `npm run prove` finds each, without being told where. Arguments choose mutants by a part of their name.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { MUTANTS, type Mutant } from './mutants.ts';
import { copySources, withBug } from './plant.ts';

/** What the scenarios run. */
const PROVED =
  /^lib\/(incidents|accounts|auth)\/|^lib\/api\/rate-limit|^lib\/table\/(batch-get|row|settle)|^lib\/(data|check)\//;

/** Bugs that no schedule can show, and why. */
const BEYOND: Readonly<Record<string, string>> = {
  'what is too large for a transaction is not moved in smaller parts': 'the table in memory has no sizes',
  'a check does not look where an alert is': 'no write leaves a row that is wrong in itself',
  'a repair counts as fixed what has changed meanwhile': 'the count is for people: the next check finds what is left',
  'an expired key is let in': 'keys do not expire in scenarios',
  'a revocation waits for the clock': 'no clock is so far behind',
  "an account's change reaches a key of another account": 'no write leaves an account that lists the key of another',
  'an import gives a key to another account': 'the write of the key refuses it, too',
  'a key is logged by its beginning, not by its hash': 'it is in no row and no answer',
};

/** The shorter forms first. @returns the first lines that tell of a failure */
async function find(folder: string): Promise<string | undefined> {
  for (const form of ['short', 'two']) {
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
  const reason = BEYOND[mutant.name];
  if (reason !== undefined) {
    process.stdout.write(`beyond   ${mutant.name}: ${reason}\n`);
    continue;
  }
  const found = await withBug(folder, mutant, () => find(folder));
  if (!found) survivors += 1;
  process.stdout.write(`${found ? 'found   ' : 'SURVIVED'} ${mutant.name}\n${found ?? ''}\n`);
}
rmSync(folder, { recursive: true, force: true });
process.exit(survivors === 0 ? 0 : 1);
