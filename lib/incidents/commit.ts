import type { Int64 } from '../json.ts';
import { backoff, CONTENDED, THROTTLED } from '../table/backoff.ts';
import type { Table } from '../table/client.ts';
import { EXISTS, expression, IS_NEW, isAsRead, set } from '../table/expression.ts';
import { type KeyOf, keys, type Stored } from '../table/keys.ts';
import { getRow } from '../table/row.ts';
import { look, settle } from '../table/settle.ts';
import {
  type Action,
  checkAction,
  putAction,
  type TransactionResult,
  transactOnce,
  updateAction,
} from '../table/transact.ts';
import { changeOf, largeEntryRows, smallEntryRow } from './feed.ts';
import { type MergeOrder, mergeOrderOf, orderActions } from './merge-order.ts';
import { type Decide, moveActions, type Placements, place } from './placement.ts';
import type { FeedEntry, IncidentRow } from './rows.ts';

/** Records a call, so that repeating it does nothing. Times in Unix seconds. */
export interface Idempotency {
  key: KeyOf<'idempotency'>;
  bodyHash: string;
  nowSeconds: number;
  ttl: number;
}

/** A merge or undo, ready to be committed. */
export interface Relocation {
  account: Int64;
  entry: FeedEntry;
  /** All alerts that it takes, in the order of the list of a large entry. */
  alertIds: readonly string[];
  decide: Decide;
  /** Where the alerts are, as read: what a small commit relies on. */
  placements: Placements;
  /** As read. */
  incident: IncidentRow;
  order: MergeOrder;
  /** Further conditions and writes. */
  also?: readonly Action[];
  /** Member that must exist. */
  owner?: Int64;
  idempotency?: Idempotency;
  /** The alerts are moved after the commit, not with it. */
  large: boolean;
}

/** Changes title and owner if they are as read: each entry records the previous ones. */
function incidentActions({ account, entry, incident }: Relocation): Action[] {
  const { incident_id: incidentId, new_title: title, new_owner_id: owner_id } = entry;
  const changes = { ...(title !== undefined && { title }), ...(owner_id !== undefined && { owner_id }) };
  const names = Object.keys(changes) as (keyof typeof changes)[];
  if (names.length === 0) return [];
  return [
    updateAction(
      keys.incident(account, incidentId),
      set({ ...changes, last_change: changeOf(entry, incident.last_change) }),
      isAsRead(incident, [...names, 'last_change', 'loaded_after']),
    ),
  ];
}

function actionsOf(relocation: Relocation): Action[] {
  const { account, entry, alertIds, decide, placements, order, also = [], owner, idempotency, large } = relocation;
  const { moves, stayed } = place(alertIds, placements, decide);
  const rows = large ? largeEntryRows(account, entry, alertIds) : [smallEntryRow(account, entry, moves, stayed)];
  const actions = [
    ...rows.map((row) => putAction(row, IS_NEW)),
    ...orderActions(account, entry, order, large),
    ...incidentActions(relocation),
    ...also,
  ];
  if (owner !== undefined) actions.push(checkAction(keys.member(account, owner), EXISTS));
  if (idempotency) {
    const { key, bodyHash: body_hash, ttl, nowSeconds } = idempotency;
    const { incident_id, sequence } = entry;
    const row: Stored<'idempotency'> = { ...key, body_hash, ttl, incident_id, sequence };
    actions.push(putAction(row, expression`${IS_NEW} OR #ttl <= ${nowSeconds}`));
  }
  return large ? actions : [...actions, ...moveActions(account, entry.sequence, [...moves, ...stayed], placements)];
}

/** `too large`: for one transaction, so that it must be made large. */
export type CommitResult =
  | { outcome: 'committed' | 'too large' }
  /** A row that it depends on has changed. `order`: that was the merge order alone, which is this now. */
  | { outcome: 'changed'; order?: MergeOrder };

/**
 * Commits a merge in one transaction: with its moves where it is small. A conflict or throttling is tried again until the signal
 * ends it. A reply that is lost does not matter: the entry in the feed tells whether it is committed.
 * @param attempts made before, with other reads: the more, the longer it waits after a conflict
 * @throws if the outcome is unknown because the feed cannot be read, or if it is not committed
 */
export async function commit(table: Table, relocation: Relocation, attempts = 0): Promise<CommitResult> {
  const actions = actionsOf(relocation);
  const isCommitted = () => look(table, (table) => isInFeed(table, relocation));
  for (let attempt = attempts + 1; ; attempt += 1) {
    const result = await settle<TransactionResult>(table, {
      send: (table) => transactOnce(table, actions),
      look: async (table) => ((await isInFeed(table, relocation)) ? { outcome: 'applied' } : undefined),
    });
    switch (result.outcome) {
      case 'applied':
        return { outcome: 'committed' };
      case 'conflict':
      case 'throttled':
        try {
          await backoff(attempt, result.outcome === 'throttled' ? THROTTLED : CONTENDED, table.signal);
        } catch (error) {
          // The conflict may have been with an earlier attempt of this commit, whose reply was lost.
          if (await isCommitted()) return { outcome: 'committed' };
          throw error;
        }
        break;
      case 'changed':
        // Another commit may have taken this one's place in the order, or an earlier attempt of this one, whose reply was lost.
        if (await isCommitted()) return { outcome: 'committed' };
        return {
          outcome: 'changed',
          ...(result.stored && { order: mergeOrderOf([result.stored as Stored<'mergeOrder'>]) }),
        };
      case 'refused':
        if (relocation.large) throw result.error;
        return { outcome: 'too large' };
    }
  }
}

/** Whether the merge's own entry is in the feed. */
async function isInFeed(table: Table, { account, entry }: Relocation): Promise<boolean> {
  const row = await getRow(table, keys.feedEntry(account, entry.incident_id, entry.sequence), ['merge_id']);
  return row?.merge_id === entry.merge_id;
}
