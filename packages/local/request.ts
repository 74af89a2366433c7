/** How API Gateway reads a request, and the event that it makes of it: docs/internals/aws-behaviour.md has the rules and their sources. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { decompress } from './compression.ts';
import type { Route } from './deployment.ts';
import { GatewayRefusal } from './gateway-response.ts';

const MAX_URL_BYTES = 10_240;
const MAX_HEADER_BYTES = 10_240;
const MAX_BODY_BYTES = 10_485_760;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/**
 * A request's path and query. The path is not decoded, and several leading slashes become one. An absolute-form target is read without its
 * scheme and authority.
 */
export function readTarget({ url = '/' }: IncomingMessage) {
  const relative = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '');
  const [, pathAsSent = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(relative) ?? [];
  return { path: pathAsSent.replace(/^\/*/, '/'), pathAsSent: pathAsSent || '/', query: new URLSearchParams(query) };
}

/** The id of a request: the UUID that the caller chose, or a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const chosen = headers['x-amzn-requestid'];
  return typeof chosen === 'string' && UUID.test(chosen) ? chosen : randomUUID();
}

/** @throws GatewayRefusal for a method that API Gateway does not support */
export function methodOf({ method = '', headers }: IncomingMessage): string {
  const override = headers['x-http-method-override'];
  const effective = typeof override === 'string' ? override : method;
  if (!METHODS.has(effective)) throw new GatewayRefusal('MISSING_AUTHENTICATION_TOKEN');
  return effective;
}

/** @throws GatewayRefusal for a URL or headers that are too long, or a missing host */
export function checkHead({ url = '', rawHeaders, headers }: IncomingMessage): void {
  // Each name is followed by `: `, each value by a line break.
  const headerBytes = rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text, 'latin1') + 2, 0);
  if (url.length > MAX_URL_BYTES || headerBytes > MAX_HEADER_BYTES || !headers.host)
    throw new GatewayRefusal('DEFAULT_4XX');
}

/** Reads a request body and decompresses it. @throws GatewayRefusal */
export async function readBody(request: IncomingMessage, minCompressionSize: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Reads an oversized body to its end, since some clients read no answer before they have sent all.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (size > MAX_BODY_BYTES) throw new GatewayRefusal('PAYLOAD_TOO_LARGE');
  return decompress(Buffer.concat(chunks), request.headers['content-encoding'], minCompressionSize, MAX_BODY_BYTES);
}

/** Headers or parameters in API Gateway's two forms: the last value of each name, and all values of each name. */
function toMaps(pairs: Iterable<readonly [string, string]>) {
  const byName = [...Map.groupBy(pairs, ([name]) => name)];
  if (byName.length === 0) return { single: null, multi: null };
  return {
    single: Object.fromEntries(byName.map(([name, named]) => [name, named.at(-1)?.[1]])),
    multi: Object.fromEntries(byName.map(([name, named]) => [name, named.map(([, value]) => value)])),
  };
}

interface RoutedRequest {
  readonly request: IncomingMessage;
  readonly target: ReturnType<typeof readTarget>;
  readonly method: string;
  readonly body: Buffer;
  readonly route: Route;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly arrivedMs: number;
}

/** The event that API Gateway's REST proxy integration (format 1.0) sends for a request. */
export function toEvent(routed: RoutedRequest): APIGatewayProxyEvent {
  const { request, method, body, route, requestId, arrivedMs } = routed;
  const { path, pathAsSent, query } = routed.target;
  const { rawHeaders } = request;
  const headers = toMaps(
    rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [])),
  );
  const parameters = toMaps(query);
  return {
    resource: route.path,
    path,
    httpMethod: method,
    headers: headers.single ?? {},
    multiValueHeaders: headers.multi ?? {},
    queryStringParameters: parameters.single,
    multiValueQueryStringParameters: parameters.multi,
    pathParameters: route.path.endsWith('{proxy+}') ? { proxy: path.slice(1).replace(/\/$/, '') } : null,
    stageVariables: null,
    requestContext: {
      requestId,
      extendedRequestId: randomUUID(),
      accountId: '000000000000',
      apiId: 'local',
      stage: 'local',
      resourceId: 'local',
      resourcePath: route.path,
      httpMethod: method,
      path: `/local${pathAsSent}`,
      protocol: `HTTP/${request.httpVersion}`,
      requestTime: new Date(arrivedMs).toISOString(),
      requestTimeEpoch: arrivedMs,
      authorizer: null,
      // The service reads nothing else of the identity.
      identity: {
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: request.headers['user-agent'] ?? null,
      } as APIGatewayProxyEvent['requestContext']['identity'],
    },
    // In base64, since the stack declares all media types as binary.
    body: body.length === 0 ? null : body.toString('base64'),
    isBase64Encoded: body.length > 0,
  };
}
