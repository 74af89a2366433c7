import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import type { Caller } from '../../../lib/http/operation.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { createMetrics } from '../../../lib/shared/log.ts';

const STAGE = 'arn:aws:execute-api:eu-west-1:123456789012:abcdef/v1';
const caller: Caller = { accountId: 9007199254740993n, appKeyId: 'a', permissions: [], cursorSecret: new Uint8Array() };

it.each<[of: string, caller: Caller | undefined, principal: string, gatewayKey: string, written: string[]]>([
  ['is its own', { ...caller, gatewayKey: 'own' }, '9007199254740993', 'own', []],
  ['is the shared one if the app key is unknown', undefined, 'unknown', 'shared', []],
  [
    'is the shared one if it has none, which is logged and counted',
    caller,
    '9007199254740993',
    'shared',
    ['account_without_gateway_key', 'account without a gateway key {"account_id":"9007199254740993"}'],
  ],
])('the gateway key of an account %s', async (_of, found, principalId, usageIdentifierKey, expected) => {
  const written: string[] = [];
  const write = (message: string, fields: object) => void written.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info: write, warn: write, error: write };
  const metrics = { call: () => undefined, records: () => undefined, event: (name: string) => void written.push(name) };
  const authorize = createUsageKeyAuthorizer({ find: async () => found }, { log, metrics }, 'shared');
  const event = { methodArn: `${STAGE}/POST/alert/merge`, queryStringParameters: { app_key: 'secret' } };
  // The policy allows every path, since API Gateway caches it.
  const Statement = [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${STAGE}/*` }];
  expect(await authorize(event as unknown as APIGatewayRequestAuthorizerEvent)).toEqual({
    ...{ principalId, usageIdentifierKey },
    policyDocument: { Version: '2012-10-17', Statement },
  });
  expect(written).toEqual(expected);
});

it('an app key that cannot be looked up is an error without detail, so that API Gateway caches nothing', async () => {
  const warnings: unknown[] = [];
  const log = { info: () => undefined, warn: (...line: unknown[]) => void warnings.push(line), error: () => undefined };
  const find = () => Promise.reject(new TypeError('quotes secret'));
  const authorize = createUsageKeyAuthorizer({ find }, { log, metrics: createMetrics() }, 'shared');
  await expect(authorize({} as APIGatewayRequestAuthorizerEvent)).rejects.toThrow('the app key cannot be looked up');
  expect(warnings).toEqual([[expect.any(String), { error_name: 'TypeError' }]]);
});
