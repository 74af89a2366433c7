/** Which incident each alert is in: read here, and changed by the feed entry that moves it. */

import { marshall } from '@aws-sdk/util-dynamodb';
import { batchGet, type ReadBatch } from '../../dynamodb/batch-get.ts';
import type { Table } from '../../dynamodb/client.ts';
import { isAsRead, set } from '../../dynamodb/expression.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../../dynamodb/item-size.ts';
import { alertShard, keys, ofKind, type RowKind } from '../../dynamodb/keys.ts';
import type { AlertRow, FeedEntry } from '../../dynamodb/rows.ts';
import { type Action, updateAction } from '../../dynamodb/transact.ts';
import type { Int64 } from '../../shared/json.ts';
import type { Move } from './feed.ts';

export type Assignment = Pick<AlertRow, (typeof ASSIGNMENT_ATTRIBUTES)[number]>;

/** By alert id, in lower case. An alert that does not exist is absent. */
export type Assignments = ReadonlyMap<string, Assignment>;

/** What is read of an alert: its other attributes may be large. */
export const ASSIGNMENT_ATTRIBUTES = ['incident_id', 'moved_sequence', 'loaded_after'] as const;

/** Sequence of the latest entry that took the alert, or that was committed when it was imported. Earlier entries do not apply to it. */
export const latestEntryOf = ({ moved_sequence = 0, loaded_after = 0 }: Assignment) =>
  Math.max(moved_sequence, loaded_after);

export async function readAssignments(
  table: Table,
  account: Int64,
  alertIds: readonly string[],
): Promise<Map<string, Assignment>> {
  const alertKeys = alertIds.map((id) => keys.alert(account, id));
  const { rows } = await batchGet(table, alertKeys, { attributes: ASSIGNMENT_ATTRIBUTES });
  return new Map([...rows.values()].map((row) => [row.sk, row]));
}

/** Sorts alert ids for the list of a large entry: by partition key, so that a slice spans few partition keys. */
export const inListOrder = (alertIds: readonly string[]): string[] =>
  alertIds
    .map((id) => alertShard(id) + id)
    .sort()
    .map((shardAndId) => shardAndId.slice(1)); // the shard is one character

/** The incident that an entry assigns an alert to, or none (`to` is undefined); undefined: the entry does not take the alert. */
export type Destination = { to: string | undefined } | undefined;

/** Decides which incident an entry assigns an alert to, by its current assignment. */
export type Decide = (alertId: string, assignment: Assignment) => Destination;

/** A merge takes every alert, whatever its current incident. */
export const decideMerge =
  ({ incident_id: to }: Pick<FeedEntry, 'incident_id'>): Decide =>
  () => ({ to });

/**
 * An undo moves back those alerts that no later entry took: it compares the sequences. An imported alert has none; then only its current
 * incident decides.
 * @param origins where the merge took each alert from
 */
export const decideUndo =
  (
    { incident_id: mergedInto, undone_sequence: undone = 0 }: Pick<FeedEntry, 'incident_id' | 'undone_sequence'>,
    origins: ReadonlyMap<string, string | undefined>,
  ): Decide =>
  (alertId, { incident_id: current, moved_sequence: moved = undone }) =>
    current === mergedInto && moved === undone && origins.has(alertId) ? { to: origins.get(alertId) } : undefined;

export interface MovePlan {
  moves: Move[];
  /** No-ops: the alerts that are in their incident already. */
  stayed: Move[];
}

/** What an entry does with alerts. Omits alerts that it does not take or that do not exist. */
export function planMoves(alertIds: readonly string[], assignments: Assignments, decide: Decide): MovePlan {
  const plan: MovePlan = { moves: [], stayed: [] };
  for (const alertId of alertIds) {
    const assignment = assignments.get(alertId);
    const destination = assignment && decide(alertId, assignment);
    if (!destination) continue;
    const move = { alertId, from: assignment.incident_id, to: destination.to };
    (move.from === move.to ? plan.stayed : plan.moves).push(move);
  }
  return plan;
}

/**
 * Updates alerts on condition that their assignments are as read. Each row records the entry and the previous incident, since a
 * restored table may lack the entry. The row of an alert that stays records them, too, so that no earlier entry counts as its latest.
 */
export const moveActions = (
  account: Int64,
  sequence: number,
  moves: readonly Move[],
  assignments: Assignments,
): Action[] =>
  moves.map(({ alertId, from, to }) => {
    const assignment = assignments.get(alertId);
    if (!assignment) throw new Error('an alert that is to be moved was not read');
    const fields = {
      incident_id: to,
      moved_sequence: sequence,
      moved_from: from,
      ...(assignment.moved_sequence !== undefined && { previous_sequence: assignment.moved_sequence }),
    };
    return updateAction(keys.alert(account, alertId), set(fields), isAsRead(assignment, ASSIGNMENT_ATTRIBUTES));
  });

/** A row of fewer read units (4 KB each) has room for the attributes of a move. */
const FULL_ROW_UNITS = MAX_ITEM_BYTES / 4_096 - 1;
const MAX_SEQUENCE = 999_999_999_999_999;

/** An alert's row after a merge, as large as {@link moveActions} may make it. */
const afterMerge = (row: AlertRow) => ({
  ...row,
  incident_id: 'f'.repeat(24),
  moved_sequence: MAX_SEQUENCE,
  moved_from: row.incident_id,
  previous_sequence: row.moved_sequence,
});
const bytesOf = (row: object) => itemBytes(marshall(row, { removeUndefinedValues: true }));

/**
 * The ids of alerts whose rows a move would make larger than DynamoDB allows. Reads rows in full only where the read units of their
 * batch show that one may be that large.
 */
export async function findUnmovable(table: Table, batches: readonly ReadBatch<RowKind>[]): Promise<string[]> {
  const suspected = batches
    .filter((batch) => batch.units - (batch.found - 1) >= FULL_ROW_UNITS)
    .flatMap((batch) => batch.keys);
  if (suspected.length === 0) return [];
  const { rows } = await batchGet(table, suspected);
  return ofKind('alert', [...rows.values()])
    .filter((row) => bytesOf(afterMerge(row)) > MAX_ITEM_BYTES)
    .map((row) => row.alert_id);
}
