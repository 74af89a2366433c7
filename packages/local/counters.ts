/** The calls of the last hour, for `admin status` and the console: what CloudWatch counts of a deployment. */
import { type Key, parseKey } from '../../lib/dynamodb/keys.ts';
import { operations } from '../../lib/http/operations.ts';
import { type Attempt, type OperationFigures, WINDOW_MINUTES } from '../admin/status/measured.ts';
import type { Served } from './gateway.ts';
import type { LocalFunction } from './local-functions.ts';

/** Maximum calls kept: more than a program on a laptop sends in an hour, and little memory. */
const MAX_CALLS_KEPT = 100_000;

export function createCounters(now: () => number = Date.now) {
  let kept: { path: string; status: number; durationMs: number; atMs: number }[] = [];
  return {
    add({ path, status, durationMs }: Served): void {
      kept.push({ ...{ path, status, durationMs }, atMs: now() });
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
          ...{ operation: name, calls: calls.length, failed: calls.filter(({ status }) => status >= 500).length },
          ...(p99 !== undefined && { p99_ms: Math.round(p99) }),
        };
      });
    },
  };
}

/** The last failed attempt to finish each pending merge, from the messages that the queue passes to the function. */
export function createAttempts(now: () => number = Date.now) {
  const failed = new Map<string, Attempt>();
  return {
    watch: ({ invoke }: Pick<LocalFunction, 'invoke'>): Pick<LocalFunction, 'invoke'> => ({
      async invoke(event) {
        const { body = '' } = (event as { Records?: { body: string }[] }).Records?.[0] ?? {};
        try {
          const result = await invoke(event);
          failed.delete(body);
          return result;
        } catch (error) {
          const [incidentId, sequence] = entryOf(body);
          if (sequence !== undefined)
            failed.set(body, {
              ...{ incident_id: String(incidentId), sequence: Number(sequence) },
              ...{ error: (error as Error).name, at_ms: now() },
            });
          throw error;
        }
      },
    }),
    failed: () => [...failed.values()],
  };
}

/** The key of a feed entry. Messages without one are not about a merge. */
function entryOf(body: string) {
  try {
    const { kind, parts = [] } = parseKey(JSON.parse(body) as Key) ?? {};
    return kind === 'feedEntry' ? parts : [];
  } catch {
    return [];
  }
}
