import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import QuickLRU from 'quick-lru';
import { forEach } from '../shared/concurrency.ts';
import type { Deps } from '../shared/deps.ts';
import type { Int64 } from '../shared/json.ts';
import { type Table, withSignal } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { getRow } from '../table/read.ts';
import type { Queues, Refusal } from './queues.ts';
import { type FeedRecord, MAX_LINES, recordOf } from './records.ts';
import { rowsOf } from './write-records.ts';

/** Milliseconds before the function's time-out at which writing ends, so that what failed can still be reported. */
const STOP_EARLY_MS = 5_000;
/** Maximum number of rows that are written concurrently. */
const CONCURRENCY = 32;
const MAX_KNOWN_ACCOUNTS = 10_000;
/** Seconds until a failed message is received again. They double with each failure, up to the maximum. */
const RETRY_DELAY = { first: 10, max: 900 } as const;

interface Message {
  messageId: string;
  receiptHandle: string;
  sentMs: number;
  /** How often the message was received, including this time. */
  receiveCount: number;
  /** The records, each with its line: the number, counting from 1, and the text. */
  records: Map<FeedRecord, { line: number; text: string }>;
  refusals: Refusal[];
  isFailed: boolean;
}

/**
 * Applies the records of a batch of messages of the ingest queue to the table. A record that can never be applied goes to the queue of
 * refused records. If one fails that may succeed later, its whole message fails, and is received again after a growing delay.
 */
export function createIngestRecords({ table, log, metrics }: Pick<Deps, 'table' | 'log' | 'metrics'>, queues: Queues) {
  /** Accounts that exist. The cache has no expiry, since accounts are never deleted. */
  const knownAccounts = new QuickLRU<string, true>({ maxSize: MAX_KNOWN_ACCOUNTS });

  async function hasAccount(table: Table, account: Int64): Promise<boolean> {
    const name = String(account);
    if (knownAccounts.has(name)) return true;
    const row = await getRow(table, keys.account(account), ['account_id']);
    if (row) knownAccounts.set(name, true);
    return row !== undefined;
  }

  return async function ingestRecords(
    event: SQSEvent,
    { getRemainingTimeInMillis }: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<SQSBatchResponse> {
    const signal = AbortSignal.timeout(Math.max(1, getRemainingTimeInMillis() - STOP_EARLY_MS));
    const tableWithSignal = withSignal(table, signal);
    const messages = event.Records.map(messageOf);
    const messageByRecord = new Map(
      messages.flatMap((message) => [...message.records.keys()].map((record) => [record, message])),
    );
    const counts = { records: messageByRecord.size, late: 0, refused: 0 };

    function refuse(record: FeedRecord, reason: string): void {
      const { messageId, sentMs, refusals, records } = messageByRecord.get(record) as Message;
      const { line, text } = records.get(record) as { line: number; text: string };
      refusals.push({ reason, message_id: messageId, sent_at_ms: sentMs, line, record: text });
    }
    /** How many records failed, by the name of the error. */
    const failures = new Map<string, number>();
    /** Fails the messages of records, whatever the error. They are received again, and become dead letters if the error persists. */
    function fail(records: readonly FeedRecord[], error: unknown): void {
      for (const record of records) (messageByRecord.get(record) as Message).isFailed = true;
      const { name } = error as Error;
      failures.set(name, (failures.get(name) ?? 0) + records.length);
    }

    const byAccount = Map.groupBy(messageByRecord.keys(), ({ entity }) => String(entity.account_id));
    const writable: FeedRecord[][] = [];
    await forEach(byAccount.values(), async (records) => {
      const account = (records[0] as FeedRecord).entity.account_id;
      try {
        signal.throwIfAborted();
        if (await hasAccount(tableWithSignal, account)) writable.push(records);
        else for (const record of records) refuse(record, `account ${account} does not exist`);
      } catch (error) {
        fail(records, error);
      }
    });
    await forEach(
      rowsOf(writable.flat()),
      async ({ records, write }) => {
        try {
          // After the signal, the client would take a millisecond to reject each call: for thousands of rows, more than the time left.
          signal.throwIfAborted();
          if (!(await write(tableWithSignal))) counts.late += records.length;
        } catch (error) {
          if ((error as Error).name !== 'ValidationException') fail(records, error);
          else {
            log.error('records refused by DynamoDB', { error_name: (error as Error).name, records: records.length });
            for (const record of records) refuse(record, 'cannot be stored');
          }
        }
      },
      { concurrency: CONCURRENCY },
    );

    for (const [error_name, records] of failures) log.warn('ingest failed', { error_name, records });
    const refusals = messages.flatMap((message) => (message.isFailed ? [] : message.refusals));
    counts.refused = refusals.length;
    await queues.refuse(refusals);
    metrics.records(counts);
    const failed = messages.filter(({ isFailed }) => isFailed);
    await queues
      .delay(failed.map(({ receiptHandle, receiveCount }) => ({ receiptHandle, seconds: delayAfter(receiveCount) })))
      // Messages that are not delayed are received again after the queue's visibility timeout.
      .catch((error: Error) => log.warn('messages not delayed', { error_name: error.name }));
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

const delayAfter = (receiveCount: number) => Math.min(RETRY_DELAY.max, RETRY_DELAY.first * 2 ** (receiveCount - 1));

function messageOf({ messageId, receiptHandle, body, attributes }: SQSRecord): Message {
  const sentMs = Number(attributes.SentTimestamp);
  const records: Message['records'] = new Map();
  const refusals: Refusal[] = [];
  const origin = { message_id: messageId, sent_at_ms: sentMs };
  const lines = body.split('\n');
  if (lines.length > MAX_LINES + Number(lines.at(-1) === ''))
    refusals.push({ reason: `has more than ${MAX_LINES} lines: send several messages`, ...origin, record: body });
  else
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue;
      const result = recordOf(line, sentMs);
      if ('record' in result) records.set(result.record, { line: index + 1, text: line });
      else refusals.push({ reason: result.problem, ...origin, line: index + 1, record: line });
    }
  const receiveCount = Number(attributes.ApproximateReceiveCount);
  return { messageId, receiptHandle, sentMs, receiveCount, records, refusals, isFailed: false };
}
