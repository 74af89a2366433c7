/** Where `relay` sends: queues and the event bus, ten messages or events a call. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { PATIENT } from '../dynamodb/client.ts';
import { createHttpHandler } from '../dynamodb/http-handler.ts';
import { createSigner } from '../dynamodb/signer.ts';
import { chunksOf } from '../shared/chunks.ts';
import { stringifyJson } from '../shared/json.ts';
import { SERVICE } from '../shared/log.ts';
import type { ServiceEvent } from './event.ts';

/** Maximum messages or events of a call, for both services. Ten events of at most 16 KB each are far below their 256 KB. */
const MAX_BATCH = 10;

export interface Destinations {
  /** @returns for each message, in the same order, whether the queue took it */
  send(queueUrl: string, bodies: readonly string[]): Promise<boolean[]>;
  /** @returns for each event, in the same order, whether the bus took it */
  publish(events: readonly ServiceEvent[]): Promise<boolean[]>;
}

export interface DestinationOptions {
  eventBus: string;
  region: string;
  /** A server in place of EventBridge; SQS is then at the origin of a queue's URL. Absent: AWS. */
  endpoint?: string | undefined;
}

export function createDestinations({ eventBus, region, endpoint }: DestinationOptions): Destinations {
  const common = {
    region,
    maxAttempts: PATIENT.maxAttempts,
    ...(endpoint && { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  };
  const handler = () => createHttpHandler(PATIENT.timeouts);
  const queues: SQSClient = new SQSClient({
    ...common,
    requestHandler: handler(),
    signer: createSigner(() => queues.config, 'sqs'),
  });
  const bus: EventBridgeClient = new EventBridgeClient({
    ...common,
    ...(endpoint && { endpoint }),
    requestHandler: handler(),
    signer: createSigner(() => bus.config, 'events'),
  });

  /** A failed call counts as a failure of each message in it. */
  async function inCalls<One>(all: readonly One[], call: (some: readonly One[]) => Promise<boolean[]>) {
    const taken: boolean[] = [];
    for (const some of chunksOf(all, MAX_BATCH)) taken.push(...(await call(some).catch(() => some.map(() => false))));
    return taken;
  }

  return {
    send: (QueueUrl, bodies) =>
      inCalls(bodies, async (some) => {
        const Entries = some.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
        const { Successful = [] } = await queues.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
        const ids = new Set(Successful.map(({ Id }) => Id));
        return some.map((_, index) => ids.has(String(index)));
      }),
    publish: (events) =>
      inCalls(events, async (some) => {
        const entries = some.map(({ type, detail }) => ({
          EventBusName: eventBus,
          Source: SERVICE,
          DetailType: type,
          Time: new Date(Number(detail.at_ms)),
          Detail: stringifyJson(detail),
        }));
        const { Entries = [] } = await bus.send(new PutEventsCommand({ Entries: entries }));
        return some.map((_, index) => Entries[index]?.EventId !== undefined);
      }),
  };
}
