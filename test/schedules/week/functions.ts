/** The functions of a process of a week, as production builds them, on its table, clock and queues. */
import { randomUUID } from 'node:crypto';
import type { SQSEvent } from 'aws-lambda';
import { eventMessage, mergeMessage } from '../../../lib/events/messages.ts';
import { createPublisher, createRelay } from '../../../lib/events/relay.ts';
import { ApiError } from '../../../lib/http/errors.ts';
import { createIngestRecords } from '../../../lib/ingest/ingest.ts';
import { messagesOf } from '../../../lib/ingest/queues.ts';
import { type ListedOperation, operationIdOf } from '../../../lib/operations/index.ts';
import { createFinishMerges } from '../../../lib/operations/merge-alerts/finish.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { createHandlers } from '../../support/handlers.ts';
import { eventFor, invokeAlone, testDeps } from '../../support/service.ts';
import type { ClockPlan } from './plan.ts';
import type { Message } from './queues.ts';
import { type Answer, APP_KEYS, type World } from './world.ts';

/** A merge of more than two alerts is large. */
export const LIMITS = { transactionItems: 5 };
const SETTINGS = { feedItemsPer3Seconds: 4, feedItemsPerMinute: 8 };
export const CONTEXT = { getRemainingTimeInMillis: () => 60_000 };

export const sqsEvent = (messages: readonly Message[]): SQSEvent =>
  ({
    Records: messages.map(({ messageId, body, sentMs }) => ({
      ...{ messageId, body, receiptHandle: messageId },
      attributes: { SentTimestamp: String(sentMs), ApproximateReceiveCount: '1' },
    })),
  }) as unknown as SQSEvent;

export function createFunctions(world: World, table: Table, { aheadMs, isFrozen }: ClockPlan) {
  const { schedule, queues, bus, nowMs } = world;
  let offsetMs = aheadMs;
  const deps = testDeps(table, {
    now: () => nowMs() + offsetMs,
    monotonicNow: () => (isFrozen ? 0 : nowMs()),
    settings: SETTINGS,
  });
  const ingestQueue = {
    async send(lines: readonly string[]) {
      const taken = queues.feed.send(messagesOf(lines).map((MessageBody) => ({ MessageBody })));
      if (!taken.every(Boolean)) throw new ApiError('ServiceUnavailable');
    },
    refuse: async () => undefined,
  };
  const handlers = createHandlers(deps, { ...LIMITS, ingestQueue });
  const ingest = createIngestRecords(deps, {
    refuse: async (refusals) => queues.refused.send(refusals),
    delay: async () => undefined,
  });
  const relay = createRelay(deps, {
    merges: async (keys) => queues.merges.send(keys.map(mergeMessage)),
    events: async (events) => queues.events.send(events.map(eventMessage)),
    deadLetters: async (bodies) => bodies.map((body) => world.deadLetters.push(body) > 0),
  });
  const publish = createPublisher(async (events) => bus.publish(events));
  const finishMerges = createFinishMerges(deps, LIMITS.transactionItems);

  /** Calls an operation, and notes the call with its answer. */
  async function call(operation: ListedOperation, appKey: number, body: object, key?: string): Promise<void> {
    const headers = key === undefined ? undefined : { 'Idempotency-Key': key };
    const event = eventFor(operation, {
      appKey: APP_KEYS[appKey],
      rawBody: stringifyJson(body),
      ...(headers && { headers }),
    });
    const requestId = randomUUID();
    Object.assign(event.requestContext, { requestId, requestTimeEpoch: nowMs() });
    const { commits } = schedule;
    const answer: Answer = {
      ...{ operation: operation.name, requestId, appKey, fields: { ...body, key }, startMs: nowMs() },
      ...{ status: undefined, data: undefined, commits: [commits.length, Number.POSITIVE_INFINITY] },
    };
    world.answers.push(answer);
    const { status, body: envelope } = await invokeAlone(handlers[operationIdOf(operation.name)], event);
    if (status === 500) throw new Error(JSON.stringify(deps.log.lines.filter(({ level }) => level === 'error')));
    Object.assign(answer, { status, data: envelope.data, commits: [answer.commits[0], commits.length] });
  }

  function setClock(ms: number): void {
    if (!isFrozen) offsetMs = ms;
  }

  return { deps, setClock, call, ingest, relay, publish, finishMerges };
}
