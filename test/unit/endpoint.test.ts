import { expect, it } from 'vitest';
import { splitEndpoint } from '../../lib/dynamodb/client.ts';

it('an endpoint holds its credentials percent-encoded', () => {
  expect(splitEndpoint('http://a%2Fb:c%2Fd%3D@127.0.0.1:8000')).toEqual({
    url: 'http://127.0.0.1:8000',
    credentials: { accessKeyId: 'a/b', secretAccessKey: 'c/d=' },
  });
});
