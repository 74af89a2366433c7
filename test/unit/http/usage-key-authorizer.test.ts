import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../lib/http/operation.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';

const SHARED = 'shared-key';
const caller: Caller = { accountId: 9007199254740993n, appKeyId: 'a', permissions: [], cursorSecret: new Uint8Array() };

/** Calls the authorizer. @returns its result, and what it wrote as log lines and metrics */
function authorize(find: () => Promise<Caller | undefined>) {
  const written: string[] = [];
  const write = (message: string, fields: object) => void written.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info: write, warn: write, error: write };
  const metrics = { call: () => undefined, records: () => undefined, event: (name: string) => void written.push(name) };
  const authorizer = createUsageKeyAuthorizer({ find }, { log, metrics }, SHARED);
  const event = {
    methodArn: 'arn:aws:execute-api:eu-west-1:123456789012:abcdef/v1/POST/alert/merge',
    queryStringParameters: { app_key: 'the-secret-key' },
  } as unknown as APIGatewayRequestAuthorizerEvent;
  return { result: authorizer(event), written };
}

describe('the gateway key of a call', () => {
  it("is the account's; the policy allows every path, since API Gateway caches it", async () => {
    const { result, written } = authorize(async () => ({ ...caller, gatewayKey: 'gateway-key-of-the-account' }));
    const Resource = 'arn:aws:execute-api:eu-west-1:123456789012:abcdef/v1/*';
    expect(await result).toEqual({
      principalId: '9007199254740993',
      usageIdentifierKey: 'gateway-key-of-the-account',
      policyDocument: {
        Version: '2012-10-17',
        Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource }],
      },
    });
    expect(written).toEqual([]);
  });

  it('is the shared one for an unknown app key, and for an account without its own, which is logged and counted', async () => {
    const unknown = authorize(async () => undefined);
    expect(await unknown.result).toMatchObject({ principalId: 'unknown', usageIdentifierKey: SHARED });
    const { result, written } = authorize(async () => caller);
    expect(await result).toMatchObject({ principalId: '9007199254740993', usageIdentifierKey: SHARED });
    expect([unknown.written, written]).toEqual([
      [],
      ['account_without_gateway_key', 'account without a gateway key {"account_id":"9007199254740993"}'],
    ]);
  });
});
