/** Sends messages to SQS queues. */
import { SQSClient } from '@aws-sdk/client-sqs';
import { createHttpHandler, createSigner, PATIENT } from '../table/client.ts';
import { stringifyJson } from './json.ts';

/** Maximum number of messages in one call to SQS. */
export const MAX_BATCH = 10;
/** A little less than SQS's limit of 1 MiB, which holds for one message and for all messages of a call together. */
export const MAX_BATCH_BYTES = 1_000_000;

/** Credentials for a local server, which checks none. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

export interface SqsOptions {
  /** Absent: that of the environment. */
  region?: string;
  /** A server in place of SQS; absent: AWS. */
  endpoint?: string | undefined;
}

export function createSqsClient({ region, endpoint }: SqsOptions = {}): SQSClient {
  const client: SQSClient = new SQSClient({
    maxAttempts: PATIENT.maxAttempts,
    requestHandler: createHttpHandler(PATIENT.timeouts),
    signer: createSigner(() => client.config, 'sqs'),
    ...(region && { region }),
    ...(endpoint && { endpoint, credentials: LOCAL_CREDENTIALS }),
  });
  return client;
}

/** The JSON text of a message. SQS refuses U+FFFE and U+FFFF, which JSON allows, so they are escaped. */
export const messageText = (value: unknown): string =>
  stringifyJson(value).replace(/[\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

interface Entry {
  /** Index of the message in the list that the batches were made from. */
  readonly Id: string;
  readonly MessageBody: string;
}

/** Splits messages into batches within SQS's limits. A message that is too large gets a batch of its own, which SQS refuses. */
export function messageBatches(bodies: readonly string[]): Entry[][] {
  const batches: Entry[][] = [];
  let batch: Entry[] = [];
  let bytes = 0;
  for (const [index, MessageBody] of bodies.entries()) {
    const size = Buffer.byteLength(MessageBody);
    if (batch.length === 0 || batch.length === MAX_BATCH || bytes + size > MAX_BATCH_BYTES) {
      batch = [];
      bytes = 0;
      batches.push(batch);
    }
    batch.push({ Id: String(index), MessageBody });
    bytes += size;
  }
  return batches;
}
