import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Route } from './deployment.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Names and values, as they came, in API Gateway's two forms: the last value of each name, and all of them. */
function maps(pairs: Iterable<readonly [string, string]>) {
  const single: Record<string, string> = Object.create(null);
  const multi: Record<string, string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    single[name] = value;
    multi[name] = [...(multi[name] ?? []), value];
  }
  const some = Object.keys(single).length > 0;
  return { single: some ? { ...single } : null, multi: some ? { ...multi } : null };
}

function* headerPairs({ rawHeaders }: IncomingMessage): Generator<[string, string]> {
  for (let at = 0; at < rawHeaders.length; at += 2) yield [rawHeaders[at] ?? '', rawHeaders[at + 1] ?? ''];
}

/** A request's body as API Gateway hands it over: text, or base64 when it is no UTF-8; null when there is none. */
function bodyOf(bytes: Buffer): { body: string | null; isBase64Encoded: boolean } {
  if (bytes.length === 0) return { body: null, isBase64Encoded: false };
  try {
    return { body: utf8.decode(bytes), isBase64Encoded: false };
  } catch {
    return { body: bytes.toString('base64'), isBase64Encoded: true };
  }
}

/** The path of a request as it was sent, and its query. */
export function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const at = target.indexOf('?');
  return at < 0
    ? { path: target, query: new URLSearchParams() }
    : { path: target.slice(0, at), query: new URLSearchParams(target.slice(at + 1)) };
}

/** The event that API Gateway's REST proxy integration (format 1.0) sends for a request. */
export function toEvent(
  request: IncomingMessage,
  bytes: Buffer,
  route: Pick<Route, 'path'>,
  requestId: string,
): APIGatewayProxyEvent {
  const { path, query } = splitTarget(request.url ?? '/');
  const method = request.method ?? 'GET';
  const headers = maps(headerPairs(request));
  const parameters = maps(query);
  const nowMs = Date.now();
  return {
    resource: route.path,
    path,
    httpMethod: method,
    headers: headers.single ?? {},
    multiValueHeaders: headers.multi ?? {},
    queryStringParameters: parameters.single,
    multiValueQueryStringParameters: parameters.multi,
    pathParameters: route.path.endsWith('{proxy+}') ? { proxy: path.slice(1) } : null,
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
      path: `/local${path}`,
      protocol: `HTTP/${request.httpVersion}`,
      requestTime: new Date(nowMs).toISOString(),
      requestTimeEpoch: nowMs,
      authorizer: null,
      identity: {
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: request.headers['user-agent'] ?? null,
        accessKey: null,
        accountId: null,
        apiKey: null,
        apiKeyId: null,
        caller: null,
        clientCert: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        user: null,
        userArn: null,
      },
    },
    ...bodyOf(bytes),
  };
}
