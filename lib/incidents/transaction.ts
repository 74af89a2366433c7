import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../table/client.ts';
import { isThrottled } from '../table/failures.ts';

/** What one DynamoDB transaction holds. */
export const TRANSACTION_ITEMS = 100;

export type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * How a transaction ended. But for `applied` nothing is written:
 * - `changed`: a condition does not hold
 * - `conflict`: another transaction has one of the rows, or this very one is still under way
 * - `throttled`: there were not enough write units
 * - `refused`: DynamoDB will not take it as it is: it, or one of the rows that it makes, is too large
 */
export type TransactionResult =
  | { outcome: 'applied' | 'changed' | 'conflict' | 'throttled' }
  | { outcome: 'refused'; error: Error };

/** @throws what leaves it open whether the transaction was applied, and what is a mistake of ours */
export async function transact(
  table: Table,
  actions: readonly Action[],
  signal?: AbortSignal,
): Promise<TransactionResult> {
  try {
    await table.client.send(
      new TransactWriteCommand({ TransactItems: [...actions] }),
      signal ? { abortSignal: signal } : {},
    );
    return { outcome: 'applied' };
  } catch (error) {
    const result = resultOf(error);
    if (!result) throw error;
    return result;
  }
}

/** The worst of several reasons decides: after a condition that does not hold nothing else matters. */
function resultOf(error: unknown): TransactionResult | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isThrottled(error)) return { outcome: 'throttled' };
  if (error.name === 'TransactionInProgressException') return { outcome: 'conflict' };
  if (error.name === 'ValidationException') return { outcome: 'refused', error };
  if (!(error instanceof TransactionCanceledException)) return undefined;
  const codes = new Set(error.CancellationReasons?.map(({ Code }) => Code));
  if (codes.has('ConditionalCheckFailed')) return { outcome: 'changed' };
  if (codes.has('ValidationError')) return { outcome: 'refused', error };
  if (codes.has('ThrottlingError') || codes.has('ProvisionedThroughputExceeded')) return { outcome: 'throttled' };
  if (codes.has('TransactionConflict')) return { outcome: 'conflict' };
  return undefined;
}

/** Conditions and their values, put together name by name. */
export class Condition {
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
export const valuesOf = (values: Record<string, unknown>) =>
  Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {};

/** Gives a row these fields, and takes those away that are undefined. Names go by alias: some are reserved words. */
export function updateOf(fields: Readonly<Record<string, unknown>>) {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const sets: string[] = [];
  const removes: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    names[`#${name}`] = name;
    if (value === undefined) removes.push(`#${name}`);
    else {
      sets.push(`#${name} = :${name}`);
      values[`:${name}`] = value;
    }
  }
  const clauses = [
    ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
    ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
  ];
  return { expression: { UpdateExpression: clauses.join(' '), ExpressionAttributeNames: names }, values };
}
