import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import * as commands from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { SEED, seededRandom } from '../../../../test/support/chance.ts';
import { newTable } from '../../../../test/support/service.ts';
import { TABLE_NAME } from '../../simulation/double-client.ts';
import { partitionPlaceholder, type Request } from '../../simulation/requests.ts';
import { TableDouble } from '../../simulation/table-double.ts';
import { canonical, type Item, typeOf, type Value } from '../../simulation/values.ts';
import { everyRequest } from './every-request.ts';

/** Number of random requests, by the environment variable FAULTS. */
const REQUESTS: Readonly<Record<string, number>> = { quick: 300, ci: 20_000, full: 100_000 };
const count = Number(process.env.REQUESTS ?? REQUESTS[process.env.FAULTS ?? 'quick'] ?? 0);
/** Workers run concurrently, each on a table of its own. */
const WORKERS = count > 1_000 ? 8 : 2;

type Row = Record<string, Value>;
// biome-ignore lint/suspicious/noExplicitAny: the inputs and replies of all commands
type Unchecked = any;

/** Makes random requests: those of `everyRequest` with other keys and values. */
function generator({ requests, items }: Awaited<ReturnType<typeof everyRequest>>, random: () => number) {
  const pick = <Member>(all: readonly Member[]): Member => all[Math.floor(random() * all.length)] as Member;
  const chance = (share: number) => random() < share;
  const byShape = new Map<string, Request[]>();
  const add = (request: Request) => {
    const shape = shapeOf(request);
    byShape.set(shape, [...(byShape.get(shape) ?? []), request]);
  };
  for (const request of requests) {
    add(request);
    for (const action of request.input.TransactItems ?? []) add({ name: 'action', input: action });
  }
  /** Each has the requests, or the actions of transactions, of one shape. */
  const groups = [...byShape.values()];
  const actionGroups = groups.filter(([example]) => example?.name === 'action');
  const requestGroups = groups.filter(([example]) => example?.name !== 'action');
  const keys = [...new Map(items.map(({ pk, sk }): [string, Row] => [`${pk} ${sk}`, { pk, sk } as Row])).values()];
  const kinds = Map.groupBy(keys, ({ pk }) => String(pk).replace(/[0-9a-f]+/g, ''));
  const values = Map.groupBy(
    requests.flatMap(({ input }) => valuesIn(input)),
    typeOf,
  );

  /** A key of the same kind, or sometimes of any. */
  const anotherKey = (key: Row): Row =>
    chance(0.9) ? pick(kinds.get(String(key.pk).replace(/[0-9a-f]+/g, '')) ?? keys) : pick(keys);
  const variedValue = (value: Value): Value => (chance(0.7) ? value : pick(values.get(typeOf(value)) ?? [value]));
  const variedValues = (record: Row | undefined): Row | undefined =>
    record && Object.fromEntries(Object.entries(record).map(([name, value]) => [name, variedValue(value)]));

  function vary(input: Unchecked): Unchecked {
    const { Key, Item, ExpressionAttributeValues, KeyConditionExpression } = input;
    const key = Key && (chance(0.4) ? anotherKey(Key) : Key);
    return {
      ...input,
      ...(Key && { Key: key }),
      ...(Item && { Item: variedItem(Item) }),
      ...(ExpressionAttributeValues && {
        ExpressionAttributeValues:
          KeyConditionExpression === undefined
            ? variedValues(ExpressionAttributeValues)
            : { ...ExpressionAttributeValues, ...(chance(0.3) && { [partitionPlaceholder(input)]: pick(keys).pk }) },
      }),
      ...(KeyConditionExpression !== undefined && chance(0.3) && { Limit: pick([1, 2, 3]) }),
    };
  }
  /** Replaces an attribute name by one that every JavaScript object has. */
  function oddlyNamed(input: Unchecked): Unchecked {
    const { ExpressionAttributeNames: names } = input;
    if (!names || chance(0.7)) return input;
    const odd = { [pick(Object.keys(names))]: pick(['__proto__', 'toString']) };
    return { ...input, ExpressionAttributeNames: { ...names, ...odd } };
  }
  function variedItem({ pk, sk, ...rest }: Row): Row {
    const key = chance(0.3) ? anotherKey({ pk, sk } as Row) : { pk, sk };
    return { ...variedValues(rest), ...(chance(0.1) && { [pick(['__proto__', 'toString'])]: 'odd' }), ...key } as Row;
  }
  const variedAction = () =>
    Object.fromEntries(Object.entries(pick(pick(actionGroups)).input).map(([kind, write]) => [kind, vary(write)]));

  let lastTransaction: Request | undefined;
  return (): Request => {
    const { name, input } = pick(pick(requestGroups));
    if (name === 'BatchGetCommand') {
      const { Keys, ...rest } = input.RequestItems[TABLE_NAME];
      const varied = [...Keys, ...Keys].slice(0, 6).map((key: Row) => (chance(0.5) ? anotherKey(key) : key));
      return {
        name,
        input: {
          ...input,
          RequestItems: { [TABLE_NAME]: { ...rest, Keys: chance(0.95) ? distinct(varied) : varied } },
        },
      };
    }
    if (name === 'BatchWriteCommand') {
      const writes = input.RequestItems[TABLE_NAME]
        .slice(0, 6)
        .map((write: { PutRequest: { Item: Row } }) =>
          chance(0.3)
            ? { DeleteRequest: { Key: pick(keys) } }
            : { PutRequest: { Item: variedItem(write.PutRequest.Item) } },
        );
      return { name, input: { RequestItems: { [TABLE_NAME]: writes } } };
    }
    if (name !== 'TransactWriteCommand') return { name, input: oddlyNamed(vary(input)) };
    if (lastTransaction && chance(0.1)) return lastTransaction;
    const TransactItems = chance(0.4)
      ? Array.from({ length: 1 + Math.floor(random() * 4) }, variedAction)
      : input.TransactItems.map((action: Record<string, unknown>) =>
          Object.fromEntries(Object.entries(action).map(([kind, write]) => [kind, chance(0.7) ? write : vary(write)])),
        );
    // One action for each row: DynamoDB refuses two in several ways, and the service never sends them.
    const byKey = TransactItems.map((action: Record<string, Row>) => [
      canonical(keyOf(Object.values(action)[0] as Row)),
      action,
    ]);
    const token = `token ${random()}`.slice(0, 36);
    lastTransaction = { name, input: { TransactItems: [...new Map(byKey).values()], ClientRequestToken: token } };
    return lastTransaction;
  };
}

