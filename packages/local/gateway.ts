import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { asksLoopback } from '../admin/local-service/loopback.ts';
import { createAuthorizer } from './authorizer.ts';
import { compress } from './compress.ts';
import type { Deployment, Route } from './deployment.ts';
import type { Page } from './docs.ts';
import { toEvent } from './event.ts';
import { createGatewayResponses, GatewayRefusal, toRawResponse } from './gateway-response.ts';
import { checkHead, methodOf, readBody, readTarget, requestIdOf } from './request.ts';
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

/** Status logged when the caller disconnected before the answer; name and number are nginx's. */
const CLIENT_CLOSED_REQUEST = 499;

export interface GatewayOptions {
  readonly deployment: Omit<Deployment, 'functions' | 'stream' | 'queues' | 'eventSources' | 'queueOutputs'>;
  /** Runs a function of the deployment. */
  readonly invoke: (functionName: string, event: unknown) => Promise<unknown>;
  readonly onServed?: (served: Served) => void;
  /** Called if a function could not be loaded, threw, or ended. */
  readonly onFailed?: (functionName: string, error: Error) => void;
  /** Pages that only the local gateway serves, for requests whose host is a name of this machine. */
  readonly pages?: (path: string, accept: string | undefined) => Page | undefined;
  /** Serves `/console` and all paths below it. */
  readonly console?: RequestListener;
  /**
   * Answers a call to another service.
   * @returns whether it was one
   */
  readonly queues?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Maximum bytes of an event, as JSON, that Lambda accepts. */
const MAX_EVENT_BYTES = 6 * 1024 * 1024;
/** A smaller body cannot make an event too large: JSON writes a byte as at most six characters. */
const SMALL_BODY = MAX_EVENT_BYTES / 6 - 64 * 1024;
/** API Gateway's time-out. */
const MAX_WAIT_MS = 29_000;
/** Maximum bytes of a request head for Node's parser: above API Gateway's own limits, which have their own answers. */
const MAX_HEAD_BYTES = 128 * 1024;

/** A local API Gateway: handles requests as the stack's template configures it. */
export function createGateway(options: GatewayOptions): Server {
  const { deployment, onServed } = options;
  const { authorizer, routes, minCompressionSize } = deployment;
  const usagePlans = createUsagePlans(deployment);
  const gatewayResponse = createGatewayResponses(deployment);
  const routeOf = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

  async function call<Result>(functionName: string, event: unknown, failed: string): Promise<Result> {
    let late: NodeJS.Timeout | undefined;
    try {
      return await Promise.race([
        options.invoke(functionName, event) as Promise<Result>,
        new Promise<never>((_resolve, reject) => {
          late = setTimeout(() => reject(new GatewayRefusal('INTEGRATION_TIMEOUT')), MAX_WAIT_MS);
        }),
      ]);
    } catch (error) {
      if (error instanceof GatewayRefusal) throw error;
      options.onFailed?.(functionName, error as Error);
      throw new GatewayRefusal(failed);
    } finally {
      clearTimeout(late);
    }
  }

  const authorize = createAuthorizer(authorizer, (request) =>
    call<APIGatewayAuthorizerResult>(authorizer.functionName, request, 'AUTHORIZER_FAILURE'),
  );

  /** One trailing slash makes no difference. @throws GatewayRefusal */
  function findRoute(method: string, path: string): Route {
    const resource = path.replace(/(?<=.)\/$/, '');
    const route = [`${method} ${resource}`, `ANY ${resource}`, 'ANY /{proxy+}']
      .map((name) => routeOf.get(name))
      .find((found) => found !== undefined);
    if (!route) throw new GatewayRefusal('MISSING_AUTHENTICATION_TOKEN');
    return route;
  }

  /** @throws GatewayRefusal unless the throttles and, if the route requires one, the gateway key allow the call */
  async function admit(event: APIGatewayProxyEvent, route: Route): Promise<void> {
    const method = `${route.path}/${route.method}`;
    let gatewayKey: string | undefined;
    if (route.authorized) {
      const { principalId, usageIdentifierKey } = await authorize(event, route);
      event.requestContext.authorizer = { principalId };
      gatewayKey = usageIdentifierKey ?? undefined;
    }
    const verdict = route.keyRequired ? usagePlans.admit(gatewayKey ?? '', method) : usagePlans.admitToStage(method);
    if (verdict !== 'passed') throw new GatewayRefusal(verdict === 'throttled' ? 'THROTTLED' : 'INVALID_API_KEY');
  }

  async function pass(request: IncomingMessage, requestId: string): Promise<APIGatewayProxyResult> {
    checkHead(request);
    const body = await readBody(request, minCompressionSize);
    const target = readTarget(request);
    const method = methodOf(request);
    const route = findRoute(method, target.path);
    const event = toEvent({ request, target, method, body, route, requestId }, deployment);
    await admit(event, route);
    if (body.length > SMALL_BODY && Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES)
      throw new GatewayRefusal('EVENT_TOO_LARGE');
    const result = await call<APIGatewayProxyResult>(route.functionName, event, 'DEFAULT_5XX');
    return { ...result, headers: { ...result.headers, 'x-amzn-RequestId': requestId } };
  }

  const refusal = (error: unknown, requestId: string) =>
    gatewayResponse(error instanceof GatewayRefusal ? error.type : 'DEFAULT_5XX', requestId);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const requestId = requestIdOf(request);
    const result = await pass(request, requestId).catch((error: unknown) => refusal(error, requestId));
    const tell = (status: number, code: string) =>
      onServed?.({
        method: request.method ?? '',
        path: readTarget(request).path,
        status,
        code,
        durationMs: performance.now() - began,
        requestId,
      });
    if (request.socket.destroyed) return tell(CLIENT_CLOSED_REQUEST, 'ClientClosedRequest');
    const headers = result.headers as Record<string, string>;
    const accepted = request.headers['accept-encoding']?.toString();
    const { body, coding } = await compress(Buffer.from(result.body), headers, accepted, minCompressionSize);
    response.writeHead(result.statusCode, {
      ...headers,
      ...(coding && { 'Content-Encoding': coding }),
      'Content-Length': body.length,
      // The connection is closed: the unread rest of the body would be parsed as the next request.
      ...(!request.complete && { Connection: 'close' }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
    tell(result.statusCode, codeOf(result));
  }

  /** Answers a request that Node rejects, such as one with a malformed head. */
  function refuseRaw(socket: Duplex, type: string): void {
    if (!socket.writable) return;
    socket.end(toRawResponse(gatewayResponse(type, randomUUID())));
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const { method, headers } = request;
    if (options.console && /^\/console(\/|$)/.test(readTarget(request).path)) return options.console(request, response);
    if (options.queues?.(request, response)) return;
    const isOwn = method === 'GET' && asksLoopback(headers.host, request.socket.localPort);
    const page = isOwn ? options.pages?.(readTarget(request).path, headers.accept) : undefined;
    if (page) response.writeHead(page.status, page.headers).end(page.body);
    else serve(request, response).catch(() => response.destroy());
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
    // no JSON
  }
  return statusCode < 400 ? 'OK' : String(statusCode);
}
