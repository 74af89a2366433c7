/** What a page is made from. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import type { AccountRow } from '../../../lib/dynamodb/rows.ts';
import type { Feed } from '../feed/queues.ts';
import type { Measured } from '../status/measured.ts';
import { shellWord } from '../text/shell-word.ts';
import { copied, html, type Table as Rows } from './html.ts';

/** A table, with the figures that are not in it. */
export interface Source {
  readonly table: Table;
  /** The table's location for the reader: service, stack or table, with account and region on AWS. */
  target(): string;
  /** Whether it is local, where no customer's data is at risk. */
  readonly isLocal: boolean;
  /** The options with which an admin command reaches the same table. */
  commandOptions(): string;
  /** Number of messages in the dead-letter queue of merges; undefined: the queue is unknown. */
  deadLetters(): Promise<number | undefined>;
  /** Base address of the API; undefined: unknown. */
  url(): string | undefined;
  /** Undefined: no figures are available. */
  measure(): Promise<Measured | undefined>;
  /** Absent, or undefined: as above. */
  feed?(): Feed | undefined;
}

export interface View extends Source {
  readonly account: AccountRow;
  readonly nowMs: number;
  /** The query of the address; empty parameters are absent. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal;
  /** The findings of this console's last check by account id, with a sentence about it. */
  readonly checks: Map<string, Pick<Rows, 'rows'> & { text: string }>;
  /** A token in every form, which pages of other origins do not know. */
  readonly formToken: string;
  /** The cost of the page's reads so far, as a clause. */
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

/** The subject of the page does not exist. */
export class NotFound extends Error {}
