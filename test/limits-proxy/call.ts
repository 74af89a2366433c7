/** A call that the proxy limits, and the DynamoDB-compatible server behind the proxy. All items of a call must be in one table. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Send, WireAnswer } from '../../packages/local/dynamodb-proxy.ts';
import type { Limits, Partitions } from './capacity.ts';
import { type Item, itemBytes } from './item-size.ts';

/** The body of a call or an answer. */
// biome-ignore lint/suspicious/noExplicitAny: the wire's JSON, which the server has checked or will check
export type Json = any;

export interface Call {
  readonly request: Json;
  readonly server: Server;
  readonly partitions: Partitions;
  /** Names of the rows that running transactions write. */
  readonly inTransaction: Set<string>;
  readonly limits: Limits;
}

export interface Row {
  readonly table: string;
  readonly key: Item;
  /** The table and the key. */
  readonly name: string;
  /** `<table> <value of the partition key>`. */
  readonly partition: string;
}

export const partitionName = (table: string, value: AttributeValue | undefined) =>
  `${table} ${Object.values(value ?? {})[0]}`;

/** The row that an item or its key identifies, in a table with the key attributes of the service's table. */
export function rowOf(table: string, { pk, sk }: Item): Row {
  const key = { pk, sk } as Item;
  return { table, key, name: `${table} ${JSON.stringify(key)}`, partition: partitionName(table, pk) };
}

/** The server refused a call. Its answer is passed to the caller unchanged. */
export class ServerRefusal extends Error {
  readonly answer: WireAnswer;
  constructor(answer: WireAnswer) {
    super(`the server answered ${answer.status}`);
    this.answer = answer;
  }
}

/** The server behind the proxy. @param send sends a call with the credentials of the caller */
export function connectServer(send: Send) {
  async function call(action: string, request: Json): Promise<Json> {
    const answer = await send({ action, body: Buffer.from(JSON.stringify(request)) });
    if (answer.status !== 200) throw new ServerRefusal(answer);
    return JSON.parse(answer.body.toString());
  }

  /** Reads up to 100 rows of one table. @returns a function that gives the stored bytes of a row, 0 if it does not exist */
  async function storedBytes(rows: readonly Row[]): Promise<(row: Row) => number> {
    const bytes = new Map<string, number>();
    const table = rows[0]?.table ?? '';
    let Keys = rows.map(({ key }) => key);
    while (Keys.length > 0) {
      const request = { RequestItems: { [table]: { Keys, ConsistentRead: true } } };
      const { Responses, UnprocessedKeys } = await call('BatchGetItem', request);
      for (const item of Responses[table]) bytes.set(rowOf(table, item).name, itemBytes(item));
      Keys = UnprocessedKeys?.[table]?.Keys ?? [];
    }
    return ({ name }) => bytes.get(name) ?? 0;
  }

  return { call, storedBytes };
}

type Server = ReturnType<typeof connectServer>;
