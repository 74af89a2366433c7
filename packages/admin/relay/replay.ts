/** Relays the records of `relay`'s dead letters again, while the stream still has them. */
import {
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord } from 'aws-lambda';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { parseKey } from '../../../lib/dynamodb/keys.ts';
import { createDestinations } from '../../../lib/events/destinations.ts';
import { writtenRowOf } from '../../../lib/events/event.ts';
import { createRelay } from '../../../lib/events/relay.ts';
import { clientConfig } from '../aws/client-config.ts';
import type { Audit } from '../cli/audited.ts';
import { streamRecord } from './stream-record.ts';

/** Time for which a dead letter is hidden from others while it is relayed. */
const HIDDEN_SECONDS = 300;
const LOOKED_AT_SECONDS = 30;

/** The stack's resources that a replay uses, from its outputs. */
export interface RelayPlace {
  readonly region: string;
  readonly eventBus: string;
  readonly mergeQueueUrl: string;
  readonly deadLettersUrl: string;
}

export interface Replayed {
  letters: number;
  /** Whose records are not in the stream any more, or were not taken again: they stay. */
  left: number;
}

/** The message that Lambda sends to a failure destination: it says where in the stream the records are, and does not contain them. */
interface BatchInfo {
  streamArn: string;
  shardId: string;
  startSequenceNumber: string;
  endSequenceNumber: string;
}
type Letter = { Records: DynamoDBRecord[] } | { DDBStreamBatchInfo: BatchInfo };

/**
 * @param audit of the accounts whose records they are; absent: counts the letters whose records are there
 * @throws what a call of AWS throws
 */
export async function replayRelay(table: Table, place: RelayPlace, audit?: Pick<Audit, 'around'>): Promise<Replayed> {
  const { region, eventBus, mergeQueueUrl, deadLettersUrl: QueueUrl } = place;
  const queues = new SQSClient(clientConfig(region));
  const streams = new DynamoDBStreamsClient(clientConfig(region));
  try {
    const letters = await take(queues, streams, QueueUrl, audit ? HIDDEN_SECONDS : LOOKED_AT_SECONDS);
    const there = letters.filter(({ records }) => records !== undefined);
    const result = { letters: letters.length, left: letters.length - there.length };
    if (!audit) return result;
    const rows = there.flatMap(({ records = [] }) => records.flatMap((record) => writtenRowOf(table, record) ?? []));
    const accounts = new Map(rows.flatMap((row) => parseKey(row)?.account ?? []).map((id) => [String(id), id]));
    const log = { info: nothing, warn: nothing, error: nothing };
    const destinations = createDestinations({ eventBus, region });
    const relay = createRelay({ table, log }, destinations, { merges: mergeQueueUrl, deadLetters: QueueUrl });
    await audit.around([...accounts.values()], `${there.length} dead letters`, async () => {
      for (const { ReceiptHandle, records = [] } of there)
        if ((await relay({ Records: records })).batchItemFailures.length > 0) result.left += 1;
        else await queues.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    });
    return result;
  } finally {
    queues.destroy();
    streams.destroy();
  }
}

/** All dead letters; nobody else receives them meanwhile. */
async function take(queues: SQSClient, streams: DynamoDBStreamsClient, QueueUrl: string, VisibilityTimeout: number) {
  const letters = new Map<string, { ReceiptHandle: string | undefined; records: DynamoDBRecord[] | undefined }>();
  const receive = { QueueUrl, VisibilityTimeout, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 };
  for (;;) {
    const { Messages = [] } = await queues.send(new ReceiveMessageCommand(receive));
    const fresh = Messages.filter(({ MessageId = '' }) => !letters.has(MessageId));
    if (fresh.length === 0) return [...letters.values()];
    for (const { MessageId = '', ReceiptHandle, Body = '' } of fresh)
      letters.set(MessageId, { ReceiptHandle, records: await recordsOf(streams, JSON.parse(Body) as Letter) });
  }
}

const nothing = () => undefined;

/** The records of a dead letter; undefined: the stream no longer has them. */
async function recordsOf(streams: DynamoDBStreamsClient, letter: Letter): Promise<DynamoDBRecord[] | undefined> {
  if ('Records' in letter) return letter.Records;
  const { streamArn: StreamArn, shardId: ShardId, startSequenceNumber, endSequenceNumber } = letter.DDBStreamBatchInfo;
  const start = {
    StreamArn,
    ShardId,
    ShardIteratorType: 'AT_SEQUENCE_NUMBER',
    SequenceNumber: startSequenceNumber,
  } as const;
  const records: DynamoDBRecord[] = [];
  try {
    let { ShardIterator } = await streams.send(new GetShardIteratorCommand(start));
    while (ShardIterator) {
      const { Records = [], NextShardIterator } = await streams.send(new GetRecordsCommand({ ShardIterator }));
      for (const record of Records.map(streamRecord)) {
        const number = BigInt(record.dynamodb?.SequenceNumber ?? '0');
        if (number > BigInt(endSequenceNumber)) return records;
        records.push(record);
        if (number === BigInt(endSequenceNumber)) return records;
      }
      ShardIterator = NextShardIterator;
    }
    return records;
  } catch (error) {
    if (error instanceof TrimmedDataAccessException) return undefined;
    throw error;
  }
}
