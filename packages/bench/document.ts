/** What documents show of the figures: tables, a sentence and charts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { drawMemory, drawRatios } from './chart.ts';
import { bodiesSentence, byMemory, comparisonsOf, floorSentence, memoryTable } from './function-figures.ts';
import { type Figure, listOf, tablesBySubject } from './report.ts';

const docs = (file: string) => new URL(`../../docs/${file}`, import.meta.url);

const between = (document: string, marker: string, content: string) =>
  document.replace(
    new RegExp(`(<!-- ${marker} -->\n).*?(\n<!-- end of ${marker} -->)`, 's'),
    (_all, begin: string, end: string) => `${begin}\n${content}\n${end}`,
  );

/** Fills each list, `<!-- figures of SUITE, SUITE -->` or `<!-- figures of SUITE by subject -->` (tables), with the figures of these suites. */
const fillFigures = (document: string, figures: readonly Figure[]) =>
  document.replace(
    /(<!-- figures of ([^\n]+?)( by subject)? -->\n).*?(\n<!-- end of figures -->)/gs,
    (_all, begin: string, suites: string, bySubject: string | undefined, end: string) => {
      const shown = figures.filter(({ suite }) => suites.split(', ').includes(suite));
      return `${begin}\n${bySubject ? tablesBySubject(shown) : listOf(shown)}\n${end}`;
    },
  );

/** Each file, and its content from what it has and the figures. */
export const GENERATED: readonly { file: URL; from(current: string, figures: readonly Figure[]): string }[] = [
  { file: docs('benchmarks.md'), from: fillFigures },
  {
    file: docs('performance.md'),
    from: (current, figures) =>
      [
        ['memory', memoryTable(figures)],
        ['bodies', bodiesSentence(figures)],
        ['floor', floorSentence(figures)],
      ].reduce((document, [marker = '', content = '']) => between(document, marker, content), current),
  },
  { file: docs('performance.svg'), from: (_current, figures) => drawRatios(comparisonsOf(figures)) },
  { file: docs('performance-memory.svg'), from: (_current, figures) => drawMemory(byMemory(figures)) },
];

export function writeDocuments(figures: readonly Figure[]): void {
  for (const { file, from } of GENERATED) writeFileSync(file, from(readFileSync(file, 'utf8'), figures));
}
