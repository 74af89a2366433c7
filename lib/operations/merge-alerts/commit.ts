import { backoff, CONTENDED, THROTTLED } from '../../dynamodb/backoff.ts';
import type { Table } from '../../dynamodb/client.ts';
import { EXISTS, expression, IS_NEW, isAsRead, set } from '../../dynamodb/expression.ts';
import { type KeyOf, keys, type Stored } from '../../dynamodb/keys.ts';
import { forEach } from '../../dynamodb/pool.ts';
import { getRow } from '../../dynamodb/row.ts';
import { look, settle } from '../../dynamodb/settle.ts';
import {
  type Action,
  checkAction,
  putAction,
  type TransactionResult,
  transactOnce,
  updateAction,
} from '../../dynamodb/transact.ts';
import type { Int64 } from '../../shared/json.ts';
import type { FeedEntry, IncidentRow } from '../incident-rows.ts';
import { changeOf, largeEntryRows, smallEntryRow } from './feed.ts';
import { type MergeOrder, mergeOrderOf, orderActions } from './merge-order.ts';
import { type Decide, moveActions, type Placements, place } from './placement.ts';

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
  const { account, entry, alertIds, decide, placements, order, owner, idempotency, large } = relocation;
  const { moves, stayed } = place(alertIds, placements, decide);
  const rows = large ? largeEntryRows(account, entry, alertIds) : [smallEntryRow(account, entry, moves, stayed)];
  const actions = [
    ...rows.map((row) => putAction(row, IS_NEW)),
    ...orderActions(account, entry, order, large),
    ...incidentActions(relocation),
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

export type CommitResult =
  /** `relocation`: this attempt, or an earlier one. */
  | { outcome: 'committed'; relocation: Relocation }
  /** For one transaction: it must be made large. */
  | { outcome: 'too large' }
  /** Not committed. `order`: the merge order as it is now, if nothing else that it depends on has changed. */
  | { outcome: 'again'; order?: MergeOrder };

/**
 * Tries to commit an entry in one transaction, with its moves where it is small; waits where it has to be tried again. A lost reply
 * does not matter: the feed says whether it is committed.
 * @param tried earlier attempts, whose replies may have been lost, too; this one is added
 * @throws if the outcome is unknown because the feed cannot be read, or if it is not committed and the signal ends the wait
 */
export async function commit(table: Table, relocation: Relocation, tried: Relocation[]): Promise<CommitResult> {
  const { account, order, large } = relocation;
  tried.push(relocation);
  const actions = actionsOf(relocation);
  const find = () => look(table, (table) => findCommitted(table, account, tried));
  const committed = (found: Relocation): CommitResult => ({ outcome: 'committed', relocation: found });
  let found: Relocation | undefined = relocation;
  const send = () =>
    settle<TransactionResult>(table, {
      send: (table) => transactOnce(table, actions),
      async look(table) {
        found = await findCommitted(table, account, tried);
        return found && { outcome: 'applied' };
      },
    });

  let isRunning = false;
  for (;;) {
    const result = await send();
    // What is running may still be applied: until that is known, no other attempt may take its place.
    isRunning ||= result.outcome === 'in progress';
    if (result.outcome === 'applied') return committed(found ?? relocation);
    if (result.outcome === 'refused') {
      if (large) throw result.error;
      return { outcome: 'too large' };
    }
    const again: CommitResult = { outcome: 'again' };
    if (result.outcome !== 'changed') again.order = order;
    else {
      if (result.stored) again.order = mergeOrderOf([result.stored as Stored<'mergeOrder'>]);
      // Had one of them been committed, and only the merge order changed since, it would be a large one.
      found = result.stored && !isRunning && !tried.some(({ large }) => large) ? undefined : await find();
      if (found) return committed(found);
      isRunning = false;
    }
    try {
      await backoff(tried.length, result.outcome === 'throttled' ? THROTTLED : CONTENDED, table.signal);
    } catch (error) {
      found = await find();
      if (!found) throw error;
      return committed(found);
    }
    if (!isRunning) return again;
  }
}

/**
 * The attempt of a call whose entry is in the feed. By single reads: other reads may not show yet what a transaction has written
 * (Developer Guide, "Amazon DynamoDB Transactions: How it works", isolation levels).
 */
async function findCommitted(
  table: Table,
  account: Int64,
  tried: readonly Relocation[],
): Promise<Relocation | undefined> {
  let found: Relocation | undefined;
  await forEach(tried, async (one) => {
    const { incident_id: incidentId, sequence, merge_id } = one.entry;
    const row = await getRow(table, keys.feedEntry(account, incidentId, sequence), ['merge_id']);
    if (row?.merge_id === merge_id) found = one;
  });
  return found;
}
