/** The answers that API Gateway makes itself. */
import { STATUS_CODES } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';

/** Properties of an `AWS::ApiGateway::GatewayResponse`. */
export interface GatewayResponse {
  readonly ResponseType: string;
  readonly StatusCode: string;
  /** Values are `'text'` or `context.requestId`. */
  readonly ResponseParameters: Readonly<Record<string, string>>;
  /** By content type; may contain `$context.requestId`. */
  readonly ResponseTemplates: Readonly<Record<string, string>>;
}

/** Bodies that no template can change: docs/internals/aws-behaviour.md, "Sizes and times". */
const PAYLOAD_TOO_LARGE = 'HTTP content length exceeded 10485760 bytes.';
const EVENT_TOO_LARGE = '{"message": "Request Too Long"}';

/** Thrown to answer a request with the gateway response of a type. */
export class GatewayRefusal extends Error {
  readonly type: string;
  constructor(type: string) {
    super(type);
    this.type = type;
  }
}

/** The answer for a type of gateway response. @param responses those of the template */
export function answerOf(
  responses: readonly GatewayResponse[],
  type: string,
  requestId: string,
): APIGatewayProxyResult & { headers: Record<string, string> } {
  // Has no request id: API Gateway refuses such a request before giving it one.
  if (type === 'PAYLOAD_TOO_LARGE')
    return { statusCode: 413, headers: { 'Content-Type': 'text; charset=utf-8' }, body: PAYLOAD_TOO_LARGE };
  const common = { 'Content-Type': 'application/json', 'x-amzn-RequestId': requestId };
  if (type === 'EVENT_TOO_LARGE') return { statusCode: 413, headers: common, body: EVENT_TOO_LARGE };
  const response = [type, 'DEFAULT_5XX']
    .map((wanted) => responses.find(({ ResponseType }) => ResponseType === wanted))
    .find((found) => found !== undefined);
  if (!response) throw new Error(`no gateway response for ${type}`);
  const headers = Object.entries(response.ResponseParameters).map(([name, value]) => [
    name.replace('gatewayresponse.header.', ''),
    value === 'context.requestId' ? requestId : value.replace(/^'(.*)'$/, '$1'),
  ]);
  return {
    statusCode: Number(response.StatusCode),
    headers: { ...common, ...Object.fromEntries(headers) },
    body: (response.ResponseTemplates['application/json'] ?? '').replaceAll('$context.requestId', () => requestId),
  };
}

/** An answer as HTTP/1.1 text; the connection is closed after it. */
export function toRawResponse({ statusCode, headers, body }: APIGatewayProxyResult): string {
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`;
}
