import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { GetCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { isUnavailable } from '../table/failures.ts';
import { type Key, keys } from '../table/keys.ts';
import { type AlertRow, type FeedEntry, feedRows, type IncidentRow, type Move } from './feed.ts';
import { type Ledger, pendingAttribute, type Whereabouts } from './ledger.ts';
import { moveUpdate } from './move.ts';

/** What one DynamoDB transaction holds. */
export const TRANSACTION_ITEMS = 100;

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** An alert as it was read, and where it is for this merge. */
export interface SeenAlert {
  row: AlertRow;
  now: Whereabouts;
}

/** A merge, or its undoing, ready to be committed. */
export interface Relocation {
  account: Int64;
  entry: Omit<FeedEntry, 'parts' | 'pending'>;
  moves: Move[];
  stayed: string[];
  /** The alerts of `moves` and `stayed`, as read. */
  seen: ReadonlyMap<string, SeenAlert>;
  incident: IncidentRow;
  ledger: Ledger;
  /** Member that must still exist. */
  owner?: Int64;
  idempotency?: { key: Key; bodyHash: string; nowSeconds: number; ttl: number };
  /** The moves do not fit into the transaction that commits: they follow it. */
  large: boolean;
}

/** Whether a merge of so many alerts fits into the transaction that commits it. */
export function fitsOneTransaction(
  alerts: number,
  { owner, idempotency }: Pick<Relocation, 'owner' | 'idempotency'>,
  transactionItems: number,
): boolean {
  const others = 3 + (owner === undefined ? 0 : 1) + (idempotency ? 1 : 0); // entry, ledger, incident
  return alerts + others <= transactionItems;
}

/** Conditions and their values, put together name by name. */
class Condition {
  readonly values: Record<string, unknown> = {};
  /** `name` holds `value`; undefined: it is absent. */
  is(name: string, value: unknown): string {
    if (value === undefined) return `attribute_not_exists(${name})`;
    const placeholder = `:c${Object.keys(this.values).length}`;
    this.values[placeholder] = value;
    return `${name} = ${placeholder}`;
  }
}

/** The values of an expression, absent where it has none: DynamoDB refuses an empty map. */
const valuesOf = (values: Record<string, unknown>) =>
  Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {};

function ledgerAction(table: Table, { account, entry, ledger, large }: Relocation): Action {
  const condition = new Condition();
  const unchanged = large
    ? condition.is('#last', ledger.last) // reads all its alerts without conditions on them: nothing may come between
    : `(attribute_not_exists(#last) OR #last < :stamp) AND ${condition.is('last_large', ledger.lastLarge)}`;
  return {
    Update: {
      TableName: table.name,
      Key: keys.mergeLedger(account),
      UpdateExpression: large ? 'SET #last = :stamp, last_large = :stamp, #pending = :incident' : 'SET #last = :stamp',
      ConditionExpression: unchanged,
      ExpressionAttributeNames: { '#last': 'last', ...(large && { '#pending': pendingAttribute(entry.stamp) }) },
      ExpressionAttributeValues: {
        ...condition.values,
        ':stamp': entry.stamp,
        ...(large && { ':incident': entry.incident_id }),
      },
    },
  };
}

function incidentAction(table: Table, { account, entry, incident }: Relocation): Action {
  const condition = new Condition();
  const target = { TableName: table.name, Key: keys.incident(account, entry.incident_id) };
  const sets: string[] = [];
  const conditions = ['attribute_exists(pk)'];
  const values: Record<string, unknown> = {};
  if (entry.new_title !== undefined) {
    conditions.push(condition.is('title', incident.title));
    sets.push('title = :title');
    values[':title'] = entry.new_title;
  }
  if (entry.new_owner_id !== undefined) {
    conditions.push(condition.is('owner_id', incident.owner_id));
    sets.push('owner_id = :owner');
    values[':owner'] = entry.new_owner_id;
  }
  const ConditionExpression = conditions.join(' AND ');
  if (sets.length === 0) return { ConditionCheck: { ...target, ConditionExpression } };
  return {
    Update: {
      ...target,
      UpdateExpression: `SET ${sets.join(', ')}`,
      ConditionExpression,
      ...valuesOf({ ...condition.values, ...values }),
    },
  };
}

/** The alert is as it was read, or as a pending merge was about to leave it. */
function alertCondition({ row, now }: SeenAlert) {
  const condition = new Condition();
  const as = ({ incidentId, stamp }: Whereabouts) =>
    `(${condition.is('incident_id', incidentId)} AND ${condition.is('moved_stamp', stamp)})`;
  const read = as({ incidentId: row.incident_id, stamp: row.moved_stamp });
  const either = now.stamp === row.moved_stamp ? read : `(${read} OR ${as(now)})`;
  return { expression: `attribute_exists(pk) AND ${either}`, values: condition.values };
}

function alertActions(table: Table, { account, entry, moves, stayed, seen }: Relocation): Action[] {
  const target = (alertId: string) => ({ TableName: table.name, Key: keys.alert(account, alertId) });
  const conditionOf = (alertId: string) => {
    const alert = seen.get(alertId);
    if (!alert) throw new Error('an alert is to be moved that was not read');
    return alertCondition(alert);
  };
  const moving = moves.map((move): Action => {
    const { UpdateExpression, values } = moveUpdate(move, entry.stamp);
    const condition = conditionOf(move.alertId);
    return {
      Update: {
        ...target(move.alertId),
        UpdateExpression,
        ConditionExpression: condition.expression,
        ExpressionAttributeValues: { ...values, ...condition.values },
      },
    };
  });
  const staying = stayed.map((alertId): Action => {
    const condition = conditionOf(alertId);
    return {
      ConditionCheck: {
        ...target(alertId),
        ConditionExpression: condition.expression,
        ...valuesOf(condition.values),
      },
    };
  });
  return [...moving, ...staying];
}

function actionsOf(table: Table, relocation: Relocation): Action[] {
  const { account, entry, moves, stayed, owner, idempotency, large } = relocation;
  const rows = feedRows(account, { ...entry, ...(large && { pending: true as const }) }, moves, stayed);
  const actions: Action[] = rows.map((Item) => ({
    Put: {
      TableName: table.name,
      Item,
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }));
  actions.push(ledgerAction(table, relocation), incidentAction(table, relocation));
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
        Item: { ...idempotency.key, body_hash: idempotency.bodyHash, ttl: idempotency.ttl },
        ConditionExpression: 'attribute_not_exists(pk) OR #ttl <= :now',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':now': idempotency.nowSeconds },
      },
    });
  return large ? actions : [...actions, ...alertActions(table, relocation)];
}

