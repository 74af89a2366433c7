/** The permissions that calls of DynamoDB require: actions on kinds of partition keys, as `infra/grants.ts` grants them. */
import { type FunctionName, GRANTS } from '../../../infra/grants.ts';
import { LEADING_KEYS } from '../../../infra/table-definition.ts';
import type { KeyKind } from '../../../lib/table/keys.ts';
import { partitionPlaceholder } from '../../table-double/client.ts';

/** A string in the form of the document client, or of the wire. */
type Text = string | { S: string };
interface Row {
  pk: Text;
}
interface Input {
  Key?: Row;
  Item?: Row;
  RequestItems?: Record<string, { Keys: Row[] }>;
  KeyConditionExpression?: string;
  ExpressionAttributeValues?: Record<string, unknown>;
  TransactItems?: Record<string, { Key?: Row; Item?: Row }>[];
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : (value as { S: string }).S);

function kindOf(pk: string): KeyKind {
  const found = Object.entries(LEADING_KEYS).find(([, pattern]) =>
    new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(pk),
  );
  if (!found) throw new Error(`no leading key fits ${pk}`);
  return found[0] as KeyKind;
}

/** The action and the partition key for each row that a call names. @param name the API's name of the call, such as `GetItem` */
function keyAccessesOf(name: string, input: Input): [action: string, pk: unknown][] {
  switch (name) {
    case 'GetItem':
    case 'UpdateItem':
      return [[name, input.Key?.pk]];
    case 'PutItem':
      return [[name, input.Item?.pk]];
    case 'Query':
      return [[name, input.ExpressionAttributeValues?.[partitionPlaceholder(input)]]];
    case 'BatchGetItem':
      return Object.values(input.RequestItems ?? {}).flatMap(({ Keys }) =>
        Keys.map(({ pk }): [string, unknown] => [name, pk]),
      );
    case 'TransactWriteItems':
      return (input.TransactItems ?? []).flatMap((item) =>
        Object.entries(item).map(([action, { Key, Item }]): [string, unknown] => [
          { Put: 'PutItem', Update: 'UpdateItem', ConditionCheck: 'ConditionCheckItem' }[action] ?? action,
          (Key ?? Item)?.pk,
        ]),
      );
    default:
      throw new Error(`the grants have no action for ${name}`);
  }
}

/** The permissions that a call requires, such as `GetItem on appKey`. */
export const requiredPermissions = (name: string, input: object): string[] =>
  keyAccessesOf(name, input).map(([action, pk]) => `${action} on ${kindOf(textOf(pk))}`);

/** A function's permissions. */
export const grantedTo = (name: FunctionName): Set<string> =>
  new Set(
    GRANTS[name].flatMap(({ actions, on }) => actions.flatMap((action) => on.map((kind) => `${action} on ${kind}`))),
  );
