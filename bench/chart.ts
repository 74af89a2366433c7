/** The chart of `docs/performance.md`: each figure as a multiple of its baseline, with its target. */
import { init } from 'echarts';
import type { Figure } from './report.ts';

const ROW = 15;
const [GREEN, RED, INK] = ['#4c8c6b', '#c0504d', '#222'];

/** @returns SVG */
export function drawChart(figures: readonly Figure[]): string {
  const bars = figures.flatMap(({ suite, name, ratio, target, met }) => {
    if (ratio === undefined || target === undefined) return [];
    const limit = 'most' in target ? target.most : target.least;
    return [{ name: `${suite}: ${name}`, ratio, limit, met }];
  });
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 1000, height: 95 + ROW * bars.length });
  const seriesOf = (name: string, met: boolean, color: string) =>
    ({
      ...{ name, type: 'bar', stack: 'ratio', color },
      data: bars.map((bar) => (bar.met === met ? bar.ratio : null)),
    }) as const;
  chart.setOption({
    animation: false,
    backgroundColor: 'white',
    title: {
      text: 'Figures as multiples of their baselines (bar), and their targets (line)',
      ...{ left: 'center', top: 5 },
      textStyle: { fontSize: 13, color: INK },
    },
    legend: { top: 28, itemHeight: 10, itemGap: 40 },
    grid: { left: 430, right: 30, top: 55, bottom: 40 },
    xAxis: { name: 'times the baseline', nameLocation: 'middle', nameGap: 25 },
    yAxis: {
      type: 'category',
      inverse: true,
      data: bars.map(({ name }) => name),
      axisLabel: { width: 415, overflow: 'truncate', fontSize: 10, interval: 0 },
    },
    series: [
      seriesOf('target met', true, GREEN),
      seriesOf('target missed', false, RED),
      {
        name: 'target',
        type: 'scatter',
        symbol: 'rect',
        symbolSize: [3, ROW - 3],
        color: INK,
        data: bars.map(({ limit }) => limit),
      },
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose(); // else its timers keep the process running
  return svg;
}
