/**
 * What the chain costs a call: app key (in the cache), permission, content type, size, JSON, schema, envelope, log line and metric,
 * with an operation that answers at once, against a route that does nothing but answer on the field's routers.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { connectTable } from '../../../lib/dynamodb/client.ts';
import { createOperationHandler } from '../../../lib/http/operation-handler.ts';
import { getRumResource } from '../../../lib/http/operations.ts';
import validate from '../../../lib/operations/get-rum-resource/validate-get-rum-resource.ts';
import type { Deps } from '../../../lib/shared/deps.ts';
import { createLog } from '../../../lib/shared/log.ts';
import { createMetrics } from '../../../lib/shared/metrics.ts';
import { readSettings } from '../../../lib/shared/settings.ts';
import { TIME_LIMITS } from '../../../lib/shared/time-limits.ts';
import { type Timing, takeTurns } from '../compare.ts';
import type { NewFigure } from '../report.ts';

// Installed here, not by `npm ci`: only this benchmark needs them.
const folder = fileURLToPath(new URL('../../../.local/bench/', import.meta.url));
const ROUTERS = ['@aws-lambda-powertools/event-handler@2.35.0', '@codegenie/serverless-express@5.0.0', 'express@5.3.0'];
mkdirSync(folder, { recursive: true });
const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
execFileSync('npm', ['install', ...options, '--prefix', folder, ...ROUTERS], { stdio: 'inherit' });
const require = createRequire(folder);
const { Router } = require('@aws-lambda-powertools/event-handler/http') as {
  Router: new () => { post(path: string, route: () => object): void; resolve: Handler };
};
type Route = (request: unknown, response: { json(body: unknown): void }) => void;
const express = require('express') as () => { post(path: string, route: Route): void };
const serverlessExpress = require('@codegenie/serverless-express') as (options: { app: unknown }) => Handler;

const CALLS = 200;
const PATH = getRumResource.path;
const BODY = Buffer.from('{"no_cache":false}').toString('base64');
const ANSWER = { request_id: 'bench', data: {} };

const newEvent = () =>
  ({
    resource: PATH,
    path: PATH,
    httpMethod: 'POST',
    headers: { 'Content-Type': 'application/json', Host: 'api.example' },
    multiValueHeaders: { 'Content-Type': ['application/json'], Host: ['api.example'] },
    queryStringParameters: { app_key: 'a'.repeat(43) },
    multiValueQueryStringParameters: { app_key: ['a'.repeat(43)] },
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      requestId: 'bench',
      stage: 'v1',
      path: PATH,
      httpMethod: 'POST',
      identity: { sourceIp: '127.0.0.1' },
      domainName: 'api.example',
    },
    body: BODY,
    isBase64Encoded: true,
  }) as unknown as APIGatewayProxyEvent;

const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 30_000 } as unknown as Context;
type Handler = (event: APIGatewayProxyEvent, context: Context) => unknown;

/** The service's chain, its key look-up answered once and then from the cache. */
function ours(): Handler {
  const table = connectTable({ name: 'canned', endpoint: 'http://127.0.0.1:1' });
  const row = { account_id: { N: '1' }, permissions: { L: [{ S: 'monit' }] }, cursor_secret: { B: 'c2VjcmV0' } };
  Object.assign(table.client.config, {
    requestHandler: {
      handle: async () => ({
        response: { statusCode: 200, headers: {}, body: Buffer.from(JSON.stringify({ Item: row })) },
      }),
    },
  });
  const began = Date.now();
  const deps: Deps = {
    table,
    now: () => began,
    newId: () => 'id',
    log: createLog(),
    metrics: createMetrics(),
    settings: readSettings({ TABLE_NAME: 'canned' }),
    timeLimits: TIME_LIMITS,
  };
  return createOperationHandler(getRumResource, { validate, operate: async () => ({ data: {} }) }, deps) as Handler;
}

function powertools(): Handler {
  const router = new Router();
  router.post(PATH, () => ANSWER);
  return (event, ctx) => router.resolve(event, ctx);
}

function hono(): Handler {
  const app = new Hono();
  app.post(PATH, (c) => c.json(ANSWER));
  return handle(app) as unknown as Handler;
}

function onExpress(): Handler {
  const app = express();
  app.post(PATH, (_request, response) => response.json(ANSWER));
  return serverlessExpress({ app });
}

const middyAlone = (): Handler =>
  middy().handler(async () => ({ statusCode: 200, body: JSON.stringify(ANSWER) })) as unknown as Handler;

/** Discards output while an action runs: log lines and metrics are written, but not read. */
async function muted<Result>(act: () => Promise<Result>): Promise<Result> {
  const { write } = process.stdout;
  process.stdout.write = () => true;
  try {
    return await act();
  } finally {
    process.stdout.write = write;
  }
}

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const handlers = {
    service: ours(),
    Hono: hono(),
    Powertools: powertools(),
    Express: onExpress(),
    'middy alone': middyAlone(),
  };
  for (const [name, handler] of Object.entries(handlers)) {
    const answer = await muted(async () => handler(newEvent(), context));
    const { statusCode, body } = answer as { statusCode: number; body: string };
    if (statusCode !== 200 || JSON.parse(body).request_id !== 'bench')
      throw new Error(`${name} answers ${statusCode} ${body}`);
  }
  const many = (handler: Handler) => async () => {
    for (let call = 0; call < CALLS; call += 1) await handler(newEvent(), context);
  };
  const tasks = Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [name, many(handler)]));
  const { service, ...others } = await muted(() => takeTurns(tasks, { rounds: 20, calls: 10 }));
  const perCall = (timing?: Timing) => ((timing?.p50 ?? 0) * 1_000) / CALLS;
  for (const [name, timing] of Object.entries(others))
    add({
      name: `a call through the chain, against ${name}`,
      value: perCall(service),
      unit: 'us',
      baseline: { name: `a bare route of ${name}`, value: perCall(timing) },
      ...(name === 'Hono' && { target: { most: 1 } }),
    });
}
