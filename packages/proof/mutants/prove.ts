/**
 * `npm run prove:mutants`: plants the bugs in the code that the scenarios run, one at a time, and shows that `npm run prove` finds each.
 * Arguments choose bugs by parts of their names.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { MUTANTS, type Mutant } from './mutants.ts';
import { checkTypes, copySources, isChosen, withBug } from './plant.ts';

/** The files that the scenarios run. */
const PROVED =
  /^lib\/(operations\/(merge-alerts|delete-work-item)|auth)\/|^lib\/http\/rate-limit|^lib\/dynamodb\/(batch-get|row|settle)|^packages\/admin\/(accounts|incidents|data|check)\//;

/** Forms of `npm run prove`, the shortest first. */
const FORMS = ['quick', 'short', 'two'] as const;

interface Failure {
  readonly form: string;
  /** Absent: the program failed, not a scenario. */
  readonly scenario: string | undefined;
  /** The output about the failure. */
  readonly text: string;
}

/** Leaves out the middle of a long text. */
function shortened(text: string): string {
  const lines = text.split('\n');
  const omitted = lines.length - MAX_LINES;
  if (omitted <= 0) return text;
  return [...lines.slice(0, MAX_LINES / 2), `       … ${omitted} more`, ...lines.slice(-MAX_LINES / 2)].join('\n');
}
const MAX_LINES = 60;

/** Explores the scenarios whose names contain `scenario`, until one fails. */
async function explore(folder: string, form: string, scenario = ''): Promise<Failure | undefined> {
  const out = await new Promise<string>((resolve) => {
    const args = ['packages/proof/simulation/prove.ts', '--form', form, '--stop', '--only', scenario];
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 28 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  if (out.includes('all hold.')) return undefined;
  const start = out.search(/^FAILED|^.*Error: /m);
  if (start < 0) throw new Error(`npm run prove ended without a result:\n${out.slice(-2_000)}`);
  const [, failed] = /--only "(.*?)"/.exec(out) ?? [];
  return { form, scenario: failed, text: shortened(out.slice(start).split('\n\n')[0] ?? '') };
}

async function findFailure(folder: string, scenario?: string): Promise<Failure | undefined> {
  for (const form of FORMS) {
    const failure = await explore(folder, form, scenario);
    if (failure) return failure;
  }
  return undefined;
}

const isProved = ({ tests, file, isUnreached }: Mutant) => !isUnreached && (!tests || PROVED.test(file));
const bugs = MUTANTS.filter((mutant) => isProved(mutant) && isChosen(mutant));
checkTypes(bugs);
let survivors = 0;
const folder = copySources('prove');
for (const bug of bugs) {
  const found = await withBug(folder, bug, () => findFailure(folder, bug.scenario));
  const failureWithoutBug = found && (await explore(folder, found.form, found.scenario ?? bug.scenario));
  if (failureWithoutBug) throw new Error(`npm run prove fails even without a planted bug:\n${failureWithoutBug.text}`);
  if (!found) survivors += 1;
  process.stdout.write(`${found ? 'found   ' : 'SURVIVED'} ${bug.name}\n${found?.text ?? ''}\n`);
}
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${bugs.length - survivors} of ${bugs.length} bugs are found.\n`);
process.exit(survivors === 0 && bugs.length > 0 ? 0 : 1);
