import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { QueueMessage } from '../aws/sqs.ts';
import type { Deps } from '../deps.ts';
import { forEach } from '../shared/concurrency.ts';
import { exceededBound, type Int64 } from '../shared/json.ts';
import { type Table, withSignal } from '../table/client.ts';
import { accountsNamedBy, createStandings } from './accounts.ts';
import { MAX_DEPTH } from './check-line.ts';
import type { IngestRecord } from './kinds.ts';
import { createLastRecords } from './last-records.ts';
import { reasonOf } from './problems.ts';
import { MAX_RECORDS, type Queues } from './queues.ts';
import { recordOf } from './records.ts';
import { type MessageOrigin, refusalOf } from './refusals.ts';
import { byRow, writeAllButRefused } from './write-records.ts';

/** Milliseconds before the function's time-out at which writing ends, and at which calls to the queues end. */
const STOP_EARLY_MS = { table: 15_000, queues: 3_000 } as const;
/** Maximum number of rows that are written concurrently. One of a large record takes a hundred times the memory of its text. */
const CONCURRENCY = { small: 32, large: 2 } as const;
/** Characters of a large record. */
const LARGE = 8_192;
/** How many of the accounts that a refused text names are looked up, each by a read. */
const MAX_NAMED = 20;
/** Seconds until a failed message is received again. They double with each failure, up to the maximum; half of them is random. */
const RETRY_DELAY = { first: 10, max: 900 } as const;
/** A batch is applied in portions of about this many characters, to limit memory. Each line counts as some more. */
const PORTION = { characters: 1_000_000, perLine: 100 } as const;

interface Message extends MessageOrigin {
  receiptHandle: string;
  /** How often the message was received, including this time. */
  receives: number;
  lines: Map<IngestRecord, Line>;
  refusals: QueueMessage[];
  /** The name of the first error, and how many records failed. */
  failure?: { error_name: string; records: number };
}

/** A line of a message: its number, counting from 1, and its text. */
interface Line {
  message: Message;
  number: number;
  text: string;
}

/**
 * Applies the records of a batch of messages of the ingest queue to the table. A record that cannot be applied as it is, or whose account
 * does not exist or is suspended, goes to the queue of refused records; one of an erased account goes nowhere. If applying one fails, its
 * whole message fails, and is received again after a growing delay.
 */
