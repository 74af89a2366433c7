/** What `docs/performance.md` shows of the figures: their table and their chart. */
import { readFileSync, writeFileSync } from 'node:fs';
import { drawChart } from './chart.ts';
import { type Figure, tableOf } from './report.ts';

export const DOCUMENT = new URL('../docs/performance.md', import.meta.url);
export const CHART = new URL('../docs/performance.svg', import.meta.url);

/** The document with the table of these figures in place of the one that it has. */
export const withTable = (document: string, figures: readonly Figure[]) =>
  document.replace(
    /(<!-- figures -->\n).*?(\n<!-- end of figures -->)/s,
    (_all, begin: string, end: string) => `${begin}\n${tableOf(figures)}\n${end}`,
  );

export function writeDocument(figures: readonly Figure[]): void {
  writeFileSync(DOCUMENT, withTable(readFileSync(DOCUMENT, 'utf8'), figures));
  writeFileSync(CHART, drawChart(figures));
}
