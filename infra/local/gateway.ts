import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import QuickLRU from 'quick-lru';
import type { Deployment, Route } from './deployment.ts';
import type { Page } from './docs.ts';
import { splitTarget, toEvent } from './event.ts';
import type { LocalFunction } from './functions.ts';
import { createUsagePlans } from './usage-plans.ts';

/** One served request, as it may be shown: without its query string, which holds the key. */
export interface Served {
  method: string;
  path: string;
  status: number;
  code: string;
  durationMs: number;
}

export interface GatewayOptions {
  readonly deployment: Omit<Deployment, 'functions' | 'stream'>;
  /** What runs the deployment's functions, by their names. */
  readonly functions: Readonly<Record<string, Pick<LocalFunction, 'invoke'>>>;
  /** Admits calls; by default as the deployment's usage plans say. */
  readonly usagePlans?: ReturnType<typeof createUsagePlans>;
  readonly onServed?: (served: Served) => void;
  /** Pages of this machine's own, which no deployment has. */
  readonly pages?: (path: string) => Page | undefined;
}

/** API Gateway's own limits: a larger body never reaches a function, and a slower answer no caller. */
const LARGEST_BODY = 10 * 1024 * 1024;
const LONGEST_WAIT_MS = 29_000;
const MOST_LABELS = 10_000;

/** Ends a request with a gateway response of a type. */
class Refused extends Error {
  readonly type: string;
  constructor(type: string) {
    super(type);
    this.type = type;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_BODY) throw new Refused('REQUEST_TOO_LARGE');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** API Gateway on one machine: does with a request what the stack's template tells API Gateway to do. */
export function createGateway(options: GatewayOptions): Server {
  const { deployment, functions, onServed } = options;
  const { authorizer, routes } = deployment;
  const usagePlans = options.usagePlans ?? createUsagePlans(deployment);
  const routeOf = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  const labels = new QuickLRU<string, APIGatewayAuthorizerResult>({ maxSize: MOST_LABELS, maxAge: authorizer.ttlMs });

  async function call<Result>(functionName: string, event: unknown, failed: string): Promise<Result> {
    let late: NodeJS.Timeout | undefined;
    try {
      return await Promise.race([
        functions[functionName]?.invoke(event) as Promise<Result>,
        new Promise<never>((_resolve, reject) => {
          late = setTimeout(() => reject(new Refused('INTEGRATION_TIMEOUT')), LONGEST_WAIT_MS);
        }),
      ]);
    } catch (error) {
      throw error instanceof Refused ? error : new Refused(failed);
    } finally {
      clearTimeout(late);
    }
  }

  /** The authorizer's label of a call, kept for as long as the deployment says. */
  async function label(event: APIGatewayProxyEvent, route: Route): Promise<APIGatewayAuthorizerResult> {
    const identity = event.queryStringParameters?.[authorizer.parameter];
    if (!identity) throw new Refused('UNAUTHORIZED');
    const known = labels.get(identity);
    if (known) return known;
    const { body: _body, isBase64Encoded: _encoded, ...rest } = event;
    const methodArn = `arn:aws:execute-api:local:000000000000:local/local/${route.method}${route.path}`;
    const request = { ...rest, type: 'REQUEST', methodArn };
    const result = await call<APIGatewayAuthorizerResult>(authorizer.functionName, request, 'AUTHORIZER_FAILURE');
    if (result.policyDocument.Statement.some(({ Effect }) => Effect !== 'Allow')) throw new Refused('ACCESS_DENIED');
    labels.set(identity, result);
    return result;
  }

  async function pass(request: IncomingMessage, requestId: string): Promise<APIGatewayProxyResult> {
    const { path } = splitTarget(request.url ?? '/');
    const route = [`${request.method} ${path}`, `ANY ${path}`, 'ANY /{proxy+}']
      .map((name) => routeOf.get(name))
      .find((found) => found !== undefined);
    if (!route) throw new Refused('MISSING_AUTHENTICATION_TOKEN');
    const event = toEvent(request, await readBody(request), route, requestId);
    if (route.authorized) {
      const { principalId, usageIdentifierKey } = await label(event, route);
      event.requestContext.authorizer = { principalId };
      if (route.keyRequired) {
        const verdict = usagePlans.admit(usageIdentifierKey ?? '', `${route.path}/${route.method}`);
        if (verdict !== 'passed') throw new Refused(verdict === 'throttled' ? 'THROTTLED' : 'INVALID_API_KEY');
      }
    }
    return call(route.functionName, event, 'DEFAULT_5XX');
  }

  /** An answer that API Gateway makes itself, as the template words it. */
  function gatewayResponse(type: string, requestId: string): APIGatewayProxyResult {
    const { responses } = deployment;
    const response = responses[type] ?? responses.DEFAULT_5XX;
    if (!response) throw new Error(`no gateway response for ${type}`);
    const headers = Object.entries(response.headers).map(([name, value]) => [
      name,
      value === 'context.requestId' ? requestId : value.replace(/^'(.*)'$/, '$1'),
    ]);
    return {
      statusCode: response.status,
      headers: { 'Content-Type': 'application/json', ...Object.fromEntries(headers) },
      body: response.body.replaceAll('$context.requestId', requestId),
    };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const requestId = randomUUID();
    const result = await pass(request, requestId).catch((error: unknown) =>
      gatewayResponse(error instanceof Refused ? error.type : 'DEFAULT_5XX', requestId),
    );
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
    const page = request.method === 'GET' ? options.pages?.(splitTarget(request.url ?? '/').path) : undefined;
    if (page) {
      response.writeHead(200, { 'Content-Type': page.type }).end(page.body);
      return;
    }
    serve(request, response).catch(() => response.destroy());
  });
}

const codeOf = (body: string) =>
  body === '' ? 'OK' : ((JSON.parse(body) as { error?: { code: string } }).error?.code ?? 'OK');
