/** What documents show of the figures: tables, a sentence and charts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { drawMemory, drawRatios } from './chart.ts';
import { bodiesSentence, byMemory, comparisonsOf, functionsTable, isOfFunction, memoryTable } from './functions.ts';
import { type Figure, tableOf } from './report.ts';

const docs = (file: string) => new URL(`../docs/${file}`, import.meta.url);

const between = (document: string, marker: string, content: string) =>
  document.replace(
    new RegExp(`(<!-- ${marker} -->\n).*?(\n<!-- end of ${marker} -->)`, 's'),
    (_all, begin: string, end: string) => `${begin}\n${content}\n${end}`,
  );

/** Fills each table, `<!-- figures of SUITE, SUITE -->`, with the figures of these suites. */
const fillTables = (document: string, all: readonly Figure[]) => {
  const figures = all.filter((figure) => !isOfFunction(figure));
  return between(document, 'functions', functionsTable(all)).replace(
    /(<!-- figures of ([^\n]+?) -->\n).*?(\n<!-- end of figures -->)/gs,
    (_all, begin: string, suites: string, end: string) =>
      `${begin}\n${tableOf(figures.filter(({ suite }) => suites.split(', ').includes(suite)))}\n${end}`,
  );
};

/** Each file, and its content from what it has and the figures. */
export const GENERATED: readonly { file: URL; from(current: string, figures: readonly Figure[]): string }[] = [
  { file: docs('benchmarks.md'), from: fillTables },
  {
    file: docs('performance.md'),
    from: (current, figures) =>
      between(between(current, 'memory', memoryTable(figures)), 'bodies', bodiesSentence(figures)),
  },
  { file: docs('performance.svg'), from: (_current, figures) => drawRatios(comparisonsOf(figures)) },
  { file: docs('performance-memory.svg'), from: (_current, figures) => drawMemory(byMemory(figures)) },
];

export function writeDocuments(figures: readonly Figure[]): void {
  for (const { file, from } of GENERATED) writeFileSync(file, from(readFileSync(file, 'utf8'), figures));
}
