import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Deployment, Route } from './deployment.ts';
import type { Target } from './request.ts';

/** Headers or parameters in API Gateway's two forms: the last value of each name, and all values of each name. */
function toMaps(pairs: Iterable<readonly [string, string]>) {
  const byName = [...Map.groupBy(pairs, ([name]) => name)];
  if (byName.length === 0) return { single: null, multi: null };
  return {
    single: Object.fromEntries(byName.map(([name, same]) => [name, same.at(-1)?.[1]])),
    multi: Object.fromEntries(byName.map(([name, same]) => [name, same.map(([, value]) => value)])),
  };
}

function* headerPairs({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): Generator<[string, string]> {
  for (let index = 0; index < rawHeaders.length; index += 2)
    yield [rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''];
}

/** A request body as API Gateway passes it on: base64 for a binary media type, otherwise text, whatever its bytes are. */
function bodyOf(bytes: Buffer, contentType: string, binaryMediaTypes: readonly string[]) {
  if (bytes.length === 0) return { body: null, isBase64Encoded: false };
  const type = contentType.split(';')[0]?.trim().toLowerCase();
  const isBinary = binaryMediaTypes.some((each) => each === '*/*' || each === type);
  return { body: bytes.toString(isBinary ? 'base64' : 'utf8'), isBase64Encoded: isBinary };
}

interface RoutedRequest {
  readonly request: Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'httpVersion' | 'socket'>;
  readonly target: Target;
  readonly method: string;
  readonly body: Buffer;
  readonly route: Pick<Route, 'path'>;
  readonly requestId: string;
}

/** The event that API Gateway's REST proxy integration (format 1.0) sends for a request. */
export function toEvent(
  { request, target: { path, pathAsSent, query }, method, body, route, requestId }: RoutedRequest,
  { binaryMediaTypes }: Pick<Deployment, 'binaryMediaTypes'>,
): APIGatewayProxyEvent {
  const headers = toMaps(headerPairs(request));
  const parameters = toMaps(query);
  const nowMs = Date.now();
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
      requestTime: new Date(nowMs).toISOString(),
      requestTimeEpoch: nowMs,
      authorizer: null,
      // The service reads nothing else of the identity.
      identity: {
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: request.headers['user-agent'] ?? null,
      } as APIGatewayProxyEvent['requestContext']['identity'],
    },
    ...bodyOf(body, request.headers['content-type'] ?? 'application/json', binaryMediaTypes),
  };
}
