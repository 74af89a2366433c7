/** The incidents and merges of an account, and what a merge did, for operators. */

import type { AlertRow } from '../../../lib/model/alert.ts';
import { defined } from '../../../lib/model/fields.ts';
import type { IncidentRow } from '../../../lib/model/incident.ts';
import { changedAtMs } from '../../../lib/operations/list-incidents/read-incidents.ts';
import {
  type EntryWithMoves,
  isMoved,
  type Move,
  readEntry,
  readHistory,
  readLog,
} from '../../../lib/operations/merge-alerts/entry.ts';
import { readOrigins } from '../../../lib/operations/merge-alerts/finish.ts';
import { isPending, type LogHead, readLogHead } from '../../../lib/operations/merge-alerts/log-head.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys, partitions, shardsOf } from '../../../lib/table/keys.ts';
import { batchGet, getRow, queryAll, queryPage, queryRows } from '../../../lib/table/read.ts';
import { listAccounts } from '../accounts/accounts.ts';
import { countText } from '../text/printable.ts';

/** A history entry, as operators see it. */
export interface ListedMerge {
  entry: EntryWithMoves['entry'];
  alertIds: string[];
  moves: Move[];
  /** The ids of alerts that were in their incident already. */
  stayed: string[];
  /** It is committed, and not written to the rows of all its alerts. */
  pending: boolean;
  /** How many of its alerts have expired, and so are left out; absent: not looked up. */
  expired?: number;
}

/** The alerts that an entry moves, and the ids of those that stay. */
export const splitMoves = (all: readonly Move[]) => ({
  moves: all.filter(isMoved),
  stayed: all.filter((move) => !isMoved(move)).map(({ alertId }) => alertId),
});

async function listed(
  table: Table,
  account: Int64,
  read: (head: LogHead) => Promise<EntryWithMoves[]>,
): Promise<ListedMerge[]> {
  const head = await readLogHead(table, account);
  const merges: ListedMerge[] = [];
  for (const found of await read(head)) {
    const pending = isPending(head, found.entry);
    const { entry, moves: all } = pending ? await readOrigins(table, account, found) : found;
    merges.push({ entry, alertIds: all.map(({ alertId }) => alertId), ...splitMoves(all), pending });
  }
  return merges;
}

/** All incidents, in the order of their ids, with the numbers of their alerts and history entries. */
export async function listIncidents(table: Table, account: Int64) {
  const rows = await queryRows(table, partitions.incident(account));
  const alerts = await countAlerts(table, account, Number.POSITIVE_INFINITY);
  const incidents = rows.map((row) => ({
    incident_id: row.incident_id,
    title: row.title,
    ...(row.owner_id !== undefined && { owner_id: row.owner_id }),
    ...timesOf(row),
    alerts: alerts?.get(row.incident_id) ?? 0,
    entries: 0,
  }));
  await forEach(incidents, async (incident) => {
    const history = partitions.historyEntry(account, incident.incident_id);
    incident.entries = (await queryRows(table, history, { attributes: ['sk'] })).length;
  });
  return incidents;
}

/** Alerts of an account that are read to show one page or incident, unless the reader asks for all. */
export const ALERTS_READ = 20_000;

/** When an incident was created, and last changed, as far as known. */
export const timesOf = (row: IncidentRow) => defined({ created_ms: row.created_at_ms, changed_ms: changedAtMs(row) });

const PLACE = ['alert_id', 'incident_id', 'started_at_ms', 'key_order', 'ended_at_ms'] as const;
type PlacedAlert = Pick<AlertRow, (typeof PLACE)[number]>;

/** Reads all alerts of an account. @returns false if it has more than `limit` */
async function eachAlert(table: Table, account: Int64, limit: number, visit: (alert: PlacedAlert) => void) {
  let total = 0;
  await forEach(shardsOf(partitions.alert, account), async (shard) => {
    for await (const alert of queryAll(table, shard, { attributes: PLACE })) {
      total += 1;
      if (total > limit) return;
      visit(alert);
    }
  });
  return total <= limit;
}

/** The number of alerts of each incident, by its id; undefined: the account has more than `limit` alerts. */
export async function countAlerts(table: Table, account: Int64, limit: number) {
  const counts = new Map<string, number>();
  const isWhole = await eachAlert(table, account, limit, ({ incident_id }) => {
    if (incident_id !== undefined) counts.set(incident_id, (counts.get(incident_id) ?? 0) + 1);
  });
  return isWhole ? counts : undefined;
}

/** The alerts in an incident, the latest start first; undefined: the account has more than `limit` alerts. */
export async function alertsOfIncident(table: Table, account: Int64, incidentId: string, limit: number) {
  const found: PlacedAlert[] = [];
  const isWhole = await eachAlert(table, account, limit, (alert) => {
    if (alert.incident_id === incidentId) found.push(alert);
  });
  return isWhole ? found.sort((a, b) => (b.started_at_ms ?? 0) - (a.started_at_ms ?? 0)) : undefined;
}

/**
 * The merges of an account and their undos, by ascending sequence.
 * @param fromMs Unix milliseconds: entries committed earlier are omitted
 */
