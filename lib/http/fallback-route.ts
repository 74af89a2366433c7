import middy from '@middy/core';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import { envelopeMiddleware } from './call.ts';
import { ApiError, refusal } from './errors.ts';
import type { ApiEvent, Handler, Reply } from './operation.ts';

/**
 * The handler of every path and method that is not served: 404, or 405 with `Allow` where the path is known. `GET /` tells that API Gateway
 * and Lambda answer, and whether they are a standby; it reads no table, since anyone may call it. It looks the path up by
 * `event.resource`, since `event.path` can begin with the base path of a custom domain and end in a slash.
 * @param allowedMethods the method of each path that is served. It is passed in, since the list of operations with its schemas would be
 *   most of the bundle
 */
export function createFallbackRoute(
  deps: Pick<Deps, 'now' | 'log'>,
  allowedMethods: Readonly<Record<string, string>>,
  standby = false,
): Handler {
  const chain = middy<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>().use(envelopeMiddleware(deps));
  return chain.handler(({ resource, httpMethod }) => {
    if (resource === '/' && httpMethod === 'GET') return { data: { status: 'ok', standby } };
    const allow = allowedMethods[resource];
    if (allow === undefined) throw new ApiError('RouteNotFound');
    throw refusal('methodNotAllowed', { allow }, { Allow: allow });
  }) as unknown as Handler;
}
