/** `npm run bench -- [subject…]`: measures the subjects, or all, and prints each figure with its ratio to a baseline of the same run. */
import { parseArgs } from 'node:util';

const SUBJECTS = ['functions', 'sends', 'import', 'bodies', 'spending'] as const;

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What the figure is compared with, measured in the same run. */
  baseline: { name: string; value: number };
  /** The largest ratio that is accepted. */
  most?: number;
}

const show = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

function print({ name, value, unit, baseline, most }: Figure): void {
  const ratio = value / baseline.value;
  const target = most === undefined ? '' : `target ${show(most)} ${ratio <= most ? 'met' : 'MISSED'}`;
  const cells = [
    name.padEnd(56),
    `${show(value)} ${unit}`.padStart(14),
    ratio.toFixed(2).padStart(7),
    target.padEnd(18),
  ];
  process.stdout.write(`${cells.join(' ')} ${baseline.name}, ${show(baseline.value)} ${unit}\n`);
}

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !SUBJECTS.some((subject) => subject === name));
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(', ')}: choose from ${SUBJECTS.join(', ')}.\n`);
  process.exitCode = 2;
} else
  for (const subject of SUBJECTS)
    if (positionals.length === 0 || positionals.includes(subject)) {
      process.stdout.write(`\n${subject}\n`);
      const { run } = (await import(`./${subject}.ts`)) as { run(add: (figure: Figure) => void): Promise<void> };
      await run(print);
    }
