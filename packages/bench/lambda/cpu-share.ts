/** Limits a process to a share of one CPU, as Lambda does by memory. */
import { readFileSync } from 'node:fs';

/** Memory in MB with which a function has one whole CPU. Source: AWS Lambda Developer Guide, "Configure Lambda function memory". */
const MEMORY_MB_OF_ONE_CPU = 1_769;

/** The share of a CPU that a function of this memory gets. */
export const cpuShareOf = (memoryMb: number) => memoryMb / MEMORY_MB_OF_ONE_CPU;

/** Unused CPU time of at most this period is kept for later. Lambda's own period is not documented. */
const PERIOD_MS = 100;
const CHECK_EVERY_MS = 5;

/**
 * Stops a process (SIGSTOP) while it has used more than its share, and continues it (SIGCONT). On a system without `/proc`, which reports the CPU
 * time of a process, all time during which the process is not stopped counts as used.
 * @returns a function that ends the limit
 */
export function limitCpu(pid: number, share: number): () => void {
  const maxBudgetMs = share * PERIOD_MS;
  let budgetMs = maxBudgetMs;
  let usedMs = cpuMsOf(pid);
  let sinceMs = performance.now();
  let stopped = false;

  function check(): void {
    const [nowMs, used] = [performance.now(), cpuMsOf(pid)];
    const elapsedMs = nowMs - sinceMs;
    const runMs = stopped ? 0 : elapsedMs;
    const spentMs = used === undefined || usedMs === undefined ? runMs : used - usedMs;
    budgetMs = Math.min(maxBudgetMs, budgetMs + share * elapsedMs - spentMs);
    [sinceMs, usedMs] = [nowMs, used];
    if (stopped === budgetMs < 0) return;
    stopped = budgetMs < 0;
    signal(stopped ? 'SIGSTOP' : 'SIGCONT');
  }
  function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    try {
      process.kill(pid, name);
    } catch {
      clearInterval(timer); // the process has ended
    }
  }
  const timer = setInterval(check, CHECK_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (stopped) signal('SIGCONT');
  };
}

const TICK_MS = 10;

/** Milliseconds of CPU time used by a process, in steps of 10; undefined if the system does not report it. */
function cpuMsOf(pid: number): number | undefined {
  try {
    // After the name, which is in brackets, come the state and, as 12th and 13th fields, user and system time in ticks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
