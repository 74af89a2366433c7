/** Figures of a run, printed as they come. */
import { writeFileSync } from 'node:fs';

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

const RESULTS = new URL('results.json', import.meta.url);

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

/** Kept for `--against`: not committed. */
export const writeResults = (figures: readonly Figure[]): void =>
  writeFileSync(RESULTS, `${JSON.stringify({ figures }, undefined, 2)}\n`);
