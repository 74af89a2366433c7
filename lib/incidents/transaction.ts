import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../table/client.ts';
import { isThrottled } from '../table/failures.ts';

/** What one DynamoDB transaction holds. */
export const TRANSACTION_ITEMS = 100;

export type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * Outcome of a transaction. Unless `applied`, nothing is written:
 * - `changed`: a condition does not hold
 * - `conflict`: another transaction has one of the rows, or an earlier attempt of this one is running
 * - `throttled`: there were not enough write units
 * - `refused`: DynamoDB rejects it: it, or a resulting row, is too large
 */
export type TransactionResult =
  | { outcome: 'applied' | 'changed' | 'conflict' | 'throttled' }
  | { outcome: 'refused'; error: Error };

/** @throws errors that leave the outcome unknown, and bugs */
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

/** The worst of several reasons decides: a failed condition outweighs all others. */
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

/** Builds conditions and their values, name by name. */
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

/** Sets these fields of a row, and removes undefined ones. Names are aliased: some are reserved words. */
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
