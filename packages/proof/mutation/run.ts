/**
 * `npm run test:mutation`: Stryker makes every change that it knows to the pure modules, one at a time. A unit test must fail for each,
 * except for the changes that survivors.json lists, each with the reason why no test can notice it. The listed changes must survive.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installStryker, tools } from './stryker.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const here = `${root}packages/proof/mutation/`;
const report = `${root}.local/mutation/report.json`;

interface Mutant {
  mutatorName: string;
  replacement?: string;
  status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored' | 'Pending';
  location: Record<'start' | 'end', { line: number; column: number }>;
}

interface Survivor {
  file: string;
  /** The source line in which the change begins, trimmed. */
  line: string;
  change: string;
}

function runStryker(): number {
  rmSync(report, { force: true });
  const stryker = `${tools}node_modules/@stryker-mutator/core/bin/stryker.js`;
  const args = [stryker, 'run', `${here}stryker.config.json`];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 100);

/** The text between two places; lines and columns count from 1. */
function textAt(lines: readonly string[], { start, end }: Mutant['location']): string {
  const covered = lines.slice(start.line - 1, end.line);
  const last = covered.length - 1;
  covered[last] = covered[last]?.slice(0, end.column - 1) ?? '';
  covered[0] = covered[0]?.slice(start.column - 1) ?? '';
  return covered.join('\n');
}

function survivorOf(file: string, source: string, { location, replacement = '' }: Mutant): Survivor {
  const lines = source.split('\n');
  const line = lines[location.start.line - 1]?.trim() ?? '';
  return { file, line, change: `${oneLine(textAt(lines, location))} -> ${oneLine(replacement)}` };
}

const nameOf = ({ file, line, change }: Survivor) => `${file}: ${line}\n    ${change}`;

installStryker();
const exitCode = runStryker();
// Stryker has printed why there is no report.
if (!existsSync(report)) process.exit(1);
const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
  files: Record<string, { source: string; mutants: Mutant[] }>;
};
const survived: Survivor[] = [];
/** Changes whose tests timed out: on a busy machine a listed change may be among them. */
const timedOut: Survivor[] = [];
let [noticed, total] = [0, 0];
for (const [file, { source, mutants }] of Object.entries(files)) {
  const counted = mutants.filter(({ status }) => !/Error|Ignored/.test(status));
  const alive = counted.filter(({ status }) => status !== 'Killed' && status !== 'Timeout');
  survived.push(...alive.map((mutant) => survivorOf(file, source, mutant)));
  timedOut.push(
    ...counted.filter(({ status }) => status === 'Timeout').map((mutant) => survivorOf(file, source, mutant)),
  );
  total += counted.length;
  noticed += counted.length - alive.length;
  process.stdout.write(`${String(counted.length - alive.length).padStart(4)} of ${counted.length} in ${file}\n`);
}

const listed = JSON.parse(readFileSync(`${here}survivors.json`, 'utf8')) as (Survivor & { reason: string })[];
const listedNames = new Set(listed.map(nameOf));
const unexplained = survived.filter((survivor) => !listedNames.has(nameOf(survivor)));
const stale = [...listedNames.difference(new Set([...survived, ...timedOut].map(nameOf)))];
for (const survivor of unexplained) process.stdout.write(`survived ${nameOf(survivor)}\n`);
for (const name of stale) process.stdout.write(`no longer survives, remove it from survivors.json: ${name}\n`);
const percent = ((100 * noticed) / total).toFixed(2);
process.stdout.write(
  `\n${noticed} of ${total} changes noticed (${percent} %); ${survived.length - unexplained.length} survivors explained, ${unexplained.length} not.\n`,
);
process.exit(unexplained.length + stale.length > 0 ? 1 : exitCode);
