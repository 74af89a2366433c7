/** Writes entries to the rows of their alerts. */

import type { AlertRow } from '../../model/alert.ts';
import { backoff, CONFLICT, chunksOf, THROTTLING } from '../../shared/concurrency.ts';
import type { Int64 } from '../../shared/json.ts';
import type { Table } from '../../table/client.ts';
import { isAsRead, set } from '../../table/expression.ts';
import { keys } from '../../table/keys.ts';
import { batchGet } from '../../table/read.ts';
import { actionsIn, type NamedActions, TRANSACTION_ITEMS, transactOnce, updateAction } from '../../table/write.ts';
import type { EntryWithMoves, Move } from './entry.ts';

/** What is read of an alert: its other attributes may be large. */
export const ASSIGNMENT_ATTRIBUTES = ['incident_id', 'moved_sequence'] as const;
export type Assignment = Pick<AlertRow, (typeof ASSIGNMENT_ATTRIBUTES)[number] | 'ttl'>;
/** By alert id, in lower case. An alert that does not exist is absent. */
export type Assignments = ReadonlyMap<string, Assignment>;

/** Sequence of the latest entry that took the alert. Only later entries apply to it. */
export const latestEntryOf = ({ moved_sequence = 0 }: Assignment): number => moved_sequence;

export async function readAssignments(table: Table, account: Int64, moves: readonly Move[]): Promise<Assignments> {
  const alertKeys = moves.map(({ alertId }) => keys.alert(account, alertId));
  const { rows } = await batchGet(table, alertKeys, { attributes: ASSIGNMENT_ATTRIBUTES });
  return new Map([...rows.values()].map((row) => [row.sk, row]));
}

/**
 * Updates the rows of alerts on condition that they are as read; the name of each action is the alert's id. Each row records the entry, and
 * has beside it what the feed said last, since a restored table may lack the entry. So does the row of an alert that stays,
 * so that an undo of an earlier entry sees that this one took it.
 */
export const moveActions = (
  account: Int64,
  sequence: number,
  moves: readonly Move[],
  rows: Assignments,
): NamedActions =>
  Object.fromEntries(
    moves.map(({ alertId, to }) => {
      const row = rows.get(alertId);
      if (!row) throw new Error('an alert that is to be moved was not read');
      const fields = {
        incident_id: to,
        moved_sequence: sequence,
        moved_from: row.incident_id,
        ...(row.moved_sequence === undefined && { feed_incident: row.incident_id }),
        event: undefined,
      };
      return [alertId, updateAction(keys.alert(account, alertId), set(fields), isAsRead(row, ASSIGNMENT_ATTRIBUTES))];
    }),
  );

/** DynamoDB refuses to update the rows of some alerts, which would be larger than 400 KB. */
export class AlertsTooLargeError extends Error {
  override readonly name = 'AlertsTooLargeError';
  readonly alertIds: readonly string[];
  constructor(alertIds: readonly string[]) {
    super(`DynamoDB refuses to update the rows of ${alertIds.length} alerts, such as ${alertIds[0]}`);
    this.alertIds = alertIds;
  }
}

/** Limits that tests lower. */
export interface MergeLimits {
  /** Maximum actions of one transaction; a low one makes a merge of few alerts large. */
  transactionItems?: number | undefined;
}

export interface MoveOptions extends MergeLimits {
  /** The rows as read before the commit. They are read again only after a change. */
  known?: Assignments | undefined;
}

/**
 * Writes a committed entry to the rows of its alerts. Any number of callers may do so for any entries at the same time, and repeatedly:
 * a row only takes a later entry (invariant *latest wins*). One transaction is sent after another, since they take the write units of all
 * calls: a new table has 4,000 a second, for 2,000 rows. DynamoDB Local even makes one call after another, at about a millisecond for each
 * row of a transaction: behind 16 transactions no call gets a reply in time, and the attempts that are repeated double the queue.
 * @throws AlertsTooLargeError after all other rows are written
 * @throws any other error at once; what is written remains
 */
export async function moveAlerts(
  table: Table,
  account: Int64,
  { entry: { sequence }, moves }: EntryWithMoves,
  { known, transactionItems = TRANSACTION_ITEMS }: MoveOptions = {},
): Promise<void> {
  const tooLarge: string[] = [];

  /** Writes rows in one transaction. After throttling and to find a row that is refused, it goes on with halves. */
  async function move(chunk: readonly Move[], known?: Assignments, attempt = 1): Promise<void> {
    const rows = known ?? (await readAssignments(table, account, chunk));
    const unwritten = chunk.filter(({ alertId }) => {
      const row = rows.get(alertId);
      return row !== undefined && latestEntryOf(row) < sequence;
    });
    if (unwritten.length === 0) return;
    const { outcome } = await transactOnce(table, actionsIn(moveActions(account, sequence, unwritten, rows)));
    if (outcome === 'applied') return;
    const isSplit = outcome === 'throttled' || outcome === 'refused';
    if (outcome === 'refused' && unwritten.length === 1) tooLarge.push(...unwritten.map(({ alertId }) => alertId));
    else {
      if (outcome !== 'refused') await backoff(attempt, outcome === 'throttled' ? THROTTLING : CONFLICT, table.signal);
      for (const part of chunksOf(unwritten, isSplit ? Math.ceil(unwritten.length / 2) : unwritten.length))
        await move(part, outcome === 'changed' ? undefined : rows, attempt + 1);
    }
  }

  for (const chunk of chunksOf(moves, transactionItems)) await move(chunk, known);
  if (tooLarge.length > 0) throw new AlertsTooLargeError(tooLarge);
}
