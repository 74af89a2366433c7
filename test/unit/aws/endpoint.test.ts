import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Endpoint } from '../../../lib/aws/endpoint.ts';

it('takes percent-encoded credentials from its endpoint, which prints itself without them', () => {
  const withCredentials = new Endpoint('http://a%2Fb:c%2Fd%3D@127.0.0.1:8000');
  expect(withCredentials.credentials).toEqual({ accessKeyId: 'a/b', secretAccessKey: 'c/d=' });
  expect(new Endpoint('http://127.0.0.1:8000').hasCredentials).toBe(false);
  for (const shown of [String(withCredentials), inspect(withCredentials), JSON.stringify(withCredentials)])
    expect(shown).toMatch(/^[^@%]*http:\/\/127\.0\.0\.1:8000[^/]*$/);
  for (const wrong of ['id:secret@127.0.0.1:8000', 'ftp://id:secret@127.0.0.1', '//id:secret@127.0.0.1', 'secret'])
    expect(() => new Endpoint(wrong)).toThrow(/^(?!.*secret).*must be a URL/);
});
