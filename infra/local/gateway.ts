import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { ERROR_CODES, type ErrorCode } from '../../lib/api/errors.ts';
import { en } from '../../lib/api/messages/en.ts';
import { stringifyJson } from '../../lib/json.ts';
import { type Route, splitTarget, toEvent } from './event.ts';
import type { LocalFunction } from './functions.ts';

/** One served request, as it may be shown: without its query string, which holds the key. */
export interface Served {
  method: string;
  path: string;
  status: number;
  code: string;
  durationMs: number;
}

export interface GatewayOptions {
  readonly routes: readonly Route[];
  readonly functions: Readonly<Record<string, LocalFunction>>;
  readonly onServed?: (served: Served) => void;
}

/** API Gateway's own limit: a larger body never reaches a function. */
const LARGEST_BODY = 10 * 1024 * 1024;

class BodyTooLarge extends Error {}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_BODY) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An answer that the gateway makes itself, in the envelope like any other. */
function gatewayAnswer(code: ErrorCode, requestId: string): APIGatewayProxyResult {
  return {
    statusCode: ERROR_CODES[code].status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Svc-Request-Id': requestId },
    body: stringifyJson({ request_id: requestId, error: { code, message: en.codes[code] } }),
  };
}

/** API Gateway on one machine: turns each request into the event of the REST proxy integration and calls its function. */
export function createGateway({ routes, functions, onServed }: GatewayOptions): Server {
  const exact = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  const fallback = routes.find(({ path }) => path === '/{proxy+}');
  if (!fallback) throw new Error('the gateway needs a route for /{proxy+}');

  async function answer(request: IncomingMessage, requestId: string): Promise<APIGatewayProxyResult> {
    const { path } = splitTarget(request.url ?? '/');
    const route = exact.get(`${request.method} ${path}`) ?? fallback;
    try {
      const event = toEvent(request, await readBody(request), route as Route, requestId);
      return (await functions[route?.functionName ?? '']?.invoke(event)) as APIGatewayProxyResult;
    } catch (error) {
      return gatewayAnswer(error instanceof BodyTooLarge ? 'EntityTooLarge' : 'InternalError', requestId);
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const result = await answer(request, randomUUID());
    const body = Buffer.from(result.body);
    response.writeHead(result.statusCode, {
      ...(result.headers as Record<string, string>),
      'Content-Length': body.length,
      // What is left of a body that was not read would be taken for the next request.
      ...(!request.complete && { Connection: 'close' }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
    onServed?.({
      method: request.method ?? '',
      path: splitTarget(request.url ?? '/').path,
      status: result.statusCode,
      code: codeOf(result.body),
      durationMs: performance.now() - began,
    });
  }

  return createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
}

const codeOf = (body: string) => (JSON.parse(body) as { error?: { code: string } }).error?.code ?? 'OK';
