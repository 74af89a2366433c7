/** The stack's SQS queues, in memory, and the functions that receive their messages. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { SQSBatchResponse } from 'aws-lambda';
import { createRequestHandler } from 'local-aws-sqs';
import { MAX_BATCH_BYTES, type QueueMessage, sizeOf, sqsText, textsOf } from '../../lib/aws/sqs.ts';
import type { Invoke } from './local-functions.ts';
import { resourcesOf, type Template } from './template.ts';

/** A queue of the template. */
interface QueueSettings {
  readonly name: string;
  /** By the names that SQS gives them. */
  readonly attributes: Readonly<Record<string, number | string>>;
}

/** An event source mapping from a queue to a function. */
export interface EventSource {
  readonly queue: string;
  readonly functionName: string;
  readonly batchSize: number;
  /** Seconds for which messages are collected after the first of a batch. */
  readonly windowSeconds: number;
  /** Maximum concurrent calls. */
  readonly concurrency: number;
  /** Whether the function reports which messages of a batch failed; otherwise the whole batch fails. */
  readonly reportsFailures: boolean;
}

const ACCOUNT = '000000000000';
const REGION = 'local';
/** Seconds of a long poll, as Lambda makes it. */
const MAX_WAIT_SECONDS = 20;

/** The local name of a queue: its logical id without the hash that the CDK appends. */
export const queueName = (logicalId: string) => logicalId.replace(/[\dA-F]{8}$/, '');

export const queuesOf = (template: Template): QueueSettings[] =>
  Object.entries(resourcesOf(template, 'AWS::SQS::Queue')).map(([id, { Properties }]) => {
    const { RedrivePolicy: redrive, ...attributes } = Properties;
    if (!redrive) return { name: queueName(id), attributes };
    const deadLetters = queueName(redrive.deadLetterTargetArn['Fn::GetAtt'][0]);
    const deadLetterTargetArn = `arn:aws:sqs:${REGION}:${ACCOUNT}:${deadLetters}`;
    return {
      name: queueName(id),
      attributes: { ...attributes, RedrivePolicy: JSON.stringify({ ...redrive, deadLetterTargetArn }) },
    };
  });

/** @param functionName gives the name for a function's logical id */
export const eventSourcesOf = (template: Template, functionName: (id: string) => string): EventSource[] =>
  Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping'))
    .filter(({ Properties }) => !('StartingPosition' in Properties)) // only the mapping of the stream has one
    .filter(({ Properties }) => Properties.Enabled !== false)
    .map(({ Properties }) => ({
      queue: queueName(Properties.EventSourceArn['Fn::GetAtt'][0]),
      functionName: functionName(Properties.FunctionName.Ref),
      batchSize: Properties.BatchSize,
      windowSeconds: Properties.MaximumBatchingWindowInSeconds ?? 0,
      concurrency: Properties.ScalingConfig.MaximumConcurrency,
      reportsFailures: Properties.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
    }));

/** Called when a function failed, with the bodies of its messages. */
type OnFailed = (error: Error, bodies: readonly string[]) => void;

/**
 * Makes the queues. SQS clients reach them by the JSON protocol, which AWS SDKs use since 2023.
 * @param port of the server that passes requests to `answer`; it is part of the queues' URLs
 */
export function createQueues(settings: readonly QueueSettings[], port = 0) {
  const { service, requestHandler } = createRequestHandler({
    port,
    hostname: '127.0.0.1',
    region: REGION,
    accountId: ACCOUNT,
    validateDlqDestination: false, // the template may list a queue before its dead-letter queue
    queues: settings.map(({ name, attributes }) => ({ QueueName: name, Attributes: attributes })),
  });
  for (const queue of service.Queues) correctCount(queue);
  const stops: (() => Promise<void>)[] = [];
  const received = new Map<string, Received>();

  function queueOf(name: string) {
    const queue = service.Queues.find(({ QueueName }) => QueueName === name);
    if (!queue) throw new Error(`there is no queue ${name}`);
    return queue;
  }

  return {
    /**
     * Answers a request if it is a call to SQS by the JSON protocol. This protocol has a header that a web page of another origin cannot send
     * without a preflight request. SQS's query protocol has no such header, and is not served.
     * @returns whether it was a call to SQS
     */
    answer(request: IncomingMessage, response: ServerResponse): boolean {
      const target = String(request.headers['x-amz-target']);
      const isCall = request.method === 'POST' && target.startsWith('AmazonSQS.');
      const answer = async () => {
        const call = JSON.parse(await text(request)) as SendCall;
        const queue = service.Queues.find(({ QueueUrl }) => QueueUrl === call.QueueUrl);
        const refused = target.includes('SendMessage') && queue && refusalOf(call, queue);
        if (refused)
          return response.writeHead(400, { 'x-amzn-query-error': `${refused.code};Sender` }).end(refused.text);
        // The package knows these attributes only by the name that AWS has deprecated.
        const body = JSON.stringify({ AttributeNames: call.MessageSystemAttributeNames, ...call });
        const again = Object.assign(Readable.from([body]), { headers: request.headers });
        return requestHandler(again as IncomingMessage, response);
      };
      if (isCall) answer().catch(() => response.destroy());
      return isCall;
    },
    url: (name: string) => queueOf(name).QueueUrl,
    send: (name: string, body: string) => void queueOf(name).setRecord({ MessageBody: body }),
    /** The age of the oldest message of a queue that a function has received and not deleted, in seconds; 0: there is none. */
    oldestMessageS(name: string): number {
      const now = Date.now();
      const waiting = [...(received.get(name)?.values() ?? [])].filter(({ atMs }) => atMs > now - FORGOTTEN_MS);
      return Math.max(0, ...waiting.map(({ sentMs }) => (now - sentMs) / 1_000));
    },
    /** Number of messages in a queue, including delayed and in-flight ones. */
    count(name: string): number {
      const counts = queueOf(name).getAttributes(['All']);
      const numbers = ['', 'NotVisible', 'Delayed'].map((state) =>
        Number(counts[`ApproximateNumberOfMessages${state}`]),
      );
      return numbers.reduce((sum, number) => sum + number);
    },
    /** Passes the messages of a queue to a function, as Lambda does. */
    connect(source: EventSource, target: Invoke, onFailed: OnFailed = () => {}) {
      const ofQueue: Received = new Map();
      received.set(source.queue, ofQueue);
      stops.push(startPolling(queueOf(source.queue), source, target, { onFailed, received: ofQueue }));
    },
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
      service.resetAll();
    },
  };
}

