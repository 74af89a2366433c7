import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { createAuthorizer } from './authorizer.ts';
import { compress } from './compression.ts';
import type { Deployment, Route } from './deployment.ts';
import { answerOf, GatewayRefusal, toRawResponse } from './gateway-response.ts';
import { checkHead, methodOf, readBody, readTarget, requestIdOf, toEvent } from './request.ts';
import { createUsagePlans } from './usage-plans.ts';

/** One served request, for the log: without its query string, which contains the key. */
export interface Served {
  method: string;
  path: string;
  status: number;
  code: string;
  durationMs: number;
  requestId: string;
}

export interface GatewayOptions {
  readonly deployment: Deployment;
  readonly invoke: (functionName: string, event: unknown) => Promise<unknown>;
  /** The clock of the throttles; by default one that never goes back. */
  readonly now?: () => number;
  readonly onServed?: (served: Served) => void;
  /** Called if a function could not be loaded or threw. */
  readonly onFailed?: ((functionName: string, error: Error) => void) | undefined;
  /** Answers a request that is not for the API. @returns false for a request that it leaves to the API */
  readonly answerOther?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Maximum bytes of an event, as JSON, that Lambda accepts. */
const MAX_EVENT_BYTES = 6 * 1024 * 1024;
/** Maximum bytes of a request head for Node's parser: more than API Gateway allows, so that the gateway itself refuses longer ones. */
const MAX_HEAD_BYTES = 128 * 1024;

/** A local API Gateway, configured by the stack's template. */
export function createGateway(options: GatewayOptions): Server {
  const { deployment, onServed } = options;
  const { authorizer, routes, minCompressionSize } = deployment;
  const admitKey = createUsagePlans(deployment, options.now);
  const refusal = (error: unknown, requestId: string) =>
    answerOf(deployment.responses, error instanceof GatewayRefusal ? error.type : 'DEFAULT_5XX', requestId);

  /** @throws GatewayRefusal of the type `failure` when the function fails */
  async function call<Result>(functionName: string, event: unknown, failure: string): Promise<Result> {
    try {
      return (await options.invoke(functionName, event)) as Result;
    } catch (error) {
      options.onFailed?.(functionName, error as Error);
      throw new GatewayRefusal(failure);
    }
  }

  const authorize = createAuthorizer(authorizer, (request) =>
    call<APIGatewayAuthorizerResult>(authorizer.functionName, request, 'AUTHORIZER_FAILURE'),
  );

  /** One trailing slash makes no difference. @throws GatewayRefusal */
  function findRoute(method: string, path: string): Route {
    const resource = path.replace(/(?<=.)\/$/, '');
    const route = [`${method} ${resource}`, `ANY ${resource}`, 'ANY /{proxy+}']
      .map((name) => routes.get(name))
      .find((found) => found !== undefined);
    if (!route) throw new GatewayRefusal('MISSING_AUTHENTICATION_TOKEN');
    return route;
  }

  /** Calls the authorizer for a route that has one. @throws GatewayRefusal unless the throttle of the gateway key allows the call */
  async function admit(event: APIGatewayProxyEvent, route: Route): Promise<void> {
    if (!route.authorized) return;
    const { principalId, usageIdentifierKey } = await authorize(event, route);
    event.requestContext.authorizer = { principalId };
    const verdict = admitKey(usageIdentifierKey ?? '', `${route.path}/${route.method}`);
    if (verdict !== 'passed') throw new GatewayRefusal(verdict === 'throttled' ? 'THROTTLED' : 'INVALID_API_KEY');
  }

  /** @throws GatewayRefusal */
  async function handle(request: IncomingMessage, requestId: string): Promise<APIGatewayProxyResult> {
    const arrivedMs = Date.now();
    checkHead(request);
    const body = await readBody(request, minCompressionSize);
    const target = readTarget(request);
    const method = methodOf(request);
    const route = findRoute(method, target.path);
    const event = toEvent({ request, target, method, body, route, requestId, arrivedMs });
    await admit(event, route);
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) throw new GatewayRefusal('EVENT_TOO_LARGE');
    const result = await call<APIGatewayProxyResult>(route.functionName, event, 'DEFAULT_5XX');
    return { ...result, headers: { ...result.headers, 'x-amzn-RequestId': requestId } };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const requestId = requestIdOf(request);
    const result = await handle(request, requestId).catch((error: unknown) => refusal(error, requestId));
    if (request.socket.destroyed) return; // the caller has gone
    const headers = result.headers as Record<string, string>;
    const accepted = request.headers['accept-encoding']?.toString();
    const { body, coding } = await compress(Buffer.from(result.body), headers, accepted, minCompressionSize);
    response.writeHead(result.statusCode, {
      ...headers,
      ...(coding && { 'Content-Encoding': coding }),
      'Content-Length': body.length,
      // Otherwise the unread rest of the body would be parsed as the next request.
      ...(!request.complete && { Connection: 'close' }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
    onServed?.({
      method: request.method ?? '',
      path: readTarget(request).path,
      status: result.statusCode,
      code: codeOf(result),
      durationMs: performance.now() - began,
      requestId,
    });
  }

  /** Answers a request for which Node makes no `ServerResponse`: one with a malformed head, or a CONNECT. */
  function refuseRaw(socket: Duplex, type: string): void {
    if (!socket.writable) return;
    socket.end(toRawResponse(answerOf(deployment.responses, type, randomUUID())));
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    if (!options.answerOther?.(request, response)) serve(request, response).catch(() => response.destroy());
  };
  return createServer({ maxHeaderSize: MAX_HEAD_BYTES, requireHostHeader: false }, onRequest)
    .on('checkExpectation', onRequest)
    .on('connect', (_request, socket) => refuseRaw(socket, 'MISSING_AUTHENTICATION_TOKEN'))
    .on('clientError', (_error, socket) => refuseRaw(socket, 'DEFAULT_4XX'));
}

/** The code in the envelope, or the status of an answer without one. */
function codeOf({ statusCode, body }: APIGatewayProxyResult): string {
  try {
    const { error } = JSON.parse(body) as { error?: { code: string } };
    if (error) return error.code;
  } catch {
    // not JSON
  }
  return statusCode < 400 ? 'OK' : String(statusCode);
}
