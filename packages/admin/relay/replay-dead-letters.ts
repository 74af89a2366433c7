/** Relays the records of `relay`'s dead letters again, while the stream still has them. */
import { DynamoDBStreams, TrimmedDataAccessException } from '@aws-sdk/client-dynamodb-streams';
import { SQS } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord } from 'aws-lambda';
import { createDestinations } from '../../../lib/events/destinations.ts';
import { writtenRowOf } from '../../../lib/events/event.ts';
import { createRelay } from '../../../lib/events/relay.ts';
import type { Table } from '../../../lib/table/client.ts';
import { parseKey } from '../../../lib/table/keys.ts';
import { clientConfig } from '../aws/client-config.ts';
import type { Audit } from '../cli/audit-trail.ts';
import { SILENT } from '../silent.ts';
import { streamRecord } from './stream-record.ts';

/** Visibility timeout of the dead letters while they are relayed. */
const RELAY_SECONDS = 300;
/** Visibility timeout of the dead letters if they are only counted. */
const COUNT_SECONDS = 30;

/** The stack's resources that a replay uses, from its outputs. */
export interface RelayResources {
  readonly region: string;
  readonly eventBus: string;
  readonly mergeQueueUrl: string;
  readonly deadLettersUrl: string;
}

/**
 * A message of the queue. A letter that relay itself sent contains the records. One that Lambda sent, after its retries,
 * says only where in the stream they are.
 */
type Letter = { Records: DynamoDBRecord[] } | { DDBStreamBatchInfo: BatchInfo };

interface BatchInfo {
  streamArn: string;
  shardId: string;
  startSequenceNumber: string;
  endSequenceNumber: string;
}

/**
 * @param audit writes the audit rows of the accounts that the records belong to; absent: nothing is relayed, the
 *   letters are only counted
 * @returns `left`: letters that stay in the queue, since the stream no longer has their records, relaying failed
 *   again, or they are no letters
 */
export async function replayRelay(
  table: Table,
  { region, eventBus, mergeQueueUrl, deadLettersUrl: QueueUrl }: RelayResources,
  audit?: Pick<Audit, 'around'>,
): Promise<{ letters: number; left: number }> {
  const queues = new SQS(clientConfig(region));
  const streams = new DynamoDBStreams(clientConfig(region));
  try {
    const letters = await receiveAll(queues, streams, QueueUrl, audit ? RELAY_SECONDS : COUNT_SECONDS);
    const available = letters.filter(({ records }) => records !== undefined);
    const result = { letters: letters.length, left: letters.length - available.length };
    if (!audit) return result;
    const rows = available.flatMap(({ records = [] }) =>
      records.flatMap((record) => writtenRowOf(table, record) ?? []),
    );
    const accounts = new Set(rows.flatMap((row) => parseKey(row)?.account ?? []));
    const destinations = createDestinations({ eventBus, region });
    const urls = { merges: mergeQueueUrl, deadLetters: QueueUrl };
    const relay = createRelay({ table, log: SILENT.log }, destinations, urls);
    await audit.around([...accounts], `${available.length} dead letters`, async () => {
      for (const { ReceiptHandle, records = [] } of available)
        if ((await relay({ Records: records })).batchItemFailures.length > 0) result.left += 1;
        else await queues.deleteMessage({ QueueUrl, ReceiptHandle });
    });
    return result;
  } finally {
    queues.destroy();
    streams.destroy();
  }
}

/** Receives all dead letters, which are hidden from others meanwhile. */
async function receiveAll(queues: SQS, streams: DynamoDBStreams, QueueUrl: string, VisibilityTimeout: number) {
  const letters = new Map<string, { ReceiptHandle: string | undefined; records: DynamoDBRecord[] | undefined }>();
  const receive = { QueueUrl, VisibilityTimeout, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 };
  for (;;) {
    const { Messages = [] } = await queues.receiveMessage(receive);
    const newMessages = Messages.filter(({ MessageId = '' }) => !letters.has(MessageId));
    if (newMessages.length === 0) return [...letters.values()];
    for (const { MessageId = '', ReceiptHandle, Body = '' } of newMessages)
      letters.set(MessageId, { ReceiptHandle, records: await recordsOf(streams, Body) });
  }
}

/** The letter in a message; undefined: it has none. */
function letterOf(body: string): Letter | undefined {
  try {
    const letter = JSON.parse(body) as Letter;
    return 'Records' in letter || 'DDBStreamBatchInfo' in letter ? letter : undefined;
  } catch {
    return undefined;
  }
}

/** The records of a dead letter; undefined: the stream no longer has them, or the message is no letter. */
async function recordsOf(streams: DynamoDBStreams, body: string): Promise<DynamoDBRecord[] | undefined> {
  const letter = letterOf(body);
  if (!letter) return undefined;
  if ('Records' in letter) return letter.Records;
  const { streamArn, shardId, startSequenceNumber, endSequenceNumber } = letter.DDBStreamBatchInfo;
  const records: DynamoDBRecord[] = [];
  try {
    let { ShardIterator } = await streams.getShardIterator({
      StreamArn: streamArn,
      ShardId: shardId,
      ShardIteratorType: 'AT_SEQUENCE_NUMBER',
      SequenceNumber: startSequenceNumber,
    });
    while (ShardIterator) {
      const { Records = [], NextShardIterator } = await streams.getRecords({ ShardIterator });
      for (const record of Records.map(streamRecord)) {
        const sequenceNumber = BigInt(record.dynamodb?.SequenceNumber ?? '0');
        if (sequenceNumber > BigInt(endSequenceNumber)) return records;
        records.push(record);
        if (sequenceNumber === BigInt(endSequenceNumber)) return records;
      }
      ShardIterator = NextShardIterator;
    }
    return records;
  } catch (error) {
    if (error instanceof TrimmedDataAccessException) return undefined;
    throw error;
  }
}
