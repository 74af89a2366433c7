import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { toInt64 } from '../json.ts';
import type { Table } from './client.ts';

/** A part of one item collection. */
export interface Range {
  partition: string;
  /** Exclusive; absent: from the first row. */
  after?: string | undefined;
  /** Both inclusive; in place of `after`. */
  between?: readonly [from: string, to: string];
  limit: number;
}

export interface RangePage<Row> {
  /** In ascending order of their sort keys. */
  rows: Row[];
  /** The sort key that DynamoDB read up to; absent when no row is left in the range. */
  reached: string | undefined;
}

/** A row as DynamoDB's reply has it. */
type WireRow = Record<string, AttributeValue>;

/**
 * Reads a range, eventually consistent, and returns the requested attributes; `keyName` is the field for
 * the sort key. Rows are parsed from the reply's JSON in one pass: the SDK would copy each value twice.
 */
export async function queryRange<Row>(
  table: Table,
  { partition, after, between, limit }: Range,
  keyName: string,
  attributes: readonly string[],
  signal: AbortSignal,
): Promise<RangePage<Row>> {
  const command = new QueryCommand({
    TableName: table.name,
    KeyConditionExpression: between
      ? 'pk = :pk AND sk BETWEEN :from AND :to'
      : `pk = :pk${after === undefined ? '' : ' AND sk > :after'}`,
    ExpressionAttributeValues: {
      ':pk': { S: partition },
      ...(between && { ':from': { S: between[0] }, ':to': { S: between[1] } }),
      ...(!between && after !== undefined && { ':after': { S: after } }),
    },
    // Aliased: several names are reserved words.
    ProjectionExpression: ['sk', ...attributes.map((_name, index) => `#${index}`)].join(', '),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name, index) => [`#${index}`, name])),
    Limit: limit,
  });
  const items = extractItems(command, table);
  const { LastEvaluatedKey } = await table.client.send(command, { abortSignal: signal });
  return { rows: items().map((item) => plainRow(table, item, keyName) as Row), reached: LastEvaluatedKey?.sk?.S };
}

interface Reply {
  statusCode: number;
  body: unknown;
}

/**
 * Takes the items out of the reply before the SDK reads it; errors, retries and all else of the reply stay with the SDK.
 * @returns the items, once the command was sent
 */
function extractItems(command: QueryCommand, { client }: Table): () => WireRow[] {
  let taken: WireRow[] = [];
  command.middlewareStack.addRelativeTo(
    <Args, Result extends { response: unknown }>(next: (args: Args) => Promise<Result>) =>
      async (args: Args) => {
        const result = await next(args);
        const reply = result.response as Reply;
        if (reply.statusCode !== 200) return result;
        const bytes = reply.body instanceof Uint8Array ? reply.body : await client.config.streamCollector(reply.body);
        const { Items = [], ...rest } = parseReply(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
        taken = Items;
        reply.body = Buffer.from(JSON.stringify(rest));
        return result;
      },
    { name: 'extractItems', relation: 'after', toMiddleware: 'deserializerMiddleware' },
  );
  return () => taken;
}

function parseReply(bytes: Buffer): { Items?: WireRow[] } {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    // A truncated reply. The parser's error quotes it, so it is dropped.
    throw Object.assign(new Error('reply cut short'), { code: 'ECONNRESET' });
  }
}

/** An attribute that is null counts as absent. */
function plainRow(table: Table, item: WireRow, keyName: string): Record<string, unknown> {
  const row: Record<string, unknown> = { [keyName]: item.sk?.S };
  for (const name in item) {
    const value = item[name] as AttributeValue;
    if (name !== 'sk' && value.NULL === undefined) row[name] = plainValue(table, value);
  }
  return row;
}

function plainValue(table: Table, value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return /^-?\d+$/.test(value.N) ? toInt64(value.N) : Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  // Types that the service does not write are read like the document client does.
  return table.unmarshall<{ value: unknown }>({ value }).value;
}
