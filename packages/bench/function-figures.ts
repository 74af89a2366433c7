/** What `docs/performance.md` shows of each function, from the figures of the suite `lambda`. */
import type { FunctionName } from '../../infra/grants.ts';
import { memoryMbOf } from '../../infra/memory.ts';
import type { Figure } from './report.ts';

const NAME = /^([a-z-]+): (.+), worst setting$/;

/** Against a handler by hand, in the worst setting. */
export function comparisonsOf(figures: readonly Figure[]) {
  const compared = new Map<string, { what: string; ratio: number; most: number }[]>();
  for (const { name: whole, ratio, target } of figures) {
    const [, name, what] = NAME.exec(whole) ?? [];
    if (!name || !what || ratio === undefined || !target || !('most' in target)) continue;
    compared.set(name, [...(compared.get(name) ?? []), { what, ratio, most: target.most }]);
  }
  return [...compared].map(([name, figures]) => ({ name, figures }));
}

export interface AtMemory {
  name: string;
  memoryMb: number;
  durationMs: number;
  dollars: number;
  /** Whether the stack gives it so much. */
  isDeployed: boolean;
}

/** By memory, smallest first. */
export function byMemory(figures: readonly Figure[]): AtMemory[] {
  const values = new Map(figures.map(({ name, value }) => [name, value]));
  return [...values]
    .flatMap(([whole, durationMs]) => {
      const [, prefix = '', name = '', size] = /^(([a-z-]+) at (\d+) MB): duration$/.exec(whole) ?? [];
      const dollars = values.get(`${prefix}: a million calls`);
      if (dollars === undefined) return [];
      const memoryMb = Number(size);
      return [{ name, memoryMb, durationMs, dollars, isDeployed: memoryMbOf(name as FunctionName) === memoryMb }];
    })
    .sort((one, other) => one.memoryMb - other.memoryMb);
}

/** A row for each function. @returns Markdown */
export function memoryTable(figures: readonly Figure[]): string {
  const measured = byMemory(figures);
  const sizes = [...new Set(measured.map(({ memoryMb }) => memoryMb))];
  const cpuOf = (name: string) => figures.find((one) => one.name === `${name}: CPU of a warm call`)?.value;
  const rows = [...new Set(measured.map(({ name }) => name))].map((name) => [
    name,
    `${cpuOf(name)?.toFixed(1)} ms`,
    ...measured
      .filter((one) => one.name === name)
      .map(({ durationMs, dollars, isDeployed }) => {
        const text = `${durationMs.toFixed(1)} ms, $${dollars.toFixed(2)}`;
        return isDeployed ? `**${text}**` : text;
      }),
  ]);
  const head = ['function', 'CPU', ...sizes.map((size) => `${size} MB`)];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** What a warm call takes at least, as a multiple of a handler by hand. @returns Markdown */
export function floorSentence(figures: readonly Figure[]): string {
  const range = (what: string) => {
    const ratios = figures.filter(({ name }) => name.endsWith(`signed by hand: ${what}`)).map(({ ratio = 0 }) => ratio);
    return [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)).join(' to ');
  };
  if (!figures.some(({ name }) => name.includes('signed by hand'))) return '';
  return (
    `The same calls without the SDK, signed by hand and their bodies ready, take ${range('p50')} of a handler by hand's median ` +
    `in the setting of the chart, and ${range('CPU of a warm call')} of its CPU: about the least that they take over \`node:https\`.`
  );
}

/** @returns Markdown */
export function bodiesSentence(figures: readonly Figure[]): string {
  const of = (name: string) => figures.find((one) => one.name === name);
  const page = of('a page of 100 hosts, gzip');
  const spentUs = ['compress', 'decompress'].map((what) => of(`a page of 100 hosts: CPU to ${what}`)?.value ?? 0);
  if (!page?.baseline) return '';
  const [whole, compressed] = [page.baseline.value, page.value];
  const [compressUs = 0, decompressUs = 0] = spentUs;
  const paysBelow = ((whole - compressed) * 8) / (compressUs + decompressUs);
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} KB`;
  return (
    `A page of 100 hosts has ${kilobytes(whole)}, compressed by gzip ${kilobytes(compressed)}. Compressing takes ` +
    `${(compressUs / 1_000).toFixed(2)} ms of CPU, decompressing ${(decompressUs / 1_000).toFixed(2)} ms: it saves time on ` +
    `connections below ${paysBelow.toFixed(0)} Mbit/s.`
  );
}
