/** The DynamoDB-compatible server behind the proxy: sends calls with a caller's credentials, and measures rows. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Item, itemBytes } from '../../../lib/dynamodb/item-size.ts';
import type { Send, WireAnswer } from '../../local/dynamodb-proxy.ts';

/** The body of a call or an answer. */
// biome-ignore lint/suspicious/noExplicitAny: the wire's JSON, which the engine has checked or will check
export type Json = any;

/** The server refused a call: its answer is passed to the caller unchanged. */
export class EngineRefusal extends Error {
  readonly answer: WireAnswer;
  constructor(answer: WireAnswer) {
    super(`the engine answered ${answer.status}`);
    this.answer = answer;
  }
}

export interface Row {
  readonly table: string;
  readonly key: Item;
  /** Names it among all. */
  readonly name: string;
  /** `<table> <value of the partition key>`. */
  readonly partition: string;
}

const MAX_BATCH = 100;

/** The key attributes of tables, which never change. */
export type KeyNames = Map<string, readonly string[]>;

/** @param known what other instances for this proxy have learnt of tables */
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

  /** The row that an item or key identifies. */
  async function rowOf(table: string, item: Item): Promise<Row> {
    const names = await keyNames(table);
    const key = Object.fromEntries(names.map((name) => [name, item[name] as AttributeValue]));
    const [value] = Object.values(key);
    return { table, key, name: `${table} ${JSON.stringify(key)}`, partition: partitionName(table, value) };
  }

  return {
    call,
    keyNames,
    rowOf,
    /** @returns the bytes of each row as it is stored; 0 where there is none */
    async storedBytes(rows: readonly Row[]): Promise<(row: Row) => number> {
      const bytes = new Map<string, number>();
      for (let index = 0; index < rows.length; index += MAX_BATCH) {
        let left: Json = {};
        for (const { table, key } of rows.slice(index, index + MAX_BATCH)) {
          left[table] ??= { Keys: [], ConsistentRead: true };
          left[table].Keys.push(key);
        }
        while (Object.keys(left).length > 0) {
          const { Responses, UnprocessedKeys = {} } = await call('BatchGetItem', { RequestItems: left });
          for (const [table, items] of Object.entries<Item[]>(Responses ?? {}))
            for (const item of items) bytes.set((await rowOf(table, item)).name, itemBytes(item));
          left = UnprocessedKeys;
        }
      }
      return ({ name }) => bytes.get(name) ?? 0;
    },
  };
}

export type Engine = ReturnType<typeof createEngine>;

export const partitionName = (table: string, value: AttributeValue | undefined) =>
  `${table} ${Object.values(value ?? {})[0]}`;
