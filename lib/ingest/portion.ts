/** Applies the records of some messages of the ingest queue to the table. */
import type { Deps } from '../deps.ts';
import { forEach } from '../shared/concurrency.ts';
import type { Int64 } from '../shared/json.ts';
import { type Table, withSignal } from '../table/client.ts';
import { type Acceptance, accountOfGroup, accountsOf } from './accounts.ts';
import { type Line, type Message, parsedLines, refuse } from './messages.ts';
import type { Queues } from './queues.ts';
import type { IngestRecord } from './records.ts';
import { byRow, writeAllButRefused } from './write-records.ts';

/** Maximum number of rows that are written concurrently. One takes a hundred times the memory of its record's text. */
const CONCURRENCY = 32;

export interface PortionDeps extends Pick<Deps, 'table' | 'log' | 'settings'> {
  readonly queues: Queues;
  /** What becomes of the records of an account. */
  acceptanceOf(table: Table, account: Int64): Promise<Acceptance>;
}

/** When calls to the table and to the queues end. */
export interface Deadlines {
  readonly writing: AbortSignal;
  readonly sending: AbortSignal;
}

/** Some messages and what has become of their records. The methods are called in their order here. */
export class Portion {
  readonly counts = { records: 0, late: 0, refused: 0, failed: 0 };
  readonly #messages: readonly Message[];
  readonly #lines: ReadonlyMap<IngestRecord, Line>;
  readonly #deps: PortionDeps;
  readonly #deadlines: Deadlines;

  constructor(messages: readonly Message[], deps: PortionDeps, deadlines: Deadlines) {
    this.#messages = messages;
    this.#lines = new Map(messages.flatMap((message) => [...message.lines]));
    this.#deps = deps;
    this.#deadlines = deadlines;
  }

  messageOf(record: IngestRecord): Message {
    return this.#lineOf(record).message;
  }

  /** The records of accounts that exist and are not suspended. Refuses or drops the others. */
  async acceptRecords(): Promise<IngestRecord[]> {
    const accepted: IngestRecord[][] = [];
    const byAccount = Map.groupBy(this.#lines.keys(), ({ sent }) => sent.account_id);
    await forEach(byAccount, ([account, records]) =>
      this.#attempt(records, async (table) => {
        const acceptance = await this.#deps.acceptanceOf(table, account);
        if (acceptance === 'accepted') accepted.push(records);
        else if (acceptance === 'erased') this.#drop(account, records.length);
        else for (const record of records) refuse(this.#lineOf(record), acceptance.refusedBecause);
      }),
    );
    return accepted.flat();
  }

  async writeRows(records: readonly IngestRecord[]): Promise<void> {
    const write = (ofRow: readonly IngestRecord[]) =>
      this.#attempt(ofRow, async (table) => {
        const { isChanged, refused } = await writeAllButRefused(table, ofRow, this.#deps.settings);
        const written = ofRow.length - refused.length;
        this.counts.records += written;
        if (!isChanged) this.counts.late += written;
        for (const record of refused) refuse(this.#lineOf(record), 'DynamoDB cannot store it');
      });
    await forEach(byRow(records), write, { concurrency: CONCURRENCY });
  }

  /** Sends what was refused to its queue, but for texts of an erased account. */
  async sendRefusals(): Promise<void> {
    const remaining = await this.#refusalsOfOthers();
    // The refusals of a message that failed are not sent, since each attempt would repeat them.
    const refusals = [...remaining].filter(({ message }) => !message.failure);
    const texts = refusals.map(({ refusal }) => refusal);
    const taken = await this.#deps.queues.refuse(texts, this.#deadlines.sending);
    for (const [index, { message }] of refusals.entries())
      if (taken[index]) this.counts.refused += 1;
      else this.#fail(message, 'RefusalNotSent');
  }

  /** The refusals that are not of one erased account alone. Drops the others. */
  async #refusalsOfOthers() {
    const read = this.#messages.flatMap((message) =>
      message.refusals.map((refusal) => {
        const [account, ...others] = accountsOf(parsedLines(refusal.MessageBody), accountOfGroup(message.group));
        return { message, refusal, account: others.length === 0 ? account : undefined };
      }),
    );
    const remaining = new Set(read);
    const table = withSignal(this.#deps.table, this.#deadlines.writing);
    await forEach(
      Map.groupBy(read, ({ account }) => account),
      async ([account, ofAccount]) => {
        if (account === undefined) return;
        try {
          if ((await this.#deps.acceptanceOf(table, account)) !== 'erased') return;
          for (const each of ofAccount) remaining.delete(each);
          this.#drop(account, ofAccount.length);
        } catch (error) {
          for (const { message } of ofAccount) this.#fail(message, (error as Error).name);
        }
      },
    );
    return remaining;
  }

  #lineOf(record: IngestRecord): Line {
    return this.#lines.get(record) as Line;
  }

  #fail(message: Message, error_name: string): void {
    message.failure ??= { error_name, records: 0 };
    message.failure.records += 1;
    this.counts.failed += 1;
  }

  /** Leaves out what is of an erased account. */
  #drop(account: Int64, records: number): void {
    this.counts.refused += records;
    this.#deps.log.warn('records of an erased account dropped', { account_id: String(account), records });
  }

  /** Runs `work` for records. If it fails, whatever the error, so do their messages. */
  async #attempt(records: readonly IngestRecord[], work: (table: Table) => Promise<void>): Promise<void> {
    const { writing } = this.#deadlines;
    try {
      // After the signal, the client would take a millisecond to reject each call: for thousands of rows, more than the time left.
      writing.throwIfAborted();
      await work(withSignal(this.#deps.table, writing));
    } catch (error) {
      for (const record of records) this.#fail(this.messageOf(record), (error as Error).name);
    }
  }
}
