/** What a page is made from. */

import type { AccountRow } from '../lib/accounts/rows.ts';
import type { Table } from '../lib/table/client.ts';

export interface View {
  readonly table: Table;
  readonly account: AccountRow;
  readonly nowMs: number;
  /** Of the address; a part without text is absent. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal;
  /** What the page has read so far costs, as a clause. */
  cost(): string;
  /** A command line of the operator's command, for the same table. */
  commandLine(words: string): string;
  /** Of the local merge queue; undefined: the queue is elsewhere. */
  deadLetters(): number | undefined;
}

/** What the page is about is not there. */
export class NotFound extends Error {}

/** US dollars for a read unit on demand, as in docs/performance.md. */
const READ_UNIT_DOLLARS = 0.125 / 1_000_000;

/** A client of the same table that counts the read units it uses. */
export function metered(table: Table): { table: Table; units(): number } {
  let units = 0;
  const send = async (command: { input: object }, ...rest: unknown[]) => {
    Object.assign(command.input, { ReturnConsumedCapacity: 'TOTAL' });
    const output = await (table.client.send as Send).call(table.client, command, ...rest);
    for (const { CapacityUnits = 0 } of [output.ConsumedCapacity ?? []].flat()) units += CapacityUnits;
    return output;
  };
  // The paginators ask for an instance of the client's class.
  return { table: { ...table, client: Object.create(table.client, { send: { value: send } }) }, units: () => units };
}

type Send = (...args: unknown[]) => Promise<Consumed>;
/** Of one call, or of each table of a call. */
interface Consumed {
  ConsumedCapacity?: { CapacityUnits?: number } | { CapacityUnits?: number }[];
}

export const costText = (units: number): string =>
  units === 0
    ? 'the server does not tell what it cost'
    : `${units.toLocaleString('en')} read units, about $${(units * READ_UNIT_DOLLARS).toFixed(7)} on demand`;
