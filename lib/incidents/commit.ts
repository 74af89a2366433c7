import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import { backoff, CONFLICT, THROTTLED } from '../table/backoff.ts';
import type { Table } from '../table/client.ts';
import { type Key, keys } from '../table/keys.ts';
import { look, type SendOptions, settle } from '../table/settle.ts';
import { changeOf, type FeedEntry, type IncidentRow, largeEntryRows, smallEntryRow } from './feed.ts';
import { largeAction, type MergeOrder, smallAction } from './merge-order.ts';
import { type Decide, moveAction, type Placements, type Placing, place, stayAction } from './placement.ts';
import { type Action, Condition, type TransactionResult, transact, updateOf } from './transaction.ts';

/** Records a call, so that repeating it does nothing. Times in Unix seconds. */
export interface Idempotency {
  key: Key;
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
  /** The shard of the merge order that a small one writes. */
  shard: number;
  /** Member that must exist. */
  owner?: Int64;
  idempotency?: Idempotency;
  /** The alerts are moved after the commit, not with it. */
  large: boolean;
}

/** Changes title and owner if they are as read: each entry records the previous ones. */
function incidentActions(table: Table, { account, entry, incident }: Relocation): Action[] {
  const { incident_id: incidentId, new_title: title, new_owner_id: owner_id } = entry;
  const changes = { ...(title !== undefined && { title }), ...(owner_id !== undefined && { owner_id }) };
  const names = Object.keys(changes) as (keyof typeof changes)[];
  if (names.length === 0) return [];
  const condition = new Condition();
  const isAsRead = [...names, 'last_change' as const, 'loaded_after' as const].map((name) =>
    condition.is(name, incident[name]),
  );
  const { expression, values } = updateOf({ ...changes, last_change: changeOf(entry) });
  return [
    {
      Update: {
        TableName: table.name,
        Key: keys.incident(account, incidentId),
        ...expression,
        ConditionExpression: ['attribute_exists(pk)', ...isAsRead].join(' AND '),
        ExpressionAttributeValues: { ...values, ...condition.values },
      },
    },
  ];
}

function alertActions(table: Table, { account, entry, placements }: Relocation, { moves, stayed }: Placing): Action[] {
  const placementOf = (alertId: string) => {
    const placement = placements.get(alertId);
    if (!placement) throw new Error('an alert is to be moved that was not read');
    return placement;
  };
  return [
    ...moves.map((move) => moveAction(table, account, entry.sequence, move, placementOf(move.alertId))),
    ...stayed.map((alertId) => stayAction(table, account, entry.sequence, alertId, placementOf(alertId))),
  ];
}

function actionsOf(table: Table, relocation: Relocation): Action[] {
  const { account, entry, alertIds, decide, placements, order, shard, owner, idempotency, large } = relocation;
  const placing = place(alertIds, placements, decide);
  const rows = large
    ? largeEntryRows(account, entry, alertIds)
    : [smallEntryRow(account, entry, placing.moves, placing.stayed)];
  const actions: Action[] = rows.map((Item) => ({
    Put: { TableName: table.name, Item, ConditionExpression: 'attribute_not_exists(pk)' },
  }));
  actions.push(
    large ? largeAction(table, account, entry, order) : smallAction(table, account, entry.sequence, order, shard),
    ...incidentActions(table, relocation),
  );
  if (owner !== undefined)
    actions.push({
      ConditionCheck: {
        TableName: table.name,
        Key: keys.member(account, owner),
        ConditionExpression: 'attribute_exists(pk)',
      },
    });
  if (idempotency)
    actions.push({
      Put: {
        TableName: table.name,
        Item: {
          ...idempotency.key,
          body_hash: idempotency.bodyHash,
          ttl: idempotency.ttl,
          incident_id: entry.incident_id,
          sequence: entry.sequence,
        },
        ConditionExpression: 'attribute_not_exists(pk) OR #ttl <= :now',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':now': idempotency.nowSeconds },
      },
    });
  return large ? actions : [...actions, ...alertActions(table, relocation, placing)];
}

/**
 * Outcome of a commit: committed; a row it depends on has changed; or too large for one transaction, so that it must be made
 * large.
 */
export type CommitOutcome = 'committed' | 'changed' | 'too large';

/**
 * Commits a merge in one transaction: with its moves where it is small. A conflict or throttling is tried again until the signal
 * ends it. A reply that is lost does not matter: the entry in the feed tells whether the commit stands.
 * @throws if the outcome is unknown because the feed cannot be read, or if it is not committed
 */
export async function commit(table: Table, relocation: Relocation, signal?: AbortSignal): Promise<CommitOutcome> {
  const actions = actionsOf(table, relocation);
  const isCommitted = () => look((options) => isInFeed(table, relocation, options), signal);
  for (let attempt = 1; ; attempt += 1) {
    const result = await settle<TransactionResult>(
      {
        send: ({ abortSignal }) => transact(table, actions, abortSignal),
        look: async (options) => ((await isInFeed(table, relocation, options)) ? { outcome: 'applied' } : undefined),
      },
      signal,
    );
    switch (result.outcome) {
      case 'applied':
        return 'committed';
      case 'conflict':
      case 'throttled':
        try {
          await backoff(attempt, result.outcome === 'throttled' ? THROTTLED : CONFLICT, signal);
        } catch (error) {
          // The conflict may have been with an earlier attempt of this commit, whose reply was lost.
          if (await isCommitted()) return 'committed';
          throw error;
        }
        break;
      case 'changed':
        return (await isCommitted()) ? 'committed' : 'changed';
      case 'refused':
        if (relocation.large) throw result.error;
        return 'too large';
    }
  }
}

/** Whether the merge's own entry is in the feed. */
async function isInFeed(table: Table, { account, entry }: Relocation, options: SendOptions): Promise<boolean> {
  const { Item } = await table.client.send(
    new GetCommand({
      TableName: table.name,
      Key: keys.feedEntry(account, entry.incident_id, entry.sequence),
      ConsistentRead: true,
      ProjectionExpression: 'merge_id',
    }),
    options,
  );
  return Item?.merge_id === entry.merge_id;
}
