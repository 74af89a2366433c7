/** The DynamoDB-compatible server behind the proxy: calls on it in the name of a caller, and what its rows weigh. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Item, itemBytes } from '../../../lib/table/item-size.ts';
import type { Send, WireAnswer } from '../dynamodb-proxy.ts';

/** The body of a call or an answer. */
// biome-ignore lint/suspicious/noExplicitAny: the wire's JSON, which the engine has checked or will check
export type Json = any;

/** The engine refused a call: its answer goes to the caller as it is. */
export class EngineRefusal extends Error {
  readonly answer: WireAnswer;
  constructor(answer: WireAnswer) {
    super(`the engine answered ${answer.status}`);
    this.answer = answer;
  }
}

/** A row of a table, by its key. */
export interface RowKey {
  readonly table: string;
  readonly key: Item;
}

const LARGEST_BATCH = 100;

/** Names of the key attributes of tables, which never change. */
export type KeyNames = Map<string, readonly string[]>;

/** @param known what further engines of this proxy have learnt of tables */
export function createEngine(send: Send, known: KeyNames) {
  async function call(action: string, request: Json): Promise<Json> {
    const answer = await send({ action, body: Buffer.from(JSON.stringify(request)) });
    if (answer.status !== 200) throw new EngineRefusal(answer);
    return JSON.parse(answer.body.toString());
  }

  /** Partition key first. */
  async function keyNames(table: string): Promise<readonly string[]> {
    let names = known.get(table);
    if (!names) {
      const { Table } = await call('DescribeTable', { TableName: table });
      const schema = Table.KeySchema as { AttributeName: string; KeyType: string }[];
      names = schema.sort((one) => (one.KeyType === 'HASH' ? -1 : 1)).map(({ AttributeName }) => AttributeName);
      known.set(table, names);
    }
    return names;
  }

  return {
    call,
    keyNames,
    /** The row that an item is, or is to be. */
    async rowOf(table: string, item: Item): Promise<RowKey> {
      const names = await keyNames(table);
      return { table, key: Object.fromEntries(names.map((name) => [name, item[name] as AttributeValue])) };
    },
    /** The partition key that a row belongs to. */
    async partitionOf({ table, key }: RowKey): Promise<string> {
      const [name = ''] = await keyNames(table);
      return partitionName(table, key[name]);
    },
    /** Bytes of each row as it is stored; 0 where there is none. */
    async storedBytes(rows: readonly RowKey[]): Promise<number[]> {
      const bytes = new Map<string, number>();
      for (let index = 0; index < rows.length; index += LARGEST_BATCH) {
        let left: Json = {};
        for (const { table, key } of rows.slice(index, index + LARGEST_BATCH)) {
          left[table] ??= { Keys: [], ConsistentRead: true };
          left[table].Keys.push(key);
        }
        while (Object.keys(left).length > 0) {
          const { Responses, UnprocessedKeys = {} } = await call('BatchGetItem', { RequestItems: left });
          for (const [table, items] of Object.entries<Item[]>(Responses ?? {}))
            for (const item of items) bytes.set(rowName(await this.rowOf(table, item)), itemBytes(item));
          left = UnprocessedKeys;
        }
      }
      return rows.map((row) => bytes.get(rowName(row)) ?? 0);
    },
  };
}

export type Engine = ReturnType<typeof createEngine>;

export const partitionName = (table: string, value: AttributeValue | undefined) =>
  `${table} ${Object.values(value ?? {})[0]}`;

/** Names a row among all. */
export const rowName = ({ table, key }: RowKey) =>
  `${table} ${Object.keys(key)
    .sort()
    .map((name) => JSON.stringify(key[name]))
    .join(' ')}`;
