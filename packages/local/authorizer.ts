import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent } from 'aws-lambda';
import QuickLRU from 'quick-lru';
import type { Deployment, Route } from './deployment.ts';
import { GatewayRefusal } from './gateway-response.ts';

const MAX_CACHED = 10_000;

/**
 * Calls the authorizer for a request and caches its answer for as long as the deployment says.
 * @param invoke calls the authorizer's function
 */
export function createAuthorizer(
  { parameter, ttlMs }: Deployment['authorizer'],
  invoke: (request: object) => Promise<APIGatewayAuthorizerResult>,
) {
  const results = new QuickLRU<string, APIGatewayAuthorizerResult>({ maxSize: MAX_CACHED, maxAge: ttlMs });

  /** @throws GatewayRefusal */
  return async (event: APIGatewayProxyEvent, route: Route): Promise<APIGatewayAuthorizerResult> => {
    const identity = event.queryStringParameters?.[parameter];
    if (!identity) throw new GatewayRefusal('UNAUTHORIZED');
    let result = results.get(identity);
    if (!result) {
      const { body: _body, isBase64Encoded: _encoded, ...rest } = event;
      const methodArn = `arn:aws:execute-api:local:000000000000:local/local/${route.method}${route.path}`;
      result = await invoke({ ...rest, type: 'REQUEST', methodArn });
      results.set(identity, result);
    }
    return result;
  };
}
