/** Which incident alerts are in: read, and written by the feed entry that moves them. */
import type { Int64 } from '../json.ts';
import { batchGet } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { isAsRead, set } from '../table/expression.ts';
import { alertShard, keys } from '../table/keys.ts';
import { type Action, updateAction } from '../table/transact.ts';
import type { Move } from './feed.ts';
import type { AlertRow, FeedEntry } from './rows.ts';

export type Placement = Pick<AlertRow, (typeof PLACEMENT_ATTRIBUTES)[number]>;

/** By alert id; those that do not exist are absent. */
export type Placements = ReadonlyMap<string, Placement>;

/** The attributes of an alert that are read: the rest may be large. */
export const PLACEMENT_ATTRIBUTES = ['incident_id', 'moved_sequence', 'stayed_sequence', 'loaded_after'] as const;

/** The latest entry that decided where the alert is; earlier ones no longer matter. */
export const placedAfter = ({ moved_sequence = 0, loaded_after = 0 }: Placement) =>
  Math.max(moved_sequence, loaded_after);

export async function readPlacements(
  table: Table,
  account: Int64,
  alertIds: readonly string[],
): Promise<Map<string, Placement>> {
  const alertKeys = alertIds.map((id) => keys.alert(account, id));
  const { rows } = await batchGet(table, alertKeys, { attributes: PLACEMENT_ATTRIBUTES });
  return new Map([...rows.values()].map((row) => [row.sk, row]));
}

/** Alerts in the order of a large entry's list: sorted by partition key. */
export const inListOrder = (alertIds: readonly string[]): string[] =>
  alertIds
    .map((id) => alertShard(id) + id)
    .sort()
    .map((text) => text.slice(1));

/** Where an entry moves an alert: into an incident or out of any; or it stays where it is. */
export type Verdict = { to: string | undefined } | 'stays' | 'left';

/** What an entry does with an alert, given its placement at the entry's turn. */
export type Decide = (alertId: string, placement: Placement) => Verdict;

/** A merge takes every alert, wherever it is. */
export const decideMerge =
  ({ incident_id: own }: Pick<FeedEntry, 'incident_id'>): Decide =>
  (_alertId, { incident_id: current }) =>
    current === own ? 'stays' : { to: own };

/**
 * An undo takes back the alerts that have not moved since the merge. Reloaded data
 * has no sequence: then the incident decides.
 * @param origins where the merge took each alert from
 */
export const decideUndo =
  (
    { incident_id: own, undone_sequence: undone }: Pick<FeedEntry, 'incident_id' | 'undone_sequence'>,
    origins: ReadonlyMap<string, string | undefined>,
  ): Decide =>
  (alertId, { incident_id: current, moved_sequence: by }) =>
    current === own && (by === undefined || by === undone) && origins.has(alertId)
      ? { to: origins.get(alertId) }
      : 'left';

export interface Placing {
  moves: Move[];
  stayed: string[];
  left: string[];
}

/** Alerts that no longer exist are omitted. */
export function place(alertIds: readonly string[], placements: Placements, decide: Decide): Placing {
  const placing: Placing = { moves: [], stayed: [], left: [] };
  for (const alertId of alertIds) {
    const placement = placements.get(alertId);
    if (!placement) continue;
    const verdict = decide(alertId, placement);
    if (verdict === 'stays') placing.stayed.push(alertId);
    else if (verdict === 'left') placing.left.push(alertId);
    else placing.moves.push({ alertId, from: placement.incident_id, to: verdict.to });
  }
  return placing;
}

const alertAction = (
  account: Int64,
  alertId: string,
  placement: Placement,
  fields: Partial<Record<keyof AlertRow, unknown>>,
): Action => updateAction(keys.alert(account, alertId), set(fields), isAsRead(placement, PLACEMENT_ATTRIBUTES));

/** Moves an alert if its placement is as read. It records where it came from: a restored table may lack the entry. */
export const moveAction = (
  account: Int64,
  sequence: number,
  { alertId, from, to }: Move,
  placement: Placement,
): Action =>
  alertAction(account, alertId, placement, {
    incident_id: to,
    moved_sequence: sequence,
    moved_from: from,
    ...(placement.stayed_sequence !== undefined && { stayed_sequence: undefined }),
  });

/** Leaves an alert where it is, and records the entry: later moves have higher sequences. */
export const stayAction = (account: Int64, sequence: number, alertId: string, placement: Placement): Action =>
  alertAction(account, alertId, placement, { stayed_sequence: sequence });
