/** The figures of a run. */
import { writeFileSync } from 'node:fs';

export interface NewFigure {
  name: string;
  value: number;
  unit: string;
  /** What the figure is compared with, measured in the same run. */
  baseline: { name: string; value: number };
  /** For the ratio of the figure to its baseline. */
  target?: { most: number } | { least: number };
}

export interface Figure extends NewFigure {
  suite: string;
  ratio: number;
  met: boolean;
}

export type AddFigure = (figure: NewFigure) => void;

const show = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

function lineOf({ name, value, unit, baseline, ratio, target, met }: Figure): string {
  const condition = target && ('most' in target ? `<= ${target.most}` : `>= ${target.least}`);
  return [
    name.padEnd(58),
    `${show(value)} ${unit}`.padStart(16),
    `${ratio.toFixed(2)} x`.padStart(9),
    (condition ? `target ${condition} ${met ? 'met' : 'MISSED'}` : '').padStart(22),
    `  baseline: ${baseline.name}, ${show(baseline.value)} ${unit}`,
  ].join(' ');
}

/** Prints figures as they are added. */
export function createReport(print: (line: string) => void) {
  const figures: Figure[] = [];
  return {
    addTo:
      (suite: string): AddFigure =>
      (added) => {
        const { value, baseline, target } = added;
        const ratio = value / baseline.value;
        const met = target === undefined || ('most' in target ? ratio <= target.most : ratio >= target.least);
        const figure = { suite, ...added, ratio, met };
        figures.push(figure);
        print(lineOf(figure));
      },
    /** Prints the missed targets, and keeps the figures for `--against` in a file that is not committed. */
    end() {
      const missed = figures.filter(({ met }) => !met).map(({ name }) => name);
      print(missed.length === 0 ? '\nNo target is missed.' : `\n${missed.length} missed: ${missed.join('; ')}.`);
      writeFileSync(new URL('results.json', import.meta.url), `${JSON.stringify({ figures }, undefined, 2)}\n`);
    },
  };
}
