import { readFileSync } from 'node:fs';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { handler } from '../../functions/openapi-document.ts';

const get = (headers: Record<string, string> | null) => handler({ headers } as unknown as APIGatewayProxyEvent);

it('the description is public, also for pages of other origins, and may be cached for five minutes', async () => {
  const { statusCode, headers, body } = await get(null);
  expect(statusCode).toBe(200);
  expect(JSON.parse(body)).toEqual(JSON.parse(readFileSync('openapi.json', 'utf8')));
  expect(headers).toEqual({
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=300',
    'Access-Control-Allow-Origin': '*',
    ETag: expect.stringMatching(/^"[\w-]{22}"$/),
  });
});

it('the description is answered with 304 if the caller has it', async () => {
  const first = await get({});
  const etag = String(first.headers?.ETag);
  for (const name of ['If-None-Match', 'if-none-match', 'IF-NONE-MATCH'])
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`])
      expect(await get({ [name]: value })).toMatchObject({ statusCode: 304, body: '', headers: { ETag: etag } });
  // Several headers are one list; the single-value map has the last.
  const multiValueHeaders = { 'If-None-Match': [etag, '"other"'] };
  const event = { headers: { 'If-None-Match': '"other"' }, multiValueHeaders } as unknown as APIGatewayProxyEvent;
  expect(await handler(event)).toMatchObject({ statusCode: 304 });
  for (const headers of [{ 'If-None-Match': '"other"' }, { 'If-Match': etag }])
    expect((await get(headers)).statusCode).toBe(200);
});
