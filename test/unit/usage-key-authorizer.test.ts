import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../lib/auth/app-keys.ts';
import { createUsageKeyAuthorizer } from '../../lib/auth/usage-key-authorizer.ts';

const SHARED = 'shared-key-of-strangers';
const caller: Caller = { accountId: 9007199254740993n, appKeyId: 'a', permissions: [], cursorSecret: new Uint8Array() };

function authorized(find: () => Promise<Caller | undefined>) {
  const said: string[] = [];
  const keep = (message: string, fields: object) => void said.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info: keep, warn: keep, error: keep };
  const metrics = { call: () => undefined, records: () => undefined, event: (name: string) => void said.push(name) };
  const label = createUsageKeyAuthorizer({ find }, { log, metrics }, SHARED);
  const event = {
    methodArn: 'arn:aws:execute-api:eu-west-1:123456789012:abcdef/v1/POST/alert/merge',
    queryStringParameters: { app_key: 'the-secret-key' },
  } as unknown as APIGatewayRequestAuthorizerEvent;
  return { result: label(event), said };
}

describe('the label of a call', () => {
  it("is the account's gateway key, and allows every path, for the policy is kept", async () => {
    const { result, said } = authorized(async () => ({ ...caller, gatewayKey: 'gateway-key-of-the-account' }));
    expect(await result).toEqual({
      principalId: '9007199254740993',
      usageIdentifierKey: 'gateway-key-of-the-account',
      policyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Action: 'execute-api:Invoke',
            Effect: 'Allow',
            Resource: 'arn:aws:execute-api:eu-west-1:123456789012:abcdef/v1/*',
          },
        ],
      },
    });
    expect(said).toEqual([]);
  });

  it('of an unknown key is the shared one, and refuses nothing', async () => {
    expect(await authorized(async () => undefined).result).toMatchObject({
      principalId: 'unknown',
      usageIdentifierKey: SHARED,
    });
  });

  it('of an account without a gateway key is the shared one; log and metric tell the operator, without the key', async () => {
    const { result, said } = authorized(async () => caller);
    expect(await result).toMatchObject({
      usageIdentifierKey: SHARED,
      policyDocument: { Statement: [{ Effect: 'Allow' }] },
    });
    expect(said).toEqual([
      'account_without_gateway_key',
      'account without a gateway key {"account_id":"9007199254740993"}',
    ]);
  });

  it('is none when keys cannot be looked up: it throws, and neither log nor error holds the key', async () => {
    const { result, said } = authorized(async () => Promise.reject(new Error('the-secret-key')));
    await expect(result).rejects.toThrow('the app key cannot be looked up');
    const error = await result.catch((thrown: Error) => thrown);
    expect(said).toHaveLength(1);
    expect([said.join(), String(error), JSON.stringify(error)].join()).not.toContain('the-secret-key');
    expect((error as Error).cause).toBeUndefined();
  });
});
