/** The answers that API Gateway makes itself. */
import { STATUS_CODES } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Deployment } from './deployment.ts';

/** Answers that no template can word: docs/aws-behaviour.md, "sizes". */
const FIXED = {
  PAYLOAD_TOO_LARGE: { type: 'text; charset=utf-8', body: 'HTTP content length exceeded 10485760 bytes.' },
  EVENT_TOO_LARGE: { type: 'application/json', body: '{"message": "Request Too Long"}' },
} as const;

/** Ends a request with a gateway response of a type. */
export class GatewayRefusal extends Error {
  readonly type: string;
  constructor(type: string) {
    super(type);
    this.type = type;
  }
}

/** @returns what makes of a type of gateway response its answer, as the template words it */
export function createGatewayResponses({ responses }: Pick<Deployment, 'responses'>) {
  return (type: string, requestId: string): APIGatewayProxyResult => {
    if (type in FIXED) {
      const { type: contentType, body } = FIXED[type as keyof typeof FIXED];
      return { statusCode: 413, headers: { 'Content-Type': contentType }, body };
    }
    const response = responses[type] ?? responses.DEFAULT_5XX;
    if (!response) throw new Error(`no gateway response for ${type}`);
    const headers = Object.entries(response.headers).map(([name, value]) => [
      name,
      value === 'context.requestId' ? requestId : value.replace(/^'(.*)'$/, '$1'),
    ]);
    return {
      statusCode: response.status,
      headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers) },
      body: response.body.replaceAll('$context.requestId', () => requestId),
    };
  };
}

/** An answer as the bytes of HTTP/1.1; the connection ends with it. */
export function toRawResponse({ statusCode, headers, body }: APIGatewayProxyResult, requestId: string): string {
  const fields = {
    ...headers,
    'x-amzn-RequestId': requestId,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`;
}
