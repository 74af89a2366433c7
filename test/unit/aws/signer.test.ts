import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { HttpRequest } from '@smithy/core/protocols';
import { expect, it } from 'vitest';
import { createSigner } from '../../../lib/aws/signer.ts';

let current: DynamoDBClient['config'];
const signer = createSigner(() => current);

it.each([
  ['short-lived credentials', { secretAccessKey: 'secret/key+', sessionToken: 'token==' }, '{"a":"ü"}'],
  ['long-lived credentials', { secretAccessKey: 'secret/key+' }, new TextEncoder().encode('{}')],
  ['other credentials', { secretAccessKey: 'other' }, '{}'],
])('a signature with %s, on any day and in any region, equals that of the SDK’s signer', async (_what, own, body) => {
  const { config } = new DynamoDBClient({ region: 'eu-west-1', credentials: { accessKeyId: 'AKID', ...own } });
  const host = 'dynamodb.eu-west-1.amazonaws.com';
  const headersOf = (more: object) => ({ host, 'content-type': 'a/b', 'x-amz-target': 'T.GetItem', ...more });
  const request = (more = {}) =>
    new HttpRequest({ protocol: 'https:', hostname: host, method: 'POST', path: '/', headers: headersOf(more), body });
  // One signer for all: the key that it keeps must be that of the day, the region and the credentials.
  current = config;
  for (const day of [3, 4, 3])
    for (const signingRegion of ['eu-west-1', 'eu-north-1']) {
      const options = { signingDate: new Date(Date.UTC(2026, 1, day, 4, 5, 6, 789)), signingRegion };
      const { headers } = await (await config.signer()).sign(request(), options);
      const unsigned = request({ 'x-amz-content-sha256': headers['x-amz-content-sha256'] });
      expect((await signer.sign(unsigned, options)).headers).toEqual(headers);
      // It may be signed again.
      expect(unsigned.headers).not.toHaveProperty('authorization');
    }
});