interface SendCall extends Partial<QueueMessage> {
  QueueUrl?: string;
  MessageSystemAttributeNames?: string[];
  Entries?: QueueMessage[];
}

/** Why SQS refuses a call that sends messages, if the package does not: the package takes any character, and counts characters as bytes. */
function refusalOf(call: SendCall, { MaximumMessageSize: most }: Queue) {
  const messages = call.Entries ?? [{ MessageBody: '', ...call }];
  const refuse = (code: string, message: string) => ({
    code,
    text: JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message }),
  });
  const sizes = messages.map(sizeOf);
  if (messages.some((message) => textsOf(message).some((part) => sqsText(part) !== part)))
    return refuse('InvalidMessageContents', 'Invalid characters were found in a message.');
  if (Math.max(...sizes) > most)
    return refuse('InvalidParameterValue', `A message must be shorter than ${most} bytes.`);
  if (sizes.reduce((sum, size) => sum + size) > MAX_BATCH_BYTES)
    return refuse('BatchRequestTooLong', `Batch requests cannot be longer than ${MAX_BATCH_BYTES} bytes.`);
  return undefined;
}

type Queue = ReturnType<typeof createRequestHandler>['service']['Queues'][number];

/** Corrects the package's count of visible messages, which includes those in flight; SQS's does not. */
function correctCount(queue: Queue): void {
  const getAttributes = queue.getAttributes.bind(queue);
  queue.getAttributes = (names) => {
    const attributes = getAttributes(names);
    const { ApproximateNumberOfMessages: all, ApproximateNumberOfMessagesNotVisible: inFlight } = getAttributes([
      'All',
    ]);
    return attributes?.ApproximateNumberOfMessages === undefined
      ? attributes
      : { ...attributes, ApproximateNumberOfMessages: String(all - inFlight) };
  };
}

/** Messages that a function has received and not deleted, by their ids. */
type Received = Map<string, { sentMs: number; atMs: number }>;
/** A message that was not received again for so long is in the dead-letter queue. */
const FORGOTTEN_MS = 20 * 60_000;

interface StoredMessage {
  MessageId: string;
  ReceiptHandle: string;
  MessageBody: string;
  MD5OfMessageBody: string;
  attributes: Record<string, string>;
}

/** @returns a function that stops polling, and resolves when the running calls have ended */
function startPolling(
  queue: Queue,
  { batchSize, windowSeconds, concurrency, reportsFailures }: EventSource,
  target: Invoke,
  { onFailed, received }: { onFailed: OnFailed; received: Received },
): () => Promise<void> {
  const running = new Set<Promise<void>>();
  let stopped = false;
  const receive = (MaxNumberOfMessages: number, WaitTimeSeconds: number): Promise<StoredMessage[]> =>
    queue.receive({ MaxNumberOfMessages, WaitTimeSeconds });

  async function handle(messages: readonly StoredMessage[]): Promise<void> {
    for (const { MessageId, attributes } of messages)
      received.set(MessageId, { sentMs: Number(attributes.SentTimestamp), atMs: Date.now() });
    try {
      const result = (await target({ Records: messages.map(recordOf) })) as SQSBatchResponse | undefined;
      const failed = reportsFailures ? (result?.batchItemFailures ?? []) : [];
      const failedIds = new Set(failed.map(({ itemIdentifier }) => itemIdentifier));
      for (const { MessageId, ReceiptHandle } of messages)
        if (!failedIds.has(MessageId)) {
          queue.delete(ReceiptHandle);
          received.delete(MessageId);
        }
    } catch (error) {
      // The messages become visible again.
      onFailed(
        error as Error,
        messages.map(({ MessageBody }) => MessageBody),
      );
    }
  }

  async function poll(): Promise<void> {
    while (!stopped) {
      const first = await receive(1, MAX_WAIT_SECONDS);
      if (stopped || first.length === 0) continue;
      const others = batchSize > 1 ? await receive(batchSize - 1, windowSeconds) : [];
      const handling = handle([...first, ...others]).finally(() => running.delete(handling));
      running.add(handling);
      if (running.size >= concurrency) await Promise.race(running);
    }
  }

  void poll();
  return async () => {
    stopped = true;
    await Promise.all(running);
  };
}

/** A message as Lambda passes it to the function. */
const recordOf = ({ MessageId, ReceiptHandle, MessageBody, MD5OfMessageBody, attributes }: StoredMessage) => ({
  messageId: MessageId,
  receiptHandle: ReceiptHandle,
  body: MessageBody,
  attributes,
  messageAttributes: {},
  md5OfBody: MD5OfMessageBody,
  eventSource: 'aws:sqs',
  awsRegion: REGION,
});
