import middy from '@middy/core';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import type { ApiEvent, Reply } from './call.ts';
import { envelopeMiddleware } from './envelope.ts';
import { ApiError, refuse } from './errors.ts';
import { operations } from './operations.ts';
import type { Handler } from './serve.ts';

/** The handler of every path and method that is no operation: 404, or 405 with `Allow` where the path is known. */
export function refuseRoute(deps: Pick<Deps, 'now' | 'log'>): Handler {
  const chain = middy<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>().use(envelopeMiddleware(deps));
  return chain.handler((event) => {
    const known = operations.find(({ path }) => path === event.path);
    if (!known) throw new ApiError('RouteNotFound');
    throw refuse('MethodNotAllowed', 'methodNotAllowed', { allow: known.method }, { Allow: known.method });
  }) as unknown as Handler;
}