export const listMerges = (table: Table, account: Int64, fromMs: number): Promise<ListedMerge[]> =>
  listed(table, account, (head) =>
    readLog(table, account, { ...head, last: Math.max(0, Math.floor(fromMs)) - 1 }, head),
  );

/** The merges of all accounts and their undos, by ascending time. @param fromMs as in {@link listMerges} */
export async function listMergesOfAll(table: Table, fromMs: number) {
  const all: (ListedMerge & { account_id: Int64 })[] = [];
  await forEach(await listAccounts(table), async (account_id) => {
    for (const merge of await listMerges(table, account_id, fromMs)) all.push({ account_id, ...merge });
  });
  return all.sort((a, b) => a.entry.at_ms - b.entry.at_ms);
}

/** The merges into an incident and their undos, oldest first. Costs half a read unit for each alert, to know which have expired. */
export async function listHistory(table: Table, account: Int64, incidentId: string): Promise<ListedMerge[]> {
  const merges = await listed(table, account, () => readHistory(table, account, incidentId));
  const alertKeys = [...new Set(merges.flatMap(({ alertIds }) => alertIds))].map((id) => keys.alert(account, id));
  const { rows } = await batchGet(table, alertKeys, { attributes: ['alert_id'], consistent: false });
  const isThere = (id: string) => rows.of(keys.alert(account, id)) !== undefined;
  return merges.map(({ alertIds, moves, stayed, ...merge }) => {
    const kept = alertIds.filter(isThere);
    return {
      ...merge,
      alertIds: kept,
      moves: moves.filter(({ alertId }) => isThere(alertId)),
      stayed: stayed.filter(isThere),
      ...(kept.length < alertIds.length && { expired: alertIds.length - kept.length }),
    };
  });
}

/** The latest merges of an account and their undos, the latest first. */
export async function listRecentMerges(table: Table, account: Int64, limit: number): Promise<ListedMerge[]> {
  return listed(table, account, async () => {
    const { rows } = await queryPage(table, partitions.logPointer(account), { limit, descending: true });
    const ids = rows.map(({ sk, incident_id }) => ({ incidentId: incident_id, sequence: Number(sk) }));
    const entries = await Promise.all(ids.map((id) => readEntry(table, account, id)));
    return entries.filter((entry) => entry !== undefined);
  });
}

/**
 * The merges into the newest incidents, the latest merge first. ObjectIDs begin with a time, so the newest have the
 * highest ids.
 * @param before id of an incident: reads those with lower ids; undefined: from the newest
 * @param extraIncidents ids of further incidents whose merges are read
 * @returns `next`: the value of `before` for the next call; undefined after the last incident
 */
export async function listLatestMerges(
  table: Table,
  account: Int64,
  {
    incidents: limit,
    before,
    extraIncidents = [],
  }: { incidents: number; before?: string | undefined; extraIncidents?: readonly string[] },
): Promise<{ incidents: ReadonlyMap<string, IncidentRow>; items: ListedMerge[]; next: string | undefined }> {
  const page = await queryPage(table, partitions.incident(account), { limit, after: before, descending: true });
  const incidents = new Map(page.rows.map((row) => [row.sk, row]));
  const items = await listed(table, account, async () => {
    const entries: EntryWithMoves[] = [];
    await forEach(new Set([...incidents.keys(), ...extraIncidents]), async (id) =>
      entries.push(...(await readHistory(table, account, id))),
    );
    return entries;
  });
  return { incidents, items: items.sort((a, b) => b.entry.sequence - a.entry.sequence), next: page.next };
}

/**
 * The effects of a history entry, one by one.
 * @param ownerOf gives the name of a member
 * @returns for each a text, and the id of the incident to show after it, if there is one
 */
export function effectsOf(
  { entry, moves, stayed, expired = 0 }: Pick<ListedMerge, 'entry' | 'moves' | 'stayed' | 'expired'>,
  ownerOf: (id: Int64) => string = String,
) {
  const isMerge = entry.kind === 'merge';
  const { old_owner_id, new_owner_id } = entry;
  const byOtherIncident = Map.groupBy(moves, ({ from, to }) => (isMerge ? from : to));
  const effects: { text: string; incident?: string }[] = [...byOtherIncident].map(([incident, { length }]) => {
    const text = `${countText(length, 'alert')} ${isMerge ? 'from' : 'back to'}`;
    return incident ? { text, incident } : { text: `${text} no incident` };
  });
  if (stayed.length > 0) effects.push({ text: `${countText(stayed.length, 'alert')} already there` });
  if (expired > 0) effects.push({ text: `${countText(expired, 'alert')} expired since` });
  if (entry.new_title !== undefined) effects.push({ text: `title: ${entry.new_title} (was ${entry.old_title})` });
  if (new_owner_id !== undefined) {
    const before = old_owner_id === undefined ? 'none' : ownerOf(old_owner_id);
    effects.push({ text: `owner: ${ownerOf(new_owner_id)} (was ${before})` });
  }
  if (entry.comment !== undefined) effects.push({ text: `comment: ${entry.comment}` });
  return effects;
}

export const readIncident = (table: Table, account: Int64, id: string) => getRow(table, keys.incident(account, id));
