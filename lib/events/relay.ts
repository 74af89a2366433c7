import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { forEach } from '../shared/concurrency.ts';
import type { Deps } from '../shared/deps.ts';
import { messageText } from '../shared/sqs.ts';
import { type Key, parseKey, type Stored } from '../table/keys.ts';
import { isUnavailable } from '../table/retry.ts';
import type { Destinations } from './destinations.ts';
import { eventOf, type ServiceEvent, writtenRowOf } from './event.ts';

/** URLs of the queues to which `relay` sends. */
export interface RelayQueues {
  /** Takes the keys of the feed entries of large merges, for finish-merges. */
  merges: string;
  /** Takes stream records that can never be relayed. */
  deadLetters: string;
}

/** What to send, and the index of its stream record in the batch. */
type Outgoing<Payload> = { index: number; payload: Payload };

/**
 * Relays the table's stream: sends the keys of large feed entries to the merge queue, and publishes events on the bus. If something cannot
 * be sent, it reports the earliest stream record concerned. Lambda then delivers that record and all later ones again, so that everything is
 * sent at least once. A record that can never be relayed, such as a malformed one, goes to the dead letters at once, since it would block
 * its shard.
 */
export function createRelay(
  { table, log }: Pick<Deps, 'table' | 'log'>,
  { send, publish }: Destinations,
  queues: RelayQueues,
) {
  return async function relay({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
    const failed = new Set<number>();
    const mergeKeys: Outgoing<string>[] = [];
    const events: Outgoing<ServiceEvent>[] = [];
    const deadLetters: Outgoing<string>[] = [];

    async function classify(record: DynamoDBRecord, index: number): Promise<void> {
      try {
        const key = largeMergeKeyOf(table, record);
        if (key) mergeKeys.push({ index, payload: JSON.stringify(key) });
        const event = await eventOf(table, record);
        if (event) events.push({ index, payload: event });
      } catch (error) {
        const { name: error_name } = error as Error;
        if (isUnavailable(error)) {
          log.warn('record not relayed, will retry', { error_name });
          failed.add(index);
        } else {
          log.error('record cannot be relayed', { error_name, event_id: record.eventID });
          deadLetters.push({ index, payload: messageText({ Records: [record] }) });
        }
      }
    }

    async function sendAll<Payload>(
      outgoing: Outgoing<Payload>[],
      sendPayloads: (payloads: Payload[]) => Promise<boolean[]>,
    ): Promise<void> {
      // Restores the order of the stream, since the records were read concurrently.
      outgoing.sort((a, b) => a.index - b.index);
      const accepted = await sendPayloads(outgoing.map(({ payload }) => payload));
      for (const [position, { index }] of outgoing.entries()) if (!accepted[position]) failed.add(index);
    }

    await forEach([...Records.entries()], ([index, record]) => classify(record, index));
    await Promise.all([
      sendAll(mergeKeys, (bodies) => send(queues.merges, bodies)),
      sendAll(deadLetters, (bodies) => send(queues.deadLetters, bodies)),
      sendAll(events, publish),
    ]);
    if (failed.size === 0) return { batchItemFailures: [] };
    log.warn('records to be relayed again', { records: failed.size });
    const first = Records[Math.min(...failed)]?.dynamodb?.SequenceNumber ?? '';
    return { batchItemFailures: [{ itemIdentifier: first }] };
  };
}

/** The key of the large feed entry that a stream record inserts, as finish-merges reads it; undefined if it inserts none. */
function largeMergeKeyOf(table: Deps['table'], record: DynamoDBRecord): Key | undefined {
  const row = writtenRowOf(table, record) as Stored<'feedEntry'> | undefined;
  if (!row || record.eventName !== 'INSERT' || parseKey(row)?.kind !== 'feedEntry' || !row.large) return undefined;
  return { pk: row.pk, sk: row.sk };
}
