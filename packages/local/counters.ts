/** Figures for `admin status` and the console, which for a deployment are CloudWatch's. */
import { type Key, parseKey } from '../../lib/dynamodb/keys.ts';
import { operations } from '../../lib/http/operations.ts';
import { type Attempt, type OperationFigures, WINDOW_MINUTES } from '../admin/status/measured.ts';
import type { Served } from './gateway.ts';
import type { LocalFunction } from './local-functions.ts';

/** More calls than a program on a laptop sends in an hour; they take little memory. */
const MAX_CALLS_KEPT = 100_000;

/** Counts the calls of the last hour. */
export function createCounters(now: () => number = Date.now) {
  let kept: (Pick<Served, 'path' | 'status' | 'durationMs'> & { atMs: number })[] = [];
  return {
    add({ path, status, durationMs }: Served): void {
      kept.push({ path, status, durationMs, atMs: now() });
      if (kept.length > 2 * MAX_CALLS_KEPT) kept = kept.slice(-MAX_CALLS_KEPT);
    },
    figures(): OperationFigures[] {
      const since = now() - WINDOW_MINUTES * 60_000;
      kept = kept.filter(({ atMs }) => atMs >= since);
      return operations.map(({ name, path }) => {
        const calls = kept.filter((call) => call.path === path);
        const durations = calls.map(({ durationMs }) => durationMs).sort((one, other) => one - other);
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

/** Remembers the last failed attempt to finish each pending merge. */
export function createAttempts(now: () => number = Date.now) {
  const failed = new Map<string, Attempt>();
  return {
    /** The same function, whose failures are remembered: a queue passes it the key of a merge's feed entry. */
    watch: ({ invoke }: LocalFunction): LocalFunction => ({
      async invoke(event) {
        const { body = '' } = (event as { Records?: { body: string }[] }).Records?.[0] ?? {};
        try {
          const result = await invoke(event);
          failed.delete(body);
          return result;
        } catch (error) {
          const [incidentId, sequence] = feedEntryOf(body);
          if (sequence !== undefined)
            failed.set(body, {
              incident_id: String(incidentId),
              sequence: Number(sequence),
              error: (error as Error).name,
              at_ms: now(),
            });
          throw error;
        }
      },
    }),
    failed: () => [...failed.values()],
  };
}

/** The incident and sequence of the feed entry whose key is in a message; empty for a message that is not about a merge. */
function feedEntryOf(body: string) {
  try {
    const { kind, parts = [] } = parseKey(JSON.parse(body) as Key) ?? {};
    return kind === 'feedEntry' ? parts : [];
  } catch {
    return [];
  }
}
