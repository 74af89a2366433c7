import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { cpuShareOf } from '../../cpu-share.ts';
import { startFunctionProcess } from '../../function-process.ts';

/** Burns processor time for as long as its event says, and tells how much it got in how long. */
const BURN = `export async function handler({ ms }) {
  const began = performance.now();
  const before = process.cpuUsage();
  while (performance.now() < began + ms) Math.sqrt(Math.random());
  const { user, system } = process.cpuUsage(before);
  return { usedMs: (user + system) / 1000, tookMs: performance.now() - began };
}`;

/** @returns the longest time for which this process did not get to its timers, in milliseconds */
function watchStalls(): () => number {
  let [last, longestMs] = [performance.now(), 0];
  const look = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - last);
    last = nowMs;
  };
  const timer = setInterval(look, 5);
  return () => {
    look();
    clearInterval(timer);
    return longestMs;
  };
}

let folder: string;
let entry: URL;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'burn-'));
  writeFileSync(join(folder, 'burn.mjs'), BURN);
  entry = pathToFileURL(join(folder, 'burn.mjs'));
});

it('a function gets no more than its share of a processor, and answers', async () => {
  const share = cpuShareOf(512);
  expect(share).toBeCloseTo(0.29, 2);
  const limited = await startFunctionProcess({ entry, env: {}, timeoutMs: 30_000 }, share);
  await limited.invoke({ ms: 1 });
  const stalls = watchStalls();
  const { usedMs, tookMs } = (await limited.invoke({ ms: 2_000 })) as { usedMs: number; tookMs: number };
  const longestMs = stalls();
  await limited.stop();
  // The share of a tenth of a second may be saved up. What is used beyond the share until the next look is taken off afterwards, but
  // for the last time; the system counts in steps of 10 ms.
  const most = share * (tookMs + 100) + longestMs + 50;
  expect(usedMs, `with looks that were up to ${longestMs} ms late`).toBeLessThan(most);
  expect(usedMs).toBeGreaterThan(0);
});
