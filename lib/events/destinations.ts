/** Sends messages to queues and events to the event bus, for `relay`. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { patientOptions, type Server } from '../aws/patient-client.ts';
import { createSqsClient, type QueueMessage, sendMessages } from '../aws/sqs.ts';
import { batchesOf } from '../shared/concurrency.ts';
import { stringifyJson } from '../shared/json.ts';
import { SERVICE } from '../shared/log.ts';
import type { ServiceEvent } from './event.ts';

/**
 * EventBridge's limits for a call; the entries together must be less than 256 KB. Source: EventBridge User Guide, "Calculating PutEvents event
 * entry size". A larger entry is sent alone: by newer announcements AWS takes up to 1 MB, and a refusal then concerns no other event.
 */
const CALL = { maxItems: 10, maxSize: 256 * 1024 - 1 } as const;
/** The bytes that EventBridge counts for the time of an entry. */
const TIME_BYTES = 14;

export function createDestinations({ eventBus, ...server }: { eventBus: string } & Server) {
  const sqs = createSqsClient(server);
  const eventBridge: EventBridgeClient = new EventBridgeClient(
    patientOptions('events', () => eventBridge.config, server),
  );

  // A failed call is not thrown, since others may have succeeded: none of its messages or events counts as accepted.
  return {
    /** @returns for each message, in the same order, whether the queue accepted it */
    send: (queueUrl: string, messages: readonly QueueMessage[]) => sendMessages(sqs, queueUrl, messages),
    /** @returns for each event, in the same order, whether the bus accepted it */
    async publish(events: readonly ServiceEvent[]): Promise<boolean[]> {
      const accepted: boolean[] = [];
      const entries = events.map(({ type, detail }) => ({
        EventBusName: eventBus,
        Source: SERVICE,
        DetailType: type,
        Time: new Date(Number(detail.at_ms)),
        Detail: stringifyJson(detail),
      }));
      for (const batch of batchesOf(entries, sizeOf, CALL)) {
        const call = eventBridge.send(new PutEventsCommand({ Entries: batch }));
        const { Entries = [] } = await call.catch(() => ({ Entries: [] }));
        accepted.push(...batch.map((_, index) => Entries[index]?.EventId !== undefined));
      }
      return accepted;
    },
  };
}

/** The size of an entry as EventBridge calculates it. */
const sizeOf = ({ Source, DetailType, Detail }: { Source: string; DetailType: string; Detail: string }) =>
  TIME_BYTES + Buffer.byteLength(Source) + Buffer.byteLength(DetailType) + Buffer.byteLength(Detail);
