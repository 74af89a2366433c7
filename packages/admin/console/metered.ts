import type { Table } from '../../../lib/dynamodb/client.ts';

type Send = (...args: unknown[]) => Promise<Consumed>;
/** DynamoDB's answer, with the capacity of the call, or of each table in it. */
interface Consumed {
  ConsumedCapacity?: { CapacityUnits?: number } | { CapacityUnits?: number }[];
}

/** The same table, for calls whose capacity units are counted. */
export function metered(table: Table): { table: Table; units(): number } {
  let units = 0;
  const send = async (command: { input: object }, ...rest: unknown[]) => {
    Object.assign(command.input, { ReturnConsumedCapacity: 'TOTAL' });
    const output = await (table.client.send as Send).call(table.client, command, ...rest);
    for (const { CapacityUnits = 0 } of [output.ConsumedCapacity ?? []].flat()) units += CapacityUnits;
    return output;
  };
  // The paginators require an instance of the client's class.
  return { table: { ...table, client: Object.create(table.client, { send: { value: send } }) }, units: () => units };
}
