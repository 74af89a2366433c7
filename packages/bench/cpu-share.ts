/** Limits a process to a share of one CPU, as Lambda does by memory. */
import { readFileSync } from 'node:fs';

/** Memory in MB with which a function has one whole processor. Source: AWS Lambda Developer Guide, "Configure Lambda function memory". */
const MEMORY_MB_OF_ONE_CPU = 1_769;

/** The share of a processor that a function of this memory gets; above 1 for large ones. */
export const cpuShareOf = (memoryMb: number) => memoryMb / MEMORY_MB_OF_ONE_CPU;

/** Time for which unused share is kept; Lambda's own period is not documented. */
const PERIOD_MS = 100;
const LOOK_EVERY_MS = 5;

/**
 * Holds a process to a share of one processor: it is stopped (SIGSTOP) while it has used more than that, and continued
 * (SIGCONT). Where the system does not tell what a process has used (no `/proc`), all the time that it may run counts.
 * @returns ends it; the process runs on without a limit
 */
export function limitCpu(pid: number, share: number): () => void {
  const mostMs = share * PERIOD_MS;
  let budgetMs = mostMs;
  let usedMs = cpuMs(pid);
  let sinceMs = performance.now();
  let stopped = false;

  const look = () => {
    const [nowMs, used] = [performance.now(), cpuMs(pid)];
    const elapsed = nowMs - sinceMs;
    const spent = used !== undefined && usedMs !== undefined ? used - usedMs : stopped ? 0 : elapsed;
    budgetMs = Math.min(mostMs, budgetMs + share * elapsed - spent);
    [sinceMs, usedMs] = [nowMs, used];
    if (stopped === budgetMs < 0) return;
    stopped = budgetMs < 0;
    signal(stopped ? 'SIGSTOP' : 'SIGCONT');
  };
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    try {
      process.kill(pid, name);
    } catch {
      clearInterval(timer); // it has ended
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (stopped) signal('SIGCONT');
  };
}

const TICK_MS = 10;

/** Milliseconds of processor time used by a process, in steps of 10; undefined if the system does not report it. */
function cpuMs(pid: number): number | undefined {
  try {
    // After the name, which is in brackets: state, then the 12th and 13th fields are user and system time in ticks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