/** How a commit ended: it stands, with its moves done or still to do; or something it relied on has changed. */
export type Outcome = 'moved' | 'pending' | 'changed';

/**
 * Commits a merge in one transaction: with its moves where they fit, otherwise with a mark that they are pending.
 * A reply that is lost does not matter: the entry in the feed tells whether the commit stands.
 */
export async function commit(table: Table, relocation: Relocation, signal?: AbortSignal): Promise<Outcome> {
  const done = relocation.large ? 'pending' : 'moved';
  try {
    await table.client.send(
      new TransactWriteCommand({ TransactItems: actionsOf(table, relocation) }),
      signal ? { abortSignal: signal } : {},
    );
    return done;
  } catch (error) {
    const canceled = error instanceof TransactionCanceledException && isChange(error);
    if (!canceled && !isUnavailable(error)) throw error;
    if (await stands(table, relocation, signal)) return done;
    if (canceled) return 'changed';
    throw error;
  }
}

const CHANGES = new Set(['ConditionalCheckFailed', 'TransactionConflict']);

/** Whether a cancelled transaction lost to another writer. */
function isChange({ CancellationReasons = [] }: TransactionCanceledException): boolean {
  const codes = CancellationReasons.map(({ Code = 'None' }) => Code).filter((code) => code !== 'None');
  return codes.length > 0 && codes.every((code) => CHANGES.has(code));
}

/** Milliseconds for a last look into the feed, when the time to answer is over. */
const LAST_LOOK_MS = 250;

/** Whether the merge's own entry is in the feed. */
async function stands(table: Table, { account, entry }: Relocation, signal: AbortSignal | undefined): Promise<boolean> {
  const look = async (abortSignal: AbortSignal): Promise<boolean> => {
    const { Item } = await table.client.send(
      new GetCommand({
        TableName: table.name,
        Key: keys.feedEntry(account, entry.incident_id, entry.stamp),
        ConsistentRead: true,
        ProjectionExpression: 'merge_id',
      }),
      { abortSignal },
    );
    return Item?.merge_id === entry.merge_id;
  };
  if (signal && !signal.aborted)
    try {
      return await look(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  return look(AbortSignal.timeout(LAST_LOOK_MS));
}
