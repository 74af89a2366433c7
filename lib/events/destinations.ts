/** Sends what `relay` has found to queues and to the event bus. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { PATIENT } from '../dynamodb/client.ts';
import { createHttpHandler } from '../dynamodb/http-handler.ts';
import { createSigner } from '../dynamodb/signer.ts';
import { chunksOf } from '../shared/chunks.ts';
import { stringifyJson } from '../shared/json.ts';
import { SERVICE } from '../shared/log.ts';
import type { ServiceEvent } from './event.ts';

/** Maximum messages or events of a call, for both services. Ten events of at most 16 KB are far below the limit of 256 KB a call. */
const MAX_BATCH = 10;

export interface Destinations {
  /** @returns for each message, in the same order, whether the queue accepted it */
  send(queueUrl: string, bodies: readonly string[]): Promise<boolean[]>;
  /** @returns for each event, in the same order, whether the bus accepted it */
  publish(events: readonly ServiceEvent[]): Promise<boolean[]>;
}

export interface DestinationOptions {
  eventBus: string;
  region: string;
  /** A server in place of EventBridge and SQS; absent: AWS. */
  endpoint?: string | undefined;
}

export function createDestinations({ eventBus, region, endpoint }: DestinationOptions): Destinations {
  const common = {
    region,
    maxAttempts: PATIENT.maxAttempts,
    ...(endpoint && { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  };
  const queues: SQSClient = new SQSClient({
    ...common,
    requestHandler: createHttpHandler(PATIENT.timeouts),
    signer: createSigner(() => queues.config, 'sqs'),
  });
  const bus: EventBridgeClient = new EventBridgeClient({
    ...common,
    requestHandler: createHttpHandler(PATIENT.timeouts),
    signer: createSigner(() => bus.config, 'events'),
  });

  /** Sends items in batches. If the call of a batch fails, none of its items is accepted. */
  async function sendBatches<Item>(items: readonly Item[], sendBatch: (batch: readonly Item[]) => Promise<boolean[]>) {
    const accepted: boolean[] = [];
    for (const batch of chunksOf(items, MAX_BATCH))
      accepted.push(...(await sendBatch(batch).catch(() => batch.map(() => false))));
    return accepted;
  }

  return {
    send: (QueueUrl, bodies) =>
      sendBatches(bodies, async (batch) => {
        const Entries = batch.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
        const { Successful = [] } = await queues.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
        const ids = new Set(Successful.map(({ Id }) => Id));
        return batch.map((_, index) => ids.has(String(index)));
      }),
    publish: (events) =>
      sendBatches(events, async (batch) => {
        const entries = batch.map(({ type, detail }) => ({
          EventBusName: eventBus,
          Source: SERVICE,
          DetailType: type,
          Time: new Date(Number(detail.at_ms)),
          Detail: stringifyJson(detail),
        }));
        const { Entries = [] } = await bus.send(new PutEventsCommand({ Entries: entries }));
        return batch.map((_, index) => Entries[index]?.EventId !== undefined);
      }),
  };
}
