/** Requests to a table, and the rows that they read or write. */
import type { Item } from './values.ts';

/** A command of the document client: the name of its class, and its input. */
export interface Request {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: the inputs of all commands
  readonly input: any;
}

/** What a request reads or writes: a row; without `sk` a whole partition; without both keys the whole table. */
export interface Access {
  readonly pk?: string;
  readonly sk?: string;
  readonly write: boolean;
}

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

export interface Expressions {
  ConditionExpression?: string;
  FilterExpression?: string;
  KeyConditionExpression?: string;
  ProjectionExpression?: string;
  UpdateExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** One write or condition, of a transaction or a single request. */
export interface Write extends Expressions {
  Item?: Record<string, unknown>;
  Key?: Key;
  ReturnValues?: string;
  ReturnValuesOnConditionCheckFailure?: string;
}
export type ActionKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';

export interface Transaction {
  TransactItems: Partial<Record<ActionKind, Write>>[];
  ClientRequestToken?: string;
}

export interface KeysAndAttributes extends Expressions {
  Keys: Key[];
  ConsistentRead?: boolean;
}

export interface BatchWrite {
  PutRequest?: { Item: Item };
  DeleteRequest?: { Key: Key };
}

/** The placeholder of a query's partition key. @throws if the query has none */
export function partitionPlaceholder({ KeyConditionExpression = '' }: { KeyConditionExpression?: string }): string {
  const [, placeholder] = /^pk = (:\w+)/.exec(KeyConditionExpression) ?? [];
  if (placeholder === undefined) throw new Error(`no partition key in ${KeyConditionExpression}`);
  return placeholder;
}

export const isWrite = ({ name }: Request) => /^(Put|Update|Delete|BatchWrite|TransactWrite)/.test(name);

export function accessesOf({ name, input }: Request): Access[] {
  const row = ({ pk, sk }: Key, write: boolean): Access => ({ pk, sk, write });
  switch (name) {
    case 'GetCommand':
      return [row(input.Key, false)];
    case 'BatchGetCommand':
      return (Object.values(input.RequestItems) as KeysAndAttributes[]).flatMap(({ Keys }) =>
        Keys.map((key) => row(key, false)),
      );
    case 'QueryCommand':
      return [{ pk: String(input.ExpressionAttributeValues[partitionPlaceholder(input)]), write: false }];
    case 'ScanCommand':
      return [{ write: false }];
    case 'BatchWriteCommand':
      return (Object.values(input.RequestItems) as BatchWrite[][])
        .flat()
        .map(({ PutRequest, DeleteRequest }) => row((PutRequest?.Item ?? DeleteRequest?.Key) as Key, true));
    case 'TransactWriteCommand':
      return (input as Transaction).TransactItems.flatMap((action) =>
        Object.entries(action).map(([kind, { Key: key, Item: item }]) =>
          row((key ?? item) as Key, kind !== 'ConditionCheck'),
        ),
      );
    default:
      return [row(input.Key ?? input.Item, true)];
  }
}
