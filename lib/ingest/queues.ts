import { ChangeMessageVisibilityBatchCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createHttpHandler } from '../dynamodb/http-handler.ts';
import { createSigner } from '../dynamodb/signer.ts';
import { chunksOf } from '../shared/chunks.ts';
import { stringifyJson } from '../shared/json.ts';

/** A message of the queue of refused records. */
export interface Refusal {
  reason: string;
  /** Id of the message that contained the record. */
  message_id: string;
  sent_at_ms: number;
  /** The record's line in the message, from 1; absent if the whole message is refused. */
  line?: number;
  /** The record as received. */
  record: string;
  /** Present if `reason` and `record` are only beginnings, since all of them would be too large for a message. */
  cut?: true;
}

/** When a failed message is received again. */
export interface Delay {
  receiptHandle: string;
  seconds: number;
}

/** Calls of the queues of ingest-records. */
export interface Queues {
  /** Sends refused records to their queue. */
  refuse(refusals: readonly Refusal[]): Promise<void>;
  /** Sets when failed messages of the ingest queue are received again. */
  delay(delays: readonly Delay[]): Promise<void>;
}

const MAX_BATCH = 10;
/** SQS takes 1 MiB for all messages of a batch. A longer record is cut, since its beginning is enough to find it at its source. */
const MAX_BATCH_BYTES = 1_000_000;
/** A character of JSON text takes at most six bytes, and two texts are cut. */
const MAX_CUT_LENGTH = MAX_BATCH_BYTES / 12 - 1_000;
const TIMEOUTS = { connectionTimeout: 3_000, requestTimeout: 10_000 };

/** Both methods throw if a call fails, and `refuse` also if SQS does not take all messages. */
export function connectQueues(feedUrl: string, refusedUrl: string): Queues {
  // A local server checks no credentials.
  const local = refusedUrl.startsWith('http:') && {
    endpoint: new URL(refusedUrl).origin,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
  const client: SQSClient = new SQSClient({
    ...local,
    requestHandler: createHttpHandler(TIMEOUTS),
    signer: createSigner(() => client.config, 'sqs'),
  });

  return {
    async refuse(refusals) {
      const entries = refusals.map((refusal, index) => ({ Id: String(index), MessageBody: bodyOf(refusal) }));
      for (const Entries of batches(entries)) {
        const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: refusedUrl, Entries }));
        if (Failed.length > 0) throw new Error(`SQS did not take refused records: ${Failed[0]?.Code}`);
      }
    },
    async delay(delays) {
      for (const batch of chunksOf(delays, MAX_BATCH)) {
        const Entries = batch.map(({ receiptHandle: ReceiptHandle, seconds: VisibilityTimeout }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout,
        }));
        await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: feedUrl, Entries }));
      }
    },
  };
}

function bodyOf(refusal: Refusal): string {
  const body = stringifyJson(refusal);
  if (Buffer.byteLength(body) <= MAX_BATCH_BYTES) return body;
  const [reason, record] = [refusal.reason, refusal.record].map((text) => text.slice(0, MAX_CUT_LENGTH));
  return stringifyJson({ ...refusal, reason, record, cut: true });
}

function* batches<Entry extends { MessageBody: string }>(entries: readonly Entry[]): Generator<Entry[]> {
  let batch: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.MessageBody);
    if (batch.length === MAX_BATCH || (batch.length > 0 && bytes + size > MAX_BATCH_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(entry);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
