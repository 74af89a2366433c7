import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cpuShareOf, limitCpu } from '../../lambda/cpu-share.ts';

/** After a message, uses CPU time for two seconds; then reports the CPU time that it got and the time that passed. */
const BUSY = `process.once('message', () => {
  const began = performance.now();
  const before = process.cpuUsage();
  while (performance.now() < began + 2_000) Math.sqrt(Math.random());
  const { user, system } = process.cpuUsage(before);
  process.send({ usedMs: (user + system) / 1000, tookMs: performance.now() - began });
  process.disconnect();
});
process.send('ready');`;

/** @returns a function that gives the longest delay of this process's timers since then, in milliseconds */
function watchStalls(): () => number {
  let [last, longestMs] = [performance.now(), 0];
  const check = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - last);
    last = nowMs;
  };
  const timer = setInterval(check, 5);
  return () => {
    check();
    clearInterval(timer);
    return longestMs;
  };
}

it('a process gets no more than its share of a CPU', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'busy-')), 'busy.mjs');
  writeFileSync(file, BUSY);
  const share = cpuShareOf(512);
  expect(share).toBeCloseTo(0.29, 2);
  const child = fork(file);
  await once(child, 'message');
  const unlimit = limitCpu(child.pid as number, share);
  const stalls = watchStalls();
  child.send('begin');
  const [{ usedMs, tookMs }] = (await once(child, 'message')) as [{ usedMs: number; tookMs: number }];
  const longestMs = stalls();
  unlimit();
  // The unused share of 100 ms may be saved up. What the process uses beyond its share before a check is deducted afterwards, except at the last
  // check. The system counts in steps of 10 ms.
  const maxUsedMs = share * (tookMs + 100) + longestMs + 50;
  expect(usedMs, `with checks that were up to ${longestMs} ms late`).toBeLessThan(maxUsedMs);
  expect(usedMs).toBeGreaterThan(0);
});
