import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { drawChart } from '../../bench/chart.ts';
import { CHART, DOCUMENT, withTable } from '../../bench/document.ts';
import { type Figure, RESULTS } from '../../bench/report.ts';

const { figures } = JSON.parse(readFileSync(RESULTS, 'utf8')) as { figures: Figure[] };

describe('docs/performance.md', () => {
  it('shows the figures of bench/results.json', () => {
    const document = readFileSync(DOCUMENT, 'utf8');
    expect(withTable(document, figures)).toBe(document);
    expect(document).toContain(figures.find(({ target }) => target)?.name);
  });

  it('has their chart', () => {
    expect(drawChart(figures)).toBe(readFileSync(CHART, 'utf8'));
  });
});
