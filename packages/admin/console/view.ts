/** What the console's pages are made from. */

import type { AccountRow } from '../../../lib/model/account.ts';
import type { Table } from '../../../lib/table/client.ts';
import { listAppKeys } from '../accounts/accounts.ts';
import type { Finding } from '../check/finding.ts';
import type { IngestQueues } from '../ingest/queues.ts';
import type { Measured } from '../status/measured.ts';
import { type CommandArguments, commandText } from '../text/printable.ts';
import { beginningOf, copyable } from './html.ts';

/** What the console reads: the table, and what the table does not contain, such as figures of the service. */
export interface Source {
  readonly table: Table;
  /** Where the table is: the service, stack or table, and on AWS its account and region. */
  readonly target: string;
  /** Whether the table is on this machine, so that no customer's data is at risk. */
  readonly isLocal: boolean;
  /** The options with which an admin command reaches the same table, each word by itself. */
  readonly commandOptions: readonly string[];
  /** Number of messages in the dead-letter queue of merges; undefined: the queue is unknown. */
  deadLetters(): Promise<number | undefined>;
  /** Base address of the API; undefined: unknown. */
  readonly url: string | undefined;
  /** Reads the figures of the service; undefined: unknown. */
  readonly measure: (() => Promise<Measured>) | undefined;
  /** The feed's queues; undefined: unknown. */
  readonly ingestQueues: IngestQueues | undefined;
  now(): number;
  /** Called after a bug in the console, with printable lines that describe it. */
  onFailed(text: string): void;
}

export interface View extends Source {
  readonly account: AccountRow;
  readonly nowMs: number;
  /** The query of the address; empty parameters are absent. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal;
  /** The findings of the last check that this console ran, with a sentence about it, by account id. */
  readonly checks: Map<string, { findings: readonly Finding[]; text: string }>;
  /** A token in every form, which pages of other origins do not know. */
  readonly formToken: string;
  /** The cost of the page's reads so far, as a clause. */
  cost(): string;
}

/** A command to copy, for the table of the console. @param words its own words, none of which has blanks */
export const command = (
  view: Pick<View, 'commandOptions'>,
  words: string,
  { options = [], last }: CommandArguments = {},
) =>
  copyable(`npm run --silent admin -- ${commandText(words, { options: [...options, ...view.commandOptions], last })}`);

export class NotFound extends Error {}

/**
 * @returns a function that describes an actor: an app key of the account by its last digits and note, an operator or what
 * a record says as stored
 */
export async function nameCallers({ table, account }: View): Promise<(by: string) => string> {
  const keys = new Map((await listAppKeys(table, account)).map((key) => [key.app_key_id, key]));
  return (by) => {
    const key = keys.get(by);
    if (key) return `key ${by} (…${key.last_digits}${key.note ? `, ${beginningOf(key.note)}` : ''})`;
    return /^(operator |record: )/.test(by) ? by : `key ${by}`;
  };
}

type Send = (...args: unknown[]) => Promise<Consumed>;
/** DynamoDB's answer, with the capacity that the call used, or a list of it by table. */
interface Consumed {
  ConsumedCapacity?: { CapacityUnits?: number } | { CapacityUnits?: number }[];
}

/** The same table, with a count of the capacity units that its calls use. */
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
