/** The charts of `docs/performance.md`. */
import { type EChartsOption, init } from 'echarts';
import type { AtMemory, comparisonsOf } from './function-figures.ts';

const INK = '#222';
const COLOURS = ['#35618f', '#4c8c6b', '#b8862f', '#8d5a97', '#b5544f'];

function draw(width: number, height: number, option: EChartsOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({ animation: false, backgroundColor: 'white', color: COLOURS, ...option });
  // Its names hold counters of this process.
  const names = new Map<string, string>();
  const named = (name: string) => names.get(name) ?? names.set(name, `n${names.size}`).get(name) ?? name;
  const svg = chart.renderToSVGString().replaceAll(/\bzr\d+-[\w-]+/g, named);
  chart.dispose(); // else its timers keep the process running
  return svg;
}

const titleOf = (text: string, subtext: string) => ({
  text,
  subtext,
  left: 'center',
  top: 5,
  itemGap: 5,
  textStyle: { fontSize: 15, color: INK },
  subtextStyle: { fontSize: 12, color: INK },
});

const BAR = 17;
/** Of the axis of multiples. */
const TICK = 0.25;

/** Each function's figures as multiples of a handler by hand, with their targets. @returns SVG */
export function drawRatios(compared: ReturnType<typeof comparisonsOf>): string {
  const [first] = compared;
  const whats = first?.figures.map(({ what, most }) => ({ what, most })) ?? [];
  return draw(1000, 130 + compared.length * (whats.length * BAR + 14), {
    title: titleOf(
      'How long a function takes, compared with a handler by hand that makes the same calls to DynamoDB',
      'By hand = 1: shorter is faster. The black mark is the target.',
    ),
    legend: { top: 52, itemHeight: 10, itemGap: 30 },
    grid: { left: 150, right: 30, top: 85, bottom: 30 },
    xAxis: {
      type: 'value',
      min: 0,
      max: ({ max }: { max: number }) => TICK * Math.ceil(Math.max(1, max) / TICK),
      interval: TICK,
    },
    yAxis: { type: 'category', inverse: true, data: compared.map(({ name }) => name), axisTick: { show: false } },
    series: whats.flatMap(({ what, most }, position) => {
      const offset = (position - (whats.length - 1) / 2) * BAR;
      return [
        {
          ...({
            name: `${what}, target ${most}`,
            type: 'bar',
            barWidth: BAR - 3,
            barGap: `${(3 / (BAR - 3)) * 100}%`,
          } as const),
          data: compared.map(({ figures }) => figures[position]?.ratio ?? null),
          label: {
            show: true,
            position: 'insideLeft',
            fontSize: 10,
            formatter: ({ value }: { value?: unknown }) => Number(value).toFixed(2),
          },
        },
        {
          ...({
            type: 'scatter',
            symbol: 'rect',
            symbolSize: [3, BAR - 3],
            symbolOffset: [0, offset],
            color: INK,
          } as const),
          data: compared.map(({ name }) => [most, name]),
        },
      ];
    }),
  });
}

const PANELS = [
  { what: 'durationMs', title: 'a warm call, ms', left: 60, right: 530 },
  { what: 'dollars', title: 'Lambda for a million calls, US dollars', left: 560, right: 30 },
] as const;

/** Duration and price by memory; the size that the stack gives is filled. @returns SVG */
export function drawMemory(measured: readonly AtMemory[]): string {
  const sizes = [...new Set(measured.map(({ memoryMb }) => memoryMb))];
  const names = [...new Set(measured.map(({ name }) => name))];
  return draw(1000, 360, {
    title: titleOf(
      'What more memory, and so more of a processor, does to time and price',
      'The filled point is the memory that the stack gives the function.',
    ),
    legend: { top: 52, itemHeight: 10, itemGap: 30, data: names },
    grid: PANELS.map(({ left, right }) => ({ left, right, top: 105, bottom: 45 })),
    xAxis: PANELS.map((_panel, gridIndex) => ({
      ...({ gridIndex, type: 'category', data: sizes.map((size) => `${size} MB`) } as const),
    })),
    yAxis: PANELS.map(({ title }, gridIndex) => ({ gridIndex, name: title, nameTextStyle: { align: 'left' }, min: 0 })),
    series: PANELS.flatMap(({ what }, panel) =>
      names.map((name) => ({
        ...({ name, type: 'line', xAxisIndex: panel, yAxisIndex: panel } as const),
        data: measured
          .filter((one) => one.name === name)
          .map((one) => ({
            value: one[what],
            ...{ symbol: one.isDeployed ? 'circle' : 'emptyCircle', symbolSize: one.isDeployed ? 11 : 5 },
          })),
      })),
    ),
  });
}
