import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { handler } from '../../../functions/openapi-document.ts';
import { OPENAPI_FILE, openApiDocument } from '../../../infra/generate/openapi.ts';

const _document = openApiDocument() as { paths: object; components: { schemas: object } };

describe('openapi.json', () => {
  it('passes the strict rules of the linter', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lint({ ref: fileURLToPath(OPENAPI_FILE), config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });
});

const get = (headers: Record<string, string> | null) => handler({ headers } as unknown as APIGatewayProxyEvent);

describe('the function openapi-document', () => {
  it('serves openapi.json to everyone, also to pages of other origins, to be cached for five minutes', async () => {
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

  it('answers 304 if the caller has the current document', async () => {
    const firstAnswer = await get({});
    const etag = String(firstAnswer.headers?.ETag);
    for (const name of ['If-None-Match', 'if-none-match', 'IF-NONE-MATCH'])
      for (const value of [etag, `W/${etag}`, `"other", ${etag}`])
        expect(await get({ [name]: value })).toMatchObject({ statusCode: 304, body: '', headers: { ETag: etag } });
    // Several headers are one list; the single-value map has only the last.
    const multiValueHeaders = { 'If-None-Match': [etag, '"other"'] };
    const event = { headers: { 'If-None-Match': '"other"' }, multiValueHeaders } as unknown as APIGatewayProxyEvent;
    expect(await handler(event)).toMatchObject({ statusCode: 304 });
    for (const headers of [{ 'If-None-Match': '"other"' }, { 'If-Match': etag }])
      expect((await get(headers)).statusCode).toBe(200);
  });
});
