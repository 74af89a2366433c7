import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import { createDeps } from '../lib/deps.ts';
import { createDestinations } from '../lib/events/destinations.ts';
import { eventMessage, mergeMessage } from '../lib/events/messages.ts';
import { createPublisher, createRelay } from '../lib/events/relay.ts';
import { optionalVariable, requiredVariable } from '../lib/shared/settings.ts';

const { send, publish } = createDestinations({
  eventBus: requiredVariable('EVENT_BUS'),
  region: requiredVariable('AWS_REGION'),
  endpoint: optionalVariable('EVENTS_ENDPOINT'),
});
const mergeQueueUrl = requiredVariable('MERGE_QUEUE_URL');
const eventsUrl = requiredVariable('EVENTS_URL');
const deadLettersUrl = requiredVariable('RELAY_DEAD_LETTERS_URL');

const relay = createRelay(await createDeps({ connections: 0, patient: true }), {
  merges: (keys) => send(mergeQueueUrl, keys.map(mergeMessage)),
  events: (events) => send(eventsUrl, events.map(eventMessage)),
  deadLetters: (bodies) =>
    send(
      deadLettersUrl,
      bodies.map((MessageBody) => ({ MessageBody })),
    ),
});
const publishEvents = createPublisher(publish);

/** Takes records of the table's stream, and messages of the queue of events. */
export const handler = (event: DynamoDBStreamEvent | SQSEvent) =>
  isOfQueue(event) ? publishEvents(event) : relay(event);

const isOfQueue = (event: DynamoDBStreamEvent | SQSEvent): event is SQSEvent =>
  event.Records[0]?.eventSource === 'aws:sqs';
