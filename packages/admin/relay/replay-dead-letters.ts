/** Relays the records of `relay`'s dead letters again, while the stream still has them. */

import { DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams';
import { type Message, SQS } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord } from 'aws-lambda';
import { sendMessages } from '../../../lib/aws/sqs.ts';
import { rowOf, type ServiceEvent } from '../../../lib/events/event.ts';
import { eventMessage, mergeMessage } from '../../../lib/events/messages.ts';
import { createRelay } from '../../../lib/events/relay.ts';
import { type Int64, parseJson } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { parseKey } from '../../../lib/table/keys.ts';
import type { RecordWrites } from '../accounts/audit-rows.ts';
import { clientConfig } from '../aws/client-config.ts';
import { SILENT } from '../silent.ts';
import { streamRecord } from './stream-record.ts';

/** Visibility timeout of the dead letters while they are relayed. */
const RELAY_SECONDS = 300;
/** Visibility timeout of the dead letters if they are only counted. */
const COUNT_SECONDS = 30;

/** The stack's resources that a replay uses, from its outputs. */
export interface RelayResources {
  readonly region: string | undefined;
  /** Only relay may publish on the bus: it publishes what this queue has. */
  readonly eventsUrl: string;
  readonly mergeQueueUrl: string;
  readonly deadLettersUrl: string;
}

/**
 * A message of the queue: a record that relay could not read, an event that the bus did not take, or, from Lambda, where in the stream
 * the records are that relay did not take.
 */
type Letter = { Records: DynamoDBRecord[] } | ServiceEvent | { DDBStreamBatchInfo: BatchInfo };

interface BatchInfo {
  streamArn: string;
  shardId: string;
  startSequenceNumber: string;
  endSequenceNumber: string;
}

/** Why a letter cannot be relayed. The message is in lower case and without a full stop. */
export class LetterError extends Error {
  override readonly name = 'LetterError';
}

/**
 * Relays each letter and deletes it; one that fails stays, and the others go on.
 * @param audited runs the replay, with audit rows of the accounts that the letters belong to; absent: nothing is relayed, the letters are only read
 */
export async function replayRelay(
  table: Table,
  { region, eventsUrl, mergeQueueUrl, deadLettersUrl: QueueUrl }: RelayResources,
  audited?: RecordWrites,
) {
  const queues = new SQS(clientConfig(region));
  const streams = new DynamoDBStreams(clientConfig(region));
  const sendEvents = (events: readonly ServiceEvent[]) => sendMessages(queues, eventsUrl, events.map(eventMessage));
  const relay = createRelay(
    { table, log: SILENT.log },
    {
      merges: (keys) => sendMessages(queues, mergeQueueUrl, keys.map(mergeMessage)),
      events: sendEvents,
      // What cannot be relayed stays in the letter that it is in.
      deadLetters: async (bodies) => bodies.map(() => false),
    },
  );
  /** Letters that stay in the queue, and why. */
  const left: { message_id: string; error: unknown }[] = [];
  /** Does a step for each letter. @returns the results; a letter for which it fails is left */
  async function forEachLetter<Item extends Message, Result>(items: Item[], step: (item: Item) => Promise<Result>) {
    const results: Result[] = [];
    for (const item of items)
      try {
        results.push(await step(item));
      } catch (error) {
        left.push({ message_id: item.MessageId ?? '', error });
      }
    return results;
  }

  try {
    const messages = await receiveAll(queues, QueueUrl, audited ? RELAY_SECONDS : COUNT_SECONDS);
    const available = await forEachLetter(messages, async (message) => {
      const { records, events } = await contentOf(streams, message.Body ?? '');
      const rows = records.flatMap((record) => rowOf(table, record.dynamodb?.NewImage) ?? []);
      const accounts = rows.flatMap((row) => parseKey(row)?.account ?? []);
      return { ...message, records, events, accounts: [...accounts, ...events.map(({ detail }) => detail.account_id)] };
    });
    const accounts = new Set(available.flatMap((letter) => letter.accounts as Int64[]));
    await audited?.([...accounts], `${available.length} dead letters`, () =>
      forEachLetter(available, async ({ ReceiptHandle, records, events }) => {
        const { batchItemFailures } = await relay({ Records: records });
        const sent = await sendEvents(events);
        if (batchItemFailures.length > 0 || sent.includes(false)) throw new LetterError('relaying failed again');
        await queues.deleteMessage({ QueueUrl, ReceiptHandle });
      }),
    );
    return { letters: messages.length, left };
  } finally {
    queues.destroy();
    streams.destroy();
  }
}

/** Receives all dead letters, which are hidden from others meanwhile. */
async function receiveAll(queues: SQS, QueueUrl: string, VisibilityTimeout: number): Promise<Message[]> {
  const messages = new Map<string, Message>();
  const receive = { QueueUrl, VisibilityTimeout, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 };
  for (;;) {
    const { Messages = [] } = await queues.receiveMessage(receive);
    const newMessages = Messages.filter(({ MessageId = '' }) => !messages.has(MessageId));
    if (newMessages.length === 0) return [...messages.values()];
    for (const message of newMessages) messages.set(message.MessageId ?? '', message);
  }
}

/** What to relay of a letter. @throws LetterError if the message has none, or the stream no longer has its records */
async function contentOf(streams: DynamoDBStreams, body: string) {
  let letter: Letter;
  try {
    letter = parseJson(body) as Letter;
    if ('detail' in letter) return { records: [], events: [letter] };
    if ('Records' in letter) return { records: [...letter.Records], events: [] };
    if (!('DDBStreamBatchInfo' in letter)) throw new Error('has none of the fields');
  } catch {
    throw new LetterError('it is no dead letter of relay');
  }
  const records = await readStream(streams, letter.DDBStreamBatchInfo).catch((error: Error) => {
    if (GONE.has(error.name)) return [];
    throw error;
  });
  if (records.length === 0) throw new LetterError('its changes are no longer in the stream');
  return { records, events: [] };
}

/** Names of the errors for a record, shard or stream that is no longer there. */
const GONE = new Set(['TrimmedDataAccessException', 'ResourceNotFoundException']);

async function readStream(streams: DynamoDBStreams, batch: BatchInfo): Promise<DynamoDBRecord[]> {
  const end = BigInt(batch.endSequenceNumber);
  const records: DynamoDBRecord[] = [];
  let { ShardIterator } = await streams.getShardIterator({
    StreamArn: batch.streamArn,
    ShardId: batch.shardId,
    ShardIteratorType: 'AT_SEQUENCE_NUMBER',
    SequenceNumber: batch.startSequenceNumber,
  });
  while (ShardIterator) {
    const { Records = [], NextShardIterator } = await streams.getRecords({ ShardIterator });
    for (const record of Records.map(streamRecord)) {
      const sequenceNumber = BigInt(record.dynamodb?.SequenceNumber ?? '0');
      if (sequenceNumber <= end) records.push(record);
      if (sequenceNumber >= end) return records;
    }
    ShardIterator = NextShardIterator;
  }
  return records;
}
