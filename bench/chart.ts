/** The chart of `docs/performance.md`: each figure as a multiple of its baseline, with its target. */
import { parse, View } from 'vega';
import { compile } from 'vega-lite';
import type { Figure } from './report.ts';

/** @returns SVG */
export async function drawChart(figures: readonly Figure[]): Promise<string> {
  const values = figures.flatMap(({ suite, name, ratio, target, met }) => {
    if (ratio === undefined || target === undefined) return [];
    const limit = 'most' in target ? target.most : target.least;
    return [{ figure: `${suite}: ${name}`, ratio, limit, wanted: 'most' in target ? 'at most' : 'at least', met }];
  });
  const y = { field: 'figure', type: 'nominal', sort: null, title: null, axis: { labelLimit: 420 } } as const;
  const { spec } = compile({
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    title: 'Figures as multiples of their baselines (bar), and their targets (line)',
    width: 420,
    background: 'white',
    data: { values },
    layer: [
      {
        mark: 'bar',
        encoding: {
          y,
          x: { field: 'ratio', type: 'quantitative', title: 'times the baseline' },
          color: {
            field: 'met',
            type: 'nominal',
            title: 'target met',
            scale: { domain: [true, false], range: ['#4c8c6b', '#c0504d'] },
          },
        },
      },
      {
        mark: { type: 'tick', thickness: 3, color: '#222' },
        encoding: { y, x: { field: 'limit', type: 'quantitative' } },
      },
    ],
  });
  return new View(parse(spec), { renderer: 'none' }).toSVG();
}
