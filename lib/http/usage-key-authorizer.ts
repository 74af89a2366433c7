import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import type { AppKeys } from './app-keys.ts';

/** `admin status` looks for it. */
export const REFUSED_KEY_MESSAGE = 'app key refused';

/**
 * Chooses the gateway key by which API Gateway throttles a call: the account's, or the shared one. It refuses no call, although it is an
 * authorizer: the handler checks the app key, so that all refusals are alike.
 * @param sharedGatewayKey value of the gateway key for all callers without their own
 * @throws when the app key cannot be looked up. API Gateway then answers 503 and caches nothing. If this returned the shared key instead,
 *   API Gateway would cache it, and long after DynamoDB recovers throttle the caller together with those that have no key
 */
export function createUsageKeyAuthorizer(
  appKeys: AppKeys,
  { log, metrics }: Pick<Deps, 'log' | 'metrics'>,
  sharedGatewayKey: string,
) {
  async function identify(appKey: string) {
    try {
      const caller = await appKeys.find(appKey);
      return { caller, refused: caller ? undefined : await appKeys.findRefused(appKey) };
    } catch (error) {
      log.warn('app key lookup failed', { error_name: (error as Error).name });
      // Lambda logs all of the error that it gets, so this one has nothing of the cause.
      throw new Error('the app key cannot be looked up');
    }
  }

  return async function usageKeyAuthorizer(
    event: APIGatewayRequestAuthorizerEvent,
  ): Promise<APIGatewayAuthorizerResult> {
    const appKey = event.queryStringParameters?.app_key ?? '';
    const { caller, refused } = await identify(appKey);
    if (caller && !caller.gatewayKey) {
      metrics.event('account_without_gateway_key');
      log.warn('account without a gateway key', { account_id: String(caller.accountId) });
    }
    if (refused)
      log.warn(REFUSED_KEY_MESSAGE, {
        account_id: String(refused.accountId),
        app_key_id: refused.appKeyId,
        reason: refused.reason,
      });
    return {
      principalId: caller ? String(caller.accountId) : 'unknown',
      // API Gateway caches one policy for an app key and uses it for every path, so it must allow all of them.
      policyDocument: {
        Version: '2012-10-17',
        Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${stageArnOf(event.methodArn)}/*` }],
      },
      usageIdentifierKey: caller?.gatewayKey ?? sharedGatewayKey,
      // For the access log, in which an alarm counts the refusals. Nobody can cause them without a key that was once issued.
      ...(refused && { context: { refused: refused.appKeyId } }),
    };
  };
}

/** `arn:…:api/stage` of `arn:…:api/stage/METHOD/path`. */
const stageArnOf = (methodArn: string) => methodArn.split('/').slice(0, 2).join('/');
