/** Reads and writes single rows. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { optionsOf, type Table } from './client.ts';
import { type Expression, expressionsOf, projection } from './expression.ts';
import type { AttributeOf, KeyOf, ReadRow, RowKind, Stored } from './keys.ts';

/** Reads a row, strongly consistent. @returns undefined when there is none */
export async function getRow<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  { client, name, signal }: Table,
  key: KeyOf<Kind>,
  /** Attributes to read; absent: all. */
  attributes?: readonly Name[],
): Promise<ReadRow<Kind, Name> | undefined> {
  const projected = attributes && expressionsOf({ ProjectionExpression: projection(attributes) });
  const command = new GetCommand({ TableName: name, Key: key, ConsistentRead: true, ...projected });
  const { Item } = await client.send(command, optionsOf(signal));
  return Item as ReadRow<Kind, Name> | undefined;
}

/** The outcome of a conditional write. */
export interface Written<Row> {
  /** Whether the condition held, so that the row was written. */
  done: boolean;
  /** Present if {@link Returned} asks for it. */
  row: Row | undefined;
}

/** Which rows a write returns: the new one after success, the stored one if the condition does not hold. */
export type Returned = Pick<UpdateCommandInput, 'ReturnValues' | 'ReturnValuesOnConditionCheckFailure'>;

/** Makes a write return the stored row if the condition does not hold. */
export const RETURN_STORED = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** Updates or creates a row if the condition holds. */
export function updateRow<Kind extends RowKind>(
  table: Table,
  key: KeyOf<Kind>,
  update: Expression,
  condition?: Expression,
  returned?: Returned,
): Promise<Written<Stored<Kind>>> {
  const expressions = expressionsOf({ UpdateExpression: update, ConditionExpression: condition });
  const command = new UpdateCommand({ TableName: table.name, Key: key, ...expressions, ...returned });
  return outcomeOf(table, table.client.send(command, optionsOf(table.signal)));
}

/** Creates or replaces a row if the condition holds. */
export function putRow<Kind extends RowKind>(
  table: Table,
  row: KeyOf<Kind> & Readonly<Record<string, unknown>>,
  condition?: Expression,
  returned?: Pick<Returned, 'ReturnValuesOnConditionCheckFailure'>,
): Promise<Written<Stored<Kind>>> {
  const expressions = expressionsOf({ ConditionExpression: condition });
  const command = new PutCommand({ TableName: table.name, Item: row, ...expressions, ...returned });
  return outcomeOf(table, table.client.send(command, optionsOf(table.signal)));
}

/** Deletes a row if the condition holds. */
export function deleteRow<Kind extends RowKind>(
  table: Table,
  key: KeyOf<Kind>,
  condition: Expression,
  returned?: Pick<Returned, 'ReturnValuesOnConditionCheckFailure'>,
): Promise<Written<Stored<Kind>>> {
  const expressions = expressionsOf({ ConditionExpression: condition });
  const command = new DeleteCommand({ TableName: table.name, Key: key, ...expressions, ...returned });
  return outcomeOf(table, table.client.send(command, optionsOf(table.signal)));
}

async function outcomeOf<Row>(
  { unmarshall }: Table,
  write: Promise<{ Attributes?: Record<string, unknown> | undefined }>,
): Promise<Written<Row>> {
  try {
    const { Attributes } = await write;
    return { done: true, row: Attributes as Row | undefined };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { done: false, row: error.Item && unmarshall<Row>(error.Item) };
  }
}
