import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import type { Caller } from '../../../lib/http/operation.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { newDouble, testDeps } from '../../support/service.ts';

const STAGE = 'arn:aws:execute-api:eu-west-1:123456789012:abcdef/v1';
const caller: Caller = { accountId: 9007199254740993n, appKeyId: 'a', permissions: [], cursorSecret: new Uint8Array() };

it.each<[of: string, caller: Caller | undefined, principal: string, gatewayKey: string, event?: string]>([
  ['is its own', { ...caller, gatewayKey: 'own' }, '9007199254740993', 'own'],
  ['is the shared one if the app key is unknown', undefined, 'unknown', 'shared'],
  [
    'is the shared one if it has none, which is logged and counted',
    caller,
    '9007199254740993',
    'shared',
    'account_without_gateway_key',
  ],
])('the gateway key of an account %s', async (_of, found, principalId, usageIdentifierKey, expected) => {
  const deps = testDeps(newDouble());
  const authorize = createUsageKeyAuthorizer(
    { find: async () => found, findRefused: async () => undefined },
    deps,
    'shared',
  );
  const event = { methodArn: `${STAGE}/POST/alert/merge`, queryStringParameters: { app_key: 'secret' } };
  // The policy allows every path, since API Gateway caches it.
  const Statement = [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${STAGE}/*` }];
  expect(await authorize(event as unknown as APIGatewayRequestAuthorizerEvent)).toEqual({
    ...{ principalId, usageIdentifierKey },
    policyDocument: { Version: '2012-10-17', Statement },
  });
  expect([deps.metrics.events, deps.log.lines]).toMatchObject(
    expected ? [[expected], [{ fields: { account_id: principalId } }]] : [[], []],
  );
});
