import middy from '@middy/core';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import type { ApiEvent, Reply } from './call.ts';
import { envelopeMiddleware } from './envelope.ts';
import { ApiError, refuse } from './errors.ts';
import { ROUTE_CATALOGS } from './messages/index.ts';
import type { Operation } from './operations.ts';
import type { Handler } from './serve.ts';

const METHOD: Operation['method'] = 'POST';

/**
 * The handler of every path and method that is no operation: 404, or 405 with `Allow` where the path is known. It is told
 * the paths, for the list of operations with its schemas would be most of its bundle.
 */
export function refuseRoute(deps: Pick<Deps, 'now' | 'log'>, operationPaths: readonly string[]): Handler {
  const chain = middy<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>().use(
    envelopeMiddleware(deps, ROUTE_CATALOGS),
  );
  return chain.handler((event) => {
    if (!operationPaths.includes(event.path)) throw new ApiError('RouteNotFound');
    throw refuse('MethodNotAllowed', 'methodNotAllowed', { allow: METHOD }, { Allow: METHOD });
  }) as unknown as Handler;
}
