import type {
  DynamoDBBatchResponse,
  DynamoDBRecord,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
} from 'aws-lambda';
import { messageText } from '../aws/sqs.ts';
import type { Deps } from '../deps.ts';
import { forEach, isUnavailable } from '../shared/concurrency.ts';
import { parseJson } from '../shared/json.ts';
import type { Key, Stored } from '../table/keys.ts';
import { type Change, changeOf, eventOf, type ServiceEvent } from './event.ts';

/** Sends payloads. @returns for each, in the same order, whether it was accepted */
type Send<Payload> = (payloads: Payload[]) => Promise<boolean[]>;

export interface RelayTargets {
  /** Takes the keys of large entries, merges and undos, for finish-merges. */
  readonly merges: Send<Key>;
  readonly events: Send<ServiceEvent>;
  /** Takes stream records that can never be relayed. */
  readonly deadLetters: Send<string>;
}

/** What to send, and the index of its stream record in the batch. */
type Outgoing<Payload> = { index: number; payload: Payload };

/**
 * Relays the table's stream: sends the keys of large entries, and events. If something cannot be sent, it reports the earliest stream
 * record concerned. Lambda then delivers that record and all later ones again, so that everything is sent at least once. A record that can
 * never be relayed, such as a malformed one, goes to the dead letters at once, since it would block its shard.
 */
export function createRelay({ table, log }: Pick<Deps, 'table' | 'log'>, targets: RelayTargets) {
  return async function relay({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
    const failed = new Set<number>();
    const mergeKeys: Outgoing<Key>[] = [];
    const events: Outgoing<ServiceEvent>[] = [];
    const deadLetters: Outgoing<string>[] = [];

    async function classify(record: DynamoDBRecord, index: number): Promise<void> {
      try {
        const change = changeOf(table, record);
        if (!change) return;
        const key = largeMergeKeyOf(change);
        if (key) mergeKeys.push({ index, payload: key });
        const event = await eventOf(table, change);
        if (event) events.push({ index, payload: event });
        const replacement = auditReplacementOf(change);
        if (replacement) log.error('audit entry replaced', replacement);
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

    async function sendAll<Payload>(outgoing: Outgoing<Payload>[], send: Send<Payload>): Promise<void> {
      // Restores the order of the stream, since the records were read concurrently.
      outgoing.sort((a, b) => a.index - b.index);
      const accepted = await send(outgoing.map(({ payload }) => payload));
      for (const [position, { index }] of outgoing.entries()) if (!accepted[position]) failed.add(index);
    }

    await forEach([...Records.entries()], ([index, record]) => classify(record, index));
    await Promise.all([
      sendAll(mergeKeys, targets.merges),
      sendAll(deadLetters, targets.deadLetters),
      sendAll(events, targets.events),
    ]);
    if (failed.size === 0) return { batchItemFailures: [] };
    log.warn('records to be relayed again', { records: failed.size });
    const first = Records[Math.min(...failed)]?.dynamodb?.SequenceNumber ?? '';
    return { batchItemFailures: [{ itemIdentifier: first }] };
  };
}

/** The key of the large entry that a change inserts, as finish-merges reads it; undefined if it inserts none. */
function largeMergeKeyOf({ record, kind, row }: Change): Key | undefined {
  const isLarge = kind === 'historyEntry' && (row as Stored<'historyEntry'>).large;
  return isLarge && record.eventName === 'INSERT' ? { pk: row.pk, sk: row.sk } : undefined;
}

/**
 * A finished entry of the audit and what replaces it, for the log; undefined if the change is no such write. No command makes one, but the
 * operator's policy cannot keep it from an operator, who must be able to add entries.
 */
function auditReplacementOf({ kind, account: account_id, row, before }: Change): Record<string, unknown> | undefined {
  const [is, was] = [row as Stored<'audit'>, before as Stored<'audit'> | undefined];
  if (kind !== 'audit' || !was || was.result === 'started') return undefined;
  const shown = ({ at_ms, by, command, target, result }: Stored<'audit'>) => ({ at_ms, by, command, target, result });
  return { account_id, id: was.id, was: shown(was), is: shown(is) };
}

/**
 * Publishes the events in messages. They have a queue of their own, since the stream's records come in order: while EventBridge is down,
 * an event that was retried from the stream would hold up the large merges behind it.
 */
export const createPublisher = (publish: Send<ServiceEvent>) =>
  async function publishEvents({ Records }: SQSEvent): Promise<SQSBatchResponse> {
    const accepted = await publish(Records.map(({ body }) => parseJson(body) as ServiceEvent));
    const failed = Records.filter((_, index) => !accepted[index]);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
