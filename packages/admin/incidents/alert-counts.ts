/** Counts alerts by the index alone, for half a read unit for each 21 of them. */
import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { alertIndex, NO_SEVERITY, queryAlertIndex } from '../../../lib/table/alert-index.ts';
import type { Table } from '../../../lib/table/client.ts';

/** Alerts that are counted in each partition of the index, which has few for each severity. */
const COUNTED = 1_000;
const HOUR_MS = 3_600_000;
const HOURS = 24;

/** How many alerts of each severity are open. @param limit for each partition of the index; `isMore`: one has more */
export async function countOpenAlerts(table: Table, account: Int64, limit = COUNTED) {
  return Promise.all(
    SEVERITIES.map(async (severity) => {
      const partitions = alertIndex.partitions(account, 'OPEN', [severity]);
      const found = await Promise.all(partitions.map((partition) => queryAlertIndex(table, partition, { limit })));
      const count = found.reduce((sum, { length }) => sum + length, 0);
      return { severity, count, isMore: found.some(({ length }) => length >= limit) };
    }),
  );
}

export interface OpenAlerts extends Readonly<Record<Severity, number>> {
  readonly account_id: Int64;
}

/** How many alerts are open in each account that has any, the most critical first. */
export async function openAlertsOf(table: Table, accounts: readonly Int64[]): Promise<OpenAlerts[]> {
  const found: OpenAlerts[] = [];
  await forEach(accounts, async (account_id) => {
    const counts = await countOpenAlerts(table, account_id);
    const bySeverity = Object.fromEntries(counts.map(({ severity, count }) => [severity, count]));
    if (counts.some(({ count }) => count > 0)) found.push({ account_id, ...(bySeverity as Record<Severity, number>) });
  });
  const isWorse = (a: OpenAlerts, b: OpenAlerts) =>
    SEVERITIES.map((severity) => b[severity] - a[severity]).find((difference) => difference !== 0) ?? 0;
  return found.sort(isWorse);
}

/** The severities by which alerts are in the index: `None` for those of which only the end was told. */
const INDEXED = [...SEVERITIES, NO_SEVERITY] as const;
export type IndexedSeverity = (typeof INDEXED)[number];

/** An hour of the clock, and how many alerts started in it. */
export interface HourOfStarts {
  readonly fromMs: number;
  readonly counts: Record<IndexedSeverity, number>;
  total: number;
}

/** The alerts that started in each hour of the last day, open and ended. `severities`: those that occur; `isMore`: a partition has more */
export async function hoursOfStarts(table: Table, account: Int64, nowMs: number) {
  const endMs = (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS;
  const hours = Array.from(
    { length: HOURS },
    (_, index): HourOfStarts => ({
      fromMs: endMs - (HOURS - index) * HOUR_MS,
      counts: { Critical: 0, Warning: 0, Info: 0, None: 0 },
      total: 0,
    }),
  );
  const options = { limit: COUNTED, after: alertIndex.place(endMs, ''), descending: true };
  let isMore = false;
  await forEach(INDEXED, async (severity) => {
    const partitions = (['OPEN', 'ENDED'] as const).flatMap((state) =>
      alertIndex.partitions(account, state, [severity]),
    );
    for (const places of await Promise.all(partitions.map((each) => queryAlertIndex(table, each, options)))) {
      const started = places.map((place) => hours[HOURS - Math.ceil((endMs - alertIndex.startOf(place)) / HOUR_MS)]);
      if (places.length === COUNTED && started.at(-1)) isMore = true;
      for (const hour of started) {
        if (!hour) continue;
        hour.counts[severity] += 1;
        hour.total += 1;
      }
    }
  });
  const severities = INDEXED.filter((severity) => hours.some(({ counts }) => counts[severity] > 0));
  return { hours, severities, isMore };
}
