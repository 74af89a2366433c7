/** Transactions whose actions have names, so that what fails is told by name. */
import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Table } from './client.ts';
import { type Action, transact } from './write.ts';

/** The actions of a transaction, in their order. No name is a number: JavaScript would put it first. */
export type NamedActions<Name extends string = string> = Readonly<Partial<Record<Name, Action>>>;

export const actionsIn = (named: NamedActions): Action[] => Object.values(named) as Action[];

/** Like {@link transact}. @returns the first action whose condition does not hold; undefined when all are written */
export async function transactNamed<Name extends string>(
  table: Table,
  named: NamedActions<Name>,
): Promise<Name | undefined> {
  const failed = await transact(table, actionsIn(named));
  return failed === undefined ? undefined : (Object.keys(named)[failed] as Name);
}

/** The actions whose rows DynamoDB refuses, such as one above 400 KB. Empty if the error does not say which. */
export function refusedBy(error: Error, named: NamedActions): string[] {
  const { CancellationReasons: reasons = [] } = error as Partial<TransactionCanceledException>;
  return Object.keys(named).filter((_, index) => reasons[index]?.Code === 'ValidationError');
}
