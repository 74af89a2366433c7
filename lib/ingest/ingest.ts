import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import { batchesOf } from '../shared/concurrency.ts';
import { withSignal } from '../table/client.ts';
import { createAcceptance } from './accounts.ts';
import { createLastRecords } from './last-records.ts';
import { type Message, messageOf } from './messages.ts';
import { type Deadlines, Portion } from './portion.ts';
import { MAX_RECORDS, type Queues } from './queues.ts';

/** Milliseconds before the function's time-out at which writing ends, and at which calls to the queues end. */
const STOP_EARLY_MS = { writing: 15_000, sending: 3_000 } as const;
/** Seconds until a failed message is received again. They double with each failure, up to the maximum; half of them is random. */
const RETRY_DELAY = { first: 10, max: 900 } as const;
/** A batch is applied in portions of about this many characters, to limit memory. Each line counts as some more. */
const PORTION = { characters: 1_000_000, perLine: 100 } as const;

/** What remains of a message after its portion, whose memory the next one takes. */
type FailedMessage = Pick<Message, 'messageId' | 'receiptHandle' | 'receives'>;

/**
 * Applies the records of a batch of messages of the ingest queue to the table. A record that cannot be applied as it is, or whose account
 * does not exist or is suspended, goes to the queue of refused records; one of an erased account goes nowhere. If applying one fails, its
 * whole message fails, and is received again after a growing delay.
 */
export function createIngestRecords(
  deps: Pick<Deps, 'table' | 'log' | 'metrics' | 'now' | 'monotonicNow' | 'settings'>,
  queues: Queues,
) {
  const { table, log, metrics, settings } = deps;
  const acceptanceOf = createAcceptance(deps);
  const noteLast = createLastRecords(deps);

  async function apply(messages: readonly Message[], deadlines: Deadlines): Promise<void> {
    const portion = new Portion(messages, { table, log, settings, queues, acceptanceOf }, deadlines);
    const records = await portion.acceptRecords();
    await portion.writeRows(records);
    await noteLast(withSignal(table, deadlines.writing), records, (record) => portion.messageOf(record).sentMs);
    await portion.sendRefusals();
    metrics.records(portion.counts);
  }

  /** Makes SQS wait before it delivers messages again. One that is not delayed is delivered after the queue's visibility timeout. */
  async function delay(failed: readonly FailedMessage[], sending: AbortSignal): Promise<void> {
    const delays = failed.map(({ receiptHandle, receives }) => ({ receiptHandle, seconds: delayAfter(receives) }));
    await queues
      .delay(delays, sending)
      .catch((error: Error) => log.warn('messages not delayed', { error_name: error.name }));
  }

  return async function ingestRecords(
    event: SQSEvent,
    { getRemainingTimeInMillis }: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<SQSBatchResponse> {
    const endOf = (what: keyof typeof STOP_EARLY_MS) =>
      AbortSignal.timeout(Math.max(1, getRemainingTimeInMillis() - STOP_EARLY_MS[what]));
    const deadlines = { writing: endOf('writing'), sending: endOf('sending') };
    const failed: FailedMessage[] = [];
    for (const records of batchesOf(event.Records, costOf, { maxSize: PORTION.characters })) {
      const messages = records.map(messageOf);
      await apply(messages, deadlines);
      for (const { messageId, receiptHandle, receives, failure } of messages) {
        if (!failure) continue;
        log.warn('ingest failed', { message_id: messageId, receives, ...failure });
        failed.push({ messageId, receiptHandle, receives });
      }
    }
    await delay(failed, deadlines.sending);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

function delayAfter(receives: number): number {
  const seconds = Math.min(RETRY_DELAY.max, RETRY_DELAY.first * 2 ** (receives - 1));
  return Math.ceil((seconds * (1 + Math.random())) / 2);
}

const costOf = ({ body }: SQSRecord) => body.length + PORTION.perLine * body.split('\n', MAX_RECORDS).length;