export function createIngestRecords(
  deps: Pick<Deps, 'table' | 'log' | 'metrics' | 'now' | 'monotonicNow'>,
  queues: Queues,
) {
  const { table, log, metrics } = deps;
  const standingOf = createStandings(deps);
  const noteLast = createLastRecords(deps);

  /** Applies the records of some messages, and counts them. */
  async function apply(messages: readonly Message[], writing: AbortSignal, sending: AbortSignal) {
    const counts = { records: 0, late: 0, refused: 0, failed: 0 };
    const lines = new Map(messages.flatMap((message) => [...message.lines]));
    const lineOf = (record: IngestRecord) => lines.get(record) as Line;
    const fail = (message: Message, error_name: string) => {
      message.failure ??= { error_name, records: 0 };
      message.failure.records += 1;
      counts.failed += 1;
    };
    /** Runs `work` for records. If it fails, whatever the error, so do their messages. */
    async function attempt(records: readonly IngestRecord[], work: (table: Table) => Promise<void>): Promise<void> {
      try {
        // After the signal, the client would take a millisecond to reject each call: for thousands of rows, more than the time left.
        writing.throwIfAborted();
        await work(withSignal(table, writing));
      } catch (error) {
        for (const record of records) fail(lineOf(record).message, (error as Error).name);
      }
    }

    /** Leaves out what is of an erased account. */
    function drop(account: Int64, records: number): void {
      counts.refused += records;
      log.warn('records of an erased account dropped', { account_id: String(account), records });
    }

    const ofAccounts: IngestRecord[][] = [];
    const byAccount = Map.groupBy(lines.keys(), ({ entity }) => entity.account_id);
    await forEach(byAccount, ([account, records]) =>
      attempt(records, async (table) => {
        const standing = await standingOf(table, account);
        if (standing === 'accepted') ofAccounts.push(records);
        else if (standing === 'erased') drop(account, records.length);
        else for (const record of records) refuse(lineOf(record), standing.refusedSince);
      }),
    );
    const { small = [], large = [] } = Object.groupBy(byRow(ofAccounts.flat()), (records) =>
      records.some((record) => lineOf(record).text.length >= LARGE) ? 'large' : 'small',
    );
    const write = (records: readonly IngestRecord[]) =>
      attempt(records, async (table) => {
        const { isChanged, refused } = await writeAllButRefused(table, records);
        counts.records += records.length - refused.length;
        if (!isChanged) counts.late += records.length - refused.length;
        for (const record of refused) refuse(lineOf(record), 'DynamoDB cannot store it');
      });
    await forEach(small, write, { concurrency: CONCURRENCY.small });
    await forEach(large, write, { concurrency: CONCURRENCY.large });
    await noteLast(withSignal(table, writing), ofAccounts.flat(), (record) => lineOf(record).message.sentMs);

    // Also what cannot be read may be of an erased account.
    const named = messages.flatMap((message) =>
      message.refusals.map((refusal) => {
        const accounts = [...accountsNamedBy(refusal.MessageBody, message.group)].slice(0, MAX_NAMED);
        return { message, refusal, accounts };
      }),
    );
    const kept = new Set(named);
    await forEach(new Set(named.flatMap(({ accounts }) => accounts)), async (account) => {
      const ofAccount = named.filter(({ accounts }) => accounts.includes(account));
      try {
        if ((await standingOf(withSignal(table, writing), account)) !== 'erased') return;
        const dropped = ofAccount.filter((each) => kept.delete(each));
        if (dropped.length > 0) drop(account, dropped.length);
      } catch (error) {
        for (const { message } of ofAccount) fail(message, (error as Error).name);
      }
    });
    // The refusals of a message that failed are not sent, since each attempt would repeat them.
    const refusals = [...kept].filter(({ message }) => !message.failure);
    const taken = await queues.refuse(
      refusals.map(({ refusal }) => refusal),
      sending,
    );
    for (const [index, { message }] of refusals.entries())
      if (taken[index]) counts.refused += 1;
      else fail(message, 'RefusalNotSent');
    return counts;
  }

  return async function ingestRecords(
    event: SQSEvent,
    { getRemainingTimeInMillis }: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<SQSBatchResponse> {
    const endOf = (part: keyof typeof STOP_EARLY_MS) =>
      AbortSignal.timeout(Math.max(1, getRemainingTimeInMillis() - STOP_EARLY_MS[part]));
    const [writing, sending] = [endOf('table'), endOf('queues')];
    const failed: Pick<Message, 'messageId' | 'receiptHandle' | 'receives'>[] = [];
    for (const records of portionsOf(event.Records)) {
      const messages = records.map(messageOf);
      metrics.records(await apply(messages, writing, sending));
      for (const { messageId, receiptHandle, receives, failure } of messages) {
        if (!failure) continue;
        log.warn('ingest failed', { message_id: messageId, receives, ...failure });
        failed.push({ messageId, receiptHandle, receives });
      }
    }
    const delays = failed.map(({ receiptHandle, receives }) => ({ receiptHandle, seconds: delayAfter(receives) }));
    // Messages that are not delayed are received again after the queue's visibility timeout.
    await queues
      .delay(delays, sending)
      .catch((error: Error) => log.warn('messages not delayed', { error_name: error.name }));
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

function delayAfter(receives: number): number {
  const seconds = Math.min(RETRY_DELAY.max, RETRY_DELAY.first * 2 ** (receives - 1));
  return Math.ceil((seconds * (1 + Math.random())) / 2);
}

function* portionsOf(records: readonly SQSRecord[]): Generator<SQSRecord[]> {
  let portion: SQSRecord[] = [];
  let size = 0;
  for (const record of records) {
    const cost = record.body.length + PORTION.perLine * record.body.split('\n', MAX_RECORDS).length;
    if (size + cost > PORTION.characters && portion.length > 0) {
      yield portion;
      portion = [];
      size = 0;
    }
    portion.push(record);
    size += cost;
  }
  yield portion;
}

const refuse = ({ message, text, number }: Line, reason: string) =>
  message.refusals.push(refusalOf(text, reason, { ...message, line: number }));

function messageOf({ messageId, receiptHandle, body, attributes }: SQSRecord): Message {
  const origin = { messageId, sentMs: Number(attributes.SentTimestamp), group: attributes.MessageGroupId };
  const receives = Number(attributes.ApproximateReceiveCount);
  const message: Message = { ...origin, receiptHandle, receives, lines: new Map(), refusals: [] };
  const lines = isObjectOfLines(body) ? [{ message, number: 1, text: body }] : linesOf(body, message);
  if (lines.length === 0 || lines.length > MAX_RECORDS) {
    const reason = lines.length === 0 ? 'has no record' : `has more than ${MAX_RECORDS} records: send several messages`;
    message.refusals.push(refusalOf(body, reason, message));
  } else
    for (const line of lines) {
      const text = line.number === 1 ? withoutMark(line.text) : line.text;
      const result = recordOf(text, { ...origin, line: line.number });
      if ('record' in result) message.lines.set(result.record, line);
      else refuse(line, reasonOf(result.problems));
    }
  return message;
}

/** Without the byte order mark that a text may begin with. */
const withoutMark = (text: string) => text.replace(/^\ufeff/, '');

/** Whether the lines of a body are one JSON object together. */
function isObjectOfLines(body: string): boolean {
  if (!body.includes('\n') || exceededBound(body, { levels: MAX_DEPTH })) return false; // to parse deep nesting takes much memory
  try {
    // The text of several objects fails after the first one.
    const parsed: unknown = JSON.parse(withoutMark(body));
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

/** The lines that are not blank: all, or one more than a message may have. */
function linesOf(body: string, message: Message): Line[] {
  const lines: Line[] = [];
  for (let [start, number] = [0, 1]; start < body.length && lines.length <= MAX_RECORDS; number += 1) {
    const newline = body.indexOf('\n', start);
    const end = newline < 0 ? body.length : newline;
    const text = body.slice(start, end);
    if (text.trim() !== '') lines.push({ message, number, text });
    start = end + 1;
  }
  return lines;
}
