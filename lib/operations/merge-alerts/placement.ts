/** Which incident alerts are in: read, and written by the feed entry that moves them. */

import { batchGet } from '../../dynamodb/batch-get.ts';
import type { Table } from '../../dynamodb/client.ts';
import { isAsRead, set } from '../../dynamodb/expression.ts';
import { alertShard, keys } from '../../dynamodb/keys.ts';
import { type Action, updateAction } from '../../dynamodb/transact.ts';
import type { Int64 } from '../../shared/json.ts';
import type { AlertRow, FeedEntry } from '../incident-rows.ts';
import type { Move } from './feed.ts';

export type Placement = Pick<AlertRow, (typeof PLACEMENT_ATTRIBUTES)[number]>;

/** By alert id; those that do not exist are absent. */
export type Placements = ReadonlyMap<string, Placement>;

/** The attributes of an alert that are read: the rest may be large. */
export const PLACEMENT_ATTRIBUTES = ['incident_id', 'moved_sequence', 'stayed_sequence', 'loaded_after'] as const;

/** The latest entry that took the alert, or that its import replaced; earlier ones no longer apply to it. */
export const latestEntryOf = ({ moved_sequence = 0, stayed_sequence = 0, loaded_after = 0 }: Placement) =>
  Math.max(moved_sequence, stayed_sequence, loaded_after);

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

/** Where an entry puts an alert: into an incident, or out of any (`to` is undefined); absent: it does not take the alert. */
export type Verdict = { to: string | undefined } | undefined;

/** Decides where an entry puts an alert, by where it is now. */
export type Decide = (alertId: string, placement: Placement) => Verdict;

/** A merge takes every alert, wherever it is. */
export const decideMerge =
  ({ incident_id: own }: Pick<FeedEntry, 'incident_id'>): Decide =>
  () => ({ to: own });

/**
 * An undo takes back the alerts that no entry has taken since the merge. Imported data has no sequence: then the incident decides.
 * @param origins where the merge took each alert from
 */
export const decideUndo =
  (
    { incident_id: own, undone_sequence: undone = 0 }: Pick<FeedEntry, 'incident_id' | 'undone_sequence'>,
    origins: ReadonlyMap<string, string | undefined>,
  ): Decide =>
  (alertId, { incident_id: current, moved_sequence: by = undone, stayed_sequence: stayed = 0 }) =>
    current === own && by === undone && stayed <= undone && origins.has(alertId)
      ? { to: origins.get(alertId) }
      : undefined;

export interface Placing {
  moves: Move[];
  /** Moves of alerts that are in their incident already. */
  stayed: Move[];
}

/** What an entry does with alerts. Those that it does not take, or that do not exist, are omitted. */
export function place(alertIds: readonly string[], placements: Placements, decide: Decide): Placing {
  const placing: Placing = { moves: [], stayed: [] };
  for (const alertId of alertIds) {
    const placement = placements.get(alertId);
    const verdict = placement && decide(alertId, placement);
    if (!verdict) continue;
    const move = { alertId, from: placement.incident_id, to: verdict.to };
    (move.from === move.to ? placing.stayed : placing.moves).push(move);
  }
  return placing;
}

/**
 * Moves alerts whose placements are as read. Each row records the entry, and where the alert came from: a restored table may
 * lack the entry. An alert that stays where it is records them, too, so that no earlier entry counts as its last.
 */
export const moveActions = (
  account: Int64,
  sequence: number,
  moves: readonly Move[],
  placements: Placements,
): Action[] =>
  moves.map(({ alertId, from, to }) => {
    const placement = placements.get(alertId);
    if (!placement) throw new Error('an alert is to be moved that was not read');
    const fields = {
      incident_id: to,
      moved_sequence: sequence,
      moved_from: from,
      ...(placement.moved_sequence !== undefined && { previous_sequence: placement.moved_sequence }),
      ...(placement.stayed_sequence !== undefined && { stayed_sequence: undefined }),
    };
    return updateAction(keys.alert(account, alertId), set(fields), isAsRead(placement, PLACEMENT_ATTRIBUTES));
  });
