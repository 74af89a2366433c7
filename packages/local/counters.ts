/** Figures for `admin status` and the console. Those of a deployed stack come from CloudWatch. */

import { operations } from '../../lib/operations/index.ts';
import { type Key, parseKey } from '../../lib/table/keys.ts';
import { type Attempt, type OperationFigures, WINDOW_MINUTES } from '../admin/status/measured.ts';
import type { Served } from './gateway.ts';

/** More calls than a program on a laptop sends in an hour; they take little memory. */
const MAX_CALLS_KEPT = 100_000;

/** Counts the calls of the last hour, and remembers the last failed attempt to finish each merge. */
export function createCounters(now: () => number = Date.now) {
  let recent: (Pick<Served, 'path' | 'status' | 'durationMs'> & { atMs: number })[] = [];
  const attempts = new Map<string, Attempt>();
  return {
    addCall({ path, status, code, durationMs }: Served): void {
      if (code === 'Unauthorized') return;
      recent.push({ path, status, durationMs, atMs: now() });
      if (recent.length > 2 * MAX_CALLS_KEPT) recent = recent.slice(-MAX_CALLS_KEPT);
    },
    /** @param message the message of the merge queue, which is the key of the merge's history entry */
    addFailedAttempt(message: string, { name: error }: Error): void {
      const [incidentId, sequence] = parseKey(JSON.parse(message) as Key)?.values ?? [];
      attempts.set(message, { incident_id: String(incidentId), sequence: Number(sequence), error, at_ms: now() });
    },
    attempts: () => [...attempts.values()],
    operations(): OperationFigures[] {
      const since = now() - WINDOW_MINUTES * 60_000;
      recent = recent.filter(({ atMs }) => atMs >= since);
      return operations.map(({ name, path }) => {
        const calls = recent.filter((call) => call.path === path);
        const durations = calls.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
        const p99 = durations[Math.ceil(durations.length * 0.99) - 1];
        return {
          operation: name,
          calls: calls.length,
          failed: calls.filter(({ status }) => status >= 500).length,
          ...(p99 !== undefined && { p99_ms: Math.round(p99) }),
        };
      });
    },
  };
}
