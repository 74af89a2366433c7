import { type MessageAttributeValue, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { batchesOf, forEach } from '../shared/concurrency.ts';
import { stringifyJson } from '../shared/json.ts';
import { optionsOf } from './http-handler.ts';
import { patientOptions, type Server } from './patient-client.ts';

/** Maximum number of messages in one call to SQS. */
export const MAX_BATCH = 10;
/** SQS's limit for one message, and for all messages of a call together. */
export const MAX_BATCH_BYTES = 2 ** 20;

/** Maximum number of concurrent calls: each has up to 1 MiB in memory, several times. */
const CONCURRENCY = 4;

export function createSqsClient(server: Server = {}): SQSClient {
  const client: SQSClient = new SQSClient(patientOptions('sqs', () => client.config, server));
  return client;
}

/** What SQS takes in bodies and attributes: the characters of XML. */
const REFUSED_CHARACTERS = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** The text with U+FFFD in place of each character that SQS refuses. */
export const sqsText = (text: string): string => text.replace(REFUSED_CHARACTERS, '\ufffd');

/** JSON in which the characters that SQS refuses, but JSON allows, are escaped. */
export const escapedForSqs = (json: string): string =>
  Buffer.byteLength(json) === json.length // ASCII, of which JSON has no other characters
    ? json
    : json.replace(REFUSED_CHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

/** The JSON text of a message, as SQS takes it. */
export const messageText = (value: unknown): string => escapedForSqs(stringifyJson(value));

export interface QueueMessage {
  readonly MessageBody: string;
  readonly MessageGroupId?: string | undefined;
  readonly MessageAttributes?: Record<string, MessageAttributeValue>;
}

/** The texts that count towards a message's size: body, and names, types and values of attributes. */
export const textsOf = ({ MessageBody, MessageAttributes = {} }: QueueMessage): string[] => [
  MessageBody,
  ...Object.entries(MessageAttributes).flatMap(([name, { DataType = '', StringValue = '' }]) => [
    name,
    DataType,
    StringValue,
  ]),
];

/** The bytes of a message as SQS counts them. */
export const sizeOf = (message: QueueMessage): number =>
  textsOf(message).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/**
 * Sends messages to a queue, several batches at a time.
 * @returns for each message, in the same order, whether the queue took it: none of a call that fails
 */
export async function sendMessages(
  client: SQSClient,
  QueueUrl: string,
  messages: readonly QueueMessage[],
  signal?: AbortSignal,
): Promise<boolean[]> {
  const taken = new Set<string | undefined>();
  const entries = messages.map((message, index) => ({ ...message, Id: String(index) }));
  await forEach(
    batchesOf(entries, sizeOf, { maxItems: MAX_BATCH, maxSize: MAX_BATCH_BYTES }),
    async (Entries) => {
      const call = client.send(new SendMessageBatchCommand({ QueueUrl, Entries }), optionsOf(signal));
      const { Successful = [] } = await call.catch(() => ({ Successful: [] }));
      for (const { Id } of Successful) taken.add(Id);
    },
    { concurrency: CONCURRENCY },
  );
  return messages.map((_, index) => taken.has(String(index)));
}
