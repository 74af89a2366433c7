/** What must be true of rows that were repaired: judged by the entries that there are, and by what the feed had said by then. */

import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { isOpenAlert } from '../../../lib/model/alert.ts';
import { isBefore, type Order, orderOfTime } from '../../../lib/model/order.ts';
import { bySequence, type EntryWithMoves, entryOf } from '../../../lib/operations/merge-alerts/entry.ts';
import { type Key, keys, ofKind, parseKey, type Stored } from '../../../lib/table/keys.ts';
import { rowName } from '../../../lib/table/read.ts';
import { identityOfAppKey } from '../../../packages/admin/accounts/app-key-admin.ts';
import type { Finding } from '../../../packages/admin/check/finding.ts';
import { testDeps } from '../../support/service.ts';
import { ACCESS, type Feed, type World } from './history.ts';

type Items = readonly Key[];

export const entriesIn = (items: Items): EntryWithMoves[] => bySequence(ofKind('historyEntry', items).map(entryOf));

/** Where each alert comes from by an entry, and goes to. undefined: unknown, since the alert has no row. */
export type Places = Map<string, { from: string | undefined; to: string | undefined }>;
const nameOf = ({ entry: { sequence } }: EntryWithMoves, alertId: string) => `${sequence} ${alertId}`;

/**
 * The true moves of the entries that there are, as if the others had never been made.
 * @param committed all entries that were committed before the cut; others follow those that there are
 * @param saidOf the incident that the feed named last
 */
export function placesBy(
  entries: readonly EntryWithMoves[],
  committed: readonly EntryWithMoves[],
  saidOf: (alertId: string) => string | undefined,
): Places {
  const places: Places = new Map();
  const latest = new Map<string, string | undefined>();
  for (const each of entries)
    for (const { alertId, from, to } of each.moves) {
      const { kind, sequence, undone_sequence = 0 } = each.entry;
      const isCommitted = committed.some(({ entry }) => entry.merge_id === each.entry.merge_id);
      const isEarlier = ({ entry, moves }: EntryWithMoves) =>
        entry.sequence < sequence && moves.some((move) => move.alertId === alertId);
      const isFirst = !isCommitted || !committed.some(isEarlier);
      const before = latest.has(alertId) ? latest.get(alertId) : isFirst ? from : saidOf(alertId);
      const undone = places.get(`${undone_sequence} ${alertId}`);
      const place = kind === 'merge' ? { from: before, to } : { from, to: undone ? undone.from : before };
      places.set(nameOf(each, alertId), place);
      latest.set(alertId, place.to);
    }
  return places;
}

/** All sequences that rows name, in keys and attributes. */
export function sequencesIn(items: Items): number[] {
  const found: number[] = [];
  const visit = (name: string, value: unknown): void => {
    if (name.endsWith('_ms')) return;
    if (/^1[78]\d{11}$/.test(String(Number(value)))) found.push(Number(value));
    else if (value?.constructor === Object)
      for (const [key, inner] of Object.entries(value)) [visit(key, inner), visit(name, key)];
  };
  for (const row of items) visit('', row);
  return found;
}

