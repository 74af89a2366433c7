/** What a page is made from. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import type { AccountRow } from '../../../lib/dynamodb/rows.ts';
import type { Feed } from '../feed/queues.ts';
import type { Measured } from '../status/measured.ts';
import { shellWord } from '../text/shell-word.ts';
import { copied, html, type Table as Rows } from './html.ts';

/** A table, and what only its surroundings know. */
export interface Source {
  readonly table: Table;
  /** Where that is, for the reader: service, stack or table, with its account and region on AWS. */
  target(): string;
  /** Whether it is on this machine, where nothing of a customer's can be broken. */
  readonly isLocal: boolean;
  /** Options by which a command of the operator's reaches the same table. */
  commandOptions(): string;
  /** How many messages the merge queue gave up; undefined: it is not known where the queue is. */
  deadLetters(): Promise<number | undefined>;
  /** Base address of the API; undefined: unknown. */
  url(): string | undefined;
  /** Undefined: nothing is known of the surroundings of the table. */
  measure(): Promise<Measured | undefined>;
  /** Absent, or undefined: as above. */
  feed?(): Feed | undefined;
}

export interface View extends Source {
  readonly account: AccountRow;
  readonly nowMs: number;
  /** Of the address; a part without text is absent. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal;
  /** By account id, what the last check that this console has run found, and a sentence about it. */
  readonly checks: Map<string, Pick<Rows, 'rows'> & { text: string }>;
  /** In every form: another page cannot send it. */
  readonly formToken: string;
  /** What the page has read so far costs, as a clause. */
  cost(): string;
}

/**
 * A command to copy.
 * @param stored a text from the table for its last argument: after `--` it is no option, whatever it begins with
 */
export const command = ({ commandOptions }: Pick<View, 'commandOptions'>, words: string, stored?: string) =>
  copied(
    html`npm run --silent admin -- ${words} ${commandOptions()}${stored !== undefined && ` -- ${shellWord(stored)}`}`,
  );

/** What the page is about is not there. */
export class NotFound extends Error {}
