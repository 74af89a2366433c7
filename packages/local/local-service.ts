/** The whole service on one machine, as the stack's template describes it: gateway, functions, table stream and queues. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopbackHost } from '../admin/local-service/loopback.ts';
import { LOCAL_STATUS_PATH, type Measured } from '../admin/status/measured.ts';
import { createAwsCalls } from './aws-calls.ts';
import { createCounters } from './counters.ts';
import { readDeployment } from './deployment.ts';
import { answerDocs } from './docs.ts';
import { freePort } from './dynamodb-local.ts';
import { createGateway, type GatewayOptions } from './gateway.ts';
import { createFunctions } from './local-functions.ts';
import { createQueues, queuesOf } from './queues.ts';
import { readTarget } from './request.ts';
import { followStream } from './stream.ts';
import type { Template } from './template.ts';

/** On AWS a schedule runs it every hour. */
const SILENCE = { function: 'end-silent-alerts', intervalMs: 60_000 } as const;

export type LocalService = Awaited<ReturnType<typeof startService>>;

export interface LocalServiceOptions extends Pick<GatewayOptions, 'onServed' | 'onFailed'> {
  template: Template;
  /** URL of a DynamoDB-compatible server. */
  endpoint: string;
  /** URL of the server that the functions use, if not `endpoint`. */
  functionsEndpoint?: string | undefined;
  tableName: string;
  port: number;
  /** A file to which each published event is appended. */
  eventsFile?: string | undefined;
  /** Prefilled on the reference page. */
  demoKey?: string | undefined;
}

export async function startService(options: LocalServiceOptions) {
  const { template, endpoint, tableName } = options;
  // Chosen before the gateway listens, since the functions' environment contains the queues' URLs, and these contain the port.
  const port = options.port || (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const queues = createQueues(queuesOf(template), port);
  const deployment = readDeployment(template, tableName, queues.url);
  const answerAwsCall = createAwsCalls(queues.oldestMessageS, options.eventsFile);
  const counters = createCounters();
  const measure = (): Measured => ({
    operations: counters.operations(),
    attempts: counters.attempts(),
    dead_letters: queues.count(deployment.queueOutputs.DeadLettersUrl ?? ''),
  });

  /** Answers a request that is not for the API, or whose Host header does not name this machine. */
  function answerOther(request: IncomingMessage, response: ServerResponse): boolean {
    const { path } = readTarget(request);
    if (!isLoopbackHost(request.headers.host)) {
      response.writeHead(403, { 'Content-Type': 'text/plain' }).end('Use the address that was printed.\n');
      return true;
    }
    if (queues.answer(request, response) || answerAwsCall(request, response)) return true;
    if (request.method !== 'GET') return false;
    if (path !== LOCAL_STATUS_PATH) return answerDocs(path, options.demoKey, request, response);
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(measure()));
    return true;
  }

  // Variables that Lambda would set, and local endpoints; all others come from the template.
  const invoke = createFunctions(deployment.functions, {
    AWS_REGION: 'local',
    DYNAMODB_ENDPOINT: options.functionsEndpoint ?? endpoint,
    EVENTS_ENDPOINT: url,
    CLOUDWATCH_ENDPOINT: url,
    QUIET: 'true',
  });

  const gateway = createGateway({
    deployment,
    invoke,
    onServed(served) {
      counters.addCall(served);
      options.onServed?.(served);
    },
    onFailed: options.onFailed,
    answerOther,
  });
  await once(gateway.listen(port, '127.0.0.1'), 'listening');

  const { eventSources, stream, queueOutputs } = deployment;
  for (const source of eventSources)
    queues.connect(
      source,
      (event) => invoke(source.functionName, event),
      (error, bodies) => {
        options.onFailed?.(source.functionName, error);
        if (source.functionName === 'finish-merges') for (const body of bodies) counters.addFailedAttempt(body, error);
      },
    );
  const silence = setInterval(() => {
    invoke(SILENCE.function, {}).catch((error: Error) => options.onFailed?.(SILENCE.function, error));
  }, SILENCE.intervalMs).unref();
  let streamProblem: string | undefined;
  let stopStream = async () => {};
  try {
    const pass = (event: unknown) => invoke(stream.functionName, event);
    if (stream.enabled) stopStream = await followStream(endpoint, tableName, stream, pass);
  } catch (error) {
    streamProblem = (error as Error).message;
  }

  return {
    url,
    /** Why the table's stream cannot be read, so that interrupted merges stay pending; undefined if it can be read. */
    streamProblem,
    measure,
    /** The URLs of the queues, by the names of the stack's outputs. */
    queueUrls: Object.fromEntries(Object.entries(queueOutputs).map(([output, name]) => [output, queues.url(name)])),
    /** Sends a message to the feed. */
    sendToIngest: (body: string) => queues.send(queueOutputs.FeedUrl ?? '', body),
    async stop() {
      clearInterval(silence);
      // Running functions send messages and events to the gateway's port, so that is closed last.
      await Promise.all([stopStream(), queues.stop()]);
      gateway.closeAllConnections();
      await new Promise((resolve) => gateway.close(resolve));
    },
  };
}