const keyOf = ({ Key, Item: { pk, sk } = {} as Row }: Record<string, unknown> & { Item?: Row }) => Key ?? { pk, sk };
const distinct = (keys: readonly Row[]) => [...new Map(keys.map((key) => [canonical(key), key])).values()];

/** The part of a request that the code determines; keys and values are data. */
function shapeOf({ name, input }: Request): string {
  const texts: string[] = [];
  JSON.stringify(input, (key, value) => {
    if (/Expression$|^Return/.test(key)) texts.push(`${key}: ${value}`);
    return key === 'Item' || key.endsWith('Values') ? undefined : typeof value === 'bigint' ? 0 : value;
  });
  return [name, Object.keys(input), ...texts].join('\n');
}

/** The values of placeholders and the attributes of rows. */
function valuesIn(input: Unchecked): Value[] {
  if (typeof input !== 'object' || input === null || input instanceof Uint8Array || input instanceof Set) return [];
  return Object.entries(input).flatMap(([name, value]) =>
    name === 'ExpressionAttributeValues' || name === 'Item'
      ? (Object.values(value as Row).filter((member) => member !== undefined) as Value[])
      : valuesIn(value),
  );
}

/** Sends a request that was made for the double to a table of DynamoDB Local. */
function sendTo(table: Table, { name, input }: Request): Promise<unknown> {
  const Command = (commands as unknown as Record<string, new (input: unknown) => never>)[name] as new (
    input: unknown,
  ) => never;
  return table.client.send(new Command(renamed(input, table.name)));
}

/** The input of a request to the double with the name of this table. */
function renamed(value: Unchecked, table: string): Unchecked {
  if (Array.isArray(value)) return value.map((member) => renamed(member, table));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof Set) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name === TABLE_NAME ? table : name,
      name === 'TableName' ? table : name === 'Item' || name.endsWith('Values') ? member : renamed(member, table),
    ]),
  );
}

/** The row in an error, without `__proto__`, which the SDK decodes wrongly there. */
function readable(row: Record<string, AttributeValue>) {
  const { ['__proto__']: _lost, ...rest } = row;
  return unmarshall(rest);
}

