/** How many rows an erasure deletes, in the words of a customer. */
import { type Key, parseKey, type RowKind } from '../../../lib/table/keys.ts';
import { countText } from '../text/printable.ts';

/** How many rows of each kind; `unknown`: in a partition of the account, but of no kind. */
export type RowCounts = Partial<Record<RowKind | 'unknown', number>>;

export const sumOf = (counts: RowCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

export function addRows(counts: RowCounts, rows: readonly Key[]): void {
  for (const row of rows) {
    const kind = parseKey(row)?.kind ?? 'unknown';
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
}

/** What only the service uses is counted together. */
const INTERNAL = 'internal row';
const NOUNS: Readonly<Record<RowKind | 'unknown', string>> = {
  account: 'account',
  appKey: 'app key',
  audit: 'audit row',
  member: 'member',
  host: 'host',
  hostStatus: 'host report',
  retirement: 'retired host',
  rumResource: 'RUM resource',
  rumUsage: 'RUM usage row',
  workItem: 'work item',
  incident: 'incident',
  historyEntry: 'merge record',
  alert: 'alert',
  alertKey: 'alert key',
  idempotency: 'idempotency key',
  listedAccount: INTERNAL,
  lastRecord: INTERNAL,
  logPointer: INTERNAL,
  logHead: INTERNAL,
  rateCount: INTERNAL,
  unknown: 'unknown row',
};

function countsByNoun(rows: RowCounts): [noun: string, count: number][] {
  const counts = new Map<string, number>();
  for (const [kind, noun] of Object.entries(NOUNS) as [keyof RowCounts, string][]) {
    const count = rows[kind] ?? 0;
    if (count > 0) counts.set(noun, (counts.get(noun) ?? 0) + count);
  }
  return [...counts];
}

/** Such as `3 app keys, 600 hosts`; empty if there are none. */
export const rowsText = (rows: RowCounts): string =>
  countsByNoun(rows)
    .map(([noun, count]) => countText(count, noun))
    .join(', ');

/** Such as `{ app_key: 3, host: 600 }`. */
export const rowsJson = (rows: RowCounts): Readonly<Record<string, number>> =>
  Object.fromEntries(countsByNoun(rows).map(([noun, count]) => [noun.toLowerCase().replaceAll(' ', '_'), count]));