/** What is wrong. */
export function* problemsOf(world: World, entries: readonly EntryWithMoves[], places: Places): Generator<string> {
  const { items, rows } = world;
  const saidOf = (row: Key): Feed => world.feeds.get(rowName(row)) ?? {};
  const { account } = world.tenant;
  const exists = (key: Key) => rows.has(rowName(key));
  const latest = new Map<string, EntryWithMoves>();
  for (const each of entriesIn(items))
    for (const { alertId, from, to } of each.moves) {
      latest.set(alertId, each);
      const place = places.get(nameOf(each, alertId));
      if (!exists(keys.alert(account, alertId))) continue;
      if (place && (place.from !== from || place.to !== to)) yield `the moves of a ${each.entry.kind}`;
    }
  for (const alert of ofKind('alert', items)) {
    const each = latest.get(alert.sk);
    const expected = each ? places.get(nameOf(each, alert.sk))?.to : saidOf(alert).incident_id?.value;
    if (alert.incident_id !== expected)
      yield each ? 'an alert is not where its latest entry put it' : 'an alert is where an absent entry put it';
    if (alert.moved_sequence !== each?.entry.sequence) yield 'the entry that an alert records';
  }
  for (const incident of ofKind('incident', items)) {
    const feed = saidOf(incident);
    const history = entries.map(({ entry }) => entry).filter(({ incident_id }) => incident_id === incident.sk);
    for (const [name, given] of Object.entries({ title: 'new_title', owner_id: 'new_owner_id' } as const)) {
      const last = history.findLast((entry) => entry[given] !== undefined);
      const said = feed[name];
      // A record of a later time counts, whether it came before the merge or after.
      const isSaid = !last || (said && !isBefore(said.order, orderOfTime(last.at_ms)));
      const allowed = [...(last ? [last[given]] : []), ...(isSaid ? [said?.value] : [])];
      const actual = (incident as unknown as Record<string, unknown>)[name];
      if (!allowed.includes(actual)) yield `the ${name} of an incident ${last ? 'with' : 'without'} a merge's`;
    }
  }
  for (const { sk: id, row_order: retired } of ofKind('retirement', items))
    for (const key of [keys.host(account, id), keys.hostStatus(account, id)]) {
      const { row_order: order } = (rows.get(rowName(key)) ?? {}) as { row_order?: Order };
      if (order && isBefore(order, retired)) yield 'a retired host';
    }
  const [head] = ofKind('logHead', items);
  if ((head?.entries ?? 0) !== entries.length) yield 'the number of entries';
  if (Object.keys(head?.pending ?? {}).length > 0) yield 'a pending entry';
  for (const { sequence, incident_id } of ofKind('idempotency', items))
    if (!exists(keys.historyEntry(account, incident_id, sequence))) yield 'an Idempotency-Key of an absent entry';
  const open = ofKind('alert', items).flatMap((row) => (isOpenAlert(row) && row.alert_key) || []);
  if (new Set(open).size < open.length) yield 'two alerts of a key are open';
}

/** Keys that may do something else than the newest of these rows says. */
export async function* wronglyLetIn(world: World, torn: Items): AsyncGenerator<string> {
  const ofAccount = ofKind('appKey', torn).filter(({ account_id }) => account_id === ACCESS);
  const account = ofKind('account', torn).find(({ account_id }) => account_id === ACCESS);
  const copies = ofAccount.map((row) => ({ ...row, revision: row.account_revision ?? 0 }));
  const [newest] = [...copies, ...(account ? [account] : [])].toSorted((a, b) => b.revision - a.revision);
  for (const appKey of world.appKeys) {
    const row = ofAccount.find((key) => parseKey(key)?.values[0] === identityOfAppKey(appKey).hash);
    const isAllowed = row && account && row.revoked_at === undefined && !newest?.suspended;
    const expected = isAllowed ? `may ${newest?.permissions}` : 'is refused';
    const caller = await createAppKeys(testDeps(world.table)).find(appKey);
    const actual = caller ? `may ${caller.permissions}` : 'is refused';
    if (actual !== expected) yield `a key ${actual}, and not: ${expected}${account ? '' : ', for want of its account'}`;
  }
}

/** Kinds of findings that end when a record comes, and the row of that record. */
const AWAITED: Partial<Record<string, (finding: Finding, items: Items) => Key>> = {
  alert_incident_missing: ({ account, ids }) => keys.incident(account, String(ids.incident_id)),
  entry_incident_missing: ({ account, ids }) => keys.incident(account, String(ids.incident_id)),
  entry_alert_missing: ({ account, ids }) => keys.alert(account, String(ids.alert_id)),
  account_missing: ({ account }) => keys.account(account),
  incident_owner_missing: ({ account, ids }, items) => {
    const incident = ofKind('incident', items).find(({ sk }) => sk === ids.incident_id);
    return keys.member(account, (incident as Stored<'incident'>).owner_id ?? -1);
  },
};

/** Findings that do not wait for a row that is missing. */
export const notAwaited = (world: World, findings: readonly Finding[]) =>
  findings.filter((finding) => {
    const key = AWAITED[finding.kind]?.(finding, world.items);
    return !key || world.rows.has(rowName(key));
  });