/** The parts of a reply or an error that the service may read. */
async function outcomeOf(reply: () => unknown): Promise<Unchecked> {
  try {
    const { Item, Items, Responses, Attributes, LastEvaluatedKey } = (await reply()) as Unchecked;
    const rows = Responses && (Object.values(Responses)[0] as Item[]).map(canonical).sort();
    return { Item, Items, rows, Attributes, LastEvaluatedKey };
  } catch (error) {
    const { name, Item, CancellationReasons, message } = error as Unchecked;
    if (!/Exception$/.test(name)) throw error;
    const reasons = CancellationReasons?.map(({ Code, Item: item }: Unchecked) => ({
      Code,
      item: item && readable(item),
    }));
    return { error: name, Item: Item && readable(Item), reasons, ...(process.env.VERBOSE && { message }) };
  }
}

describe(`the table double (SEED=${SEED})`, () => {
  it(
    'answers requests like those of the service as DynamoDB does, and then holds the same rows',
    async () => {
      const recorded = await everyRequest();
      const outcomes: Record<string, number> = {};
      await Promise.all(
        Array.from({ length: WORKERS }, async (_, worker) => {
          const next = generator(recorded, seededRandom(SEED + worker));
          const table = await newTable();
          const double = new TableDouble();
          for (const item of recorded.items) {
            const put = { name: 'PutCommand', input: { TableName: TABLE_NAME, Item: item } };
            double.apply(put);
            await sendTo(table, put);
          }
          for (let index = 0; index < count / WORKERS; index += 1) {
            const request = next();
            const [expected, actual] = [
              await outcomeOf(() => sendTo(table, request)),
              await outcomeOf(async () => double.apply(request)),
            ];
            if (canonical(actual) !== canonical(expected))
              expect({ request, outcome: actual }).toEqual({ request, outcome: expected });
            const kind = `${request.name} ${expected.error ?? 'ok'}`;
            outcomes[kind] = (outcomes[kind] ?? 0) + 1;
          }
          const rows: Value[] = [];
          for await (const { Items = [] } of commands.paginateScan({ client: table.client }, { TableName: table.name }))
            rows.push(...(Items as Item[]));
          const { Items: held } = double.apply({ name: 'ScanCommand', input: {} }) as { Items: Item[] };
          expect(held.map(canonical).sort()).toEqual(rows.map(canonical).sort());
          table.client.destroy();
        }),
      );
      if (process.env.VERBOSE) console.log(outcomes);
      for (const command of ['Get', 'BatchGet', 'Query', 'Put', 'Update', 'Delete', 'BatchWrite', 'TransactWrite'])
        expect(outcomes, command).toHaveProperty([`${command}Command ok`]);
      for (const refused of ['Put', 'Update'])
        expect(outcomes).toHaveProperty([`${refused}Command ConditionalCheckFailedException`]);
      expect(outcomes).toHaveProperty(['TransactWriteCommand TransactionCanceledException']);
    },
    20 * 60_000,
  );

  it('treats NULL as a value that exists', async () => {
    const table = await newTable();
    const double = new TableDouble();
    const Key = { pk: 'p', sk: 's' };
    const requests: Request[] = [
      { name: 'PutCommand', input: { TableName: TABLE_NAME, Item: { ...Key, a: null } } },
      {
        name: 'UpdateCommand',
        input: {
          TableName: TABLE_NAME,
          Key,
          UpdateExpression: 'SET a = if_not_exists(a, :0)',
          ExpressionAttributeValues: { ':0': 1 },
          ReturnValues: 'ALL_NEW',
        },
      },
    ];
    for (const request of requests)
      expect(await outcomeOf(async () => double.apply(request))).toEqual(await outcomeOf(() => sendTo(table, request)));
    table.client.destroy();
  });

  it.each([true, false])('reads a partition page by page (ScanIndexForward: %s)', async (ScanIndexForward) => {
    const table = await newTable();
    const double = new TableDouble();
    for (const sk of ['a', 'b', 'c']) {
      const put = { name: 'PutCommand', input: { TableName: TABLE_NAME, Item: { pk: 'p', sk } } };
      double.apply(put);
      await sendTo(table, put);
    }
    const query = {
      TableName: TABLE_NAME,
      KeyConditionExpression: 'pk = :0',
      ExpressionAttributeValues: { ':0': 'p' },
      Limit: 1,
      ScanIndexForward,
    };
    for (const after of ['a', 'b', 'c']) {
      const request = { name: 'QueryCommand', input: { ...query, ExclusiveStartKey: { pk: 'p', sk: after } } };
      expect(await outcomeOf(async () => double.apply(request))).toEqual(await outcomeOf(() => sendTo(table, request)));
    }
    table.client.destroy();
  });
});
