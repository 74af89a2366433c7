/** The answers that API Gateway makes itself. */
import { STATUS_CODES } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Deployment } from './deployment.ts';

/** Bodies that no template can change: docs/aws-behaviour.md, "Sizes and times". */
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

/** @returns a function that gives the answer for a type of gateway response, from the template */
export function createGatewayResponses({ responses }: Pick<Deployment, 'responses'>) {
  return (type: string, requestId: string): APIGatewayProxyResult => {
    const id = { 'x-amzn-RequestId': requestId };
    // Has no request id: API Gateway refuses such a request before giving it one.
    if (type === 'PAYLOAD_TOO_LARGE')
      return { statusCode: 413, headers: { 'Content-Type': 'text; charset=utf-8' }, body: PAYLOAD_TOO_LARGE };
    if (type === 'EVENT_TOO_LARGE')
      return { statusCode: 413, headers: { 'Content-Type': 'application/json', ...id }, body: EVENT_TOO_LARGE };
    const response = responses[type] ?? responses.DEFAULT_5XX;
    if (!response) throw new Error(`no gateway response for ${type}`);
    const headers = Object.entries(response.headers).map(([name, value]) => [
      name,
      value === 'context.requestId' ? requestId : value.replace(/^'(.*)'$/, '$1'),
    ]);
    return {
      statusCode: response.status,
      headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers), ...id },
      body: response.body.replaceAll('$context.requestId', () => requestId),
    };
  };
}

/** An answer as HTTP/1.1 text; the connection is closed after it. */
export function toRawResponse({ statusCode, headers, body }: APIGatewayProxyResult): string {
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`;
}
