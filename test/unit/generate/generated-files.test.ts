/** The files that `npm run generate` writes are what it would write today, and how openapi.json is served. */
import { readFileSync } from 'node:fs';
import { createConfig, lint } from '@redocly/openapi-core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { handler } from '../../../functions/openapi-document.ts';
import { errorExamples } from '../../../infra/generate/examples.ts';
import { FILES } from '../../../infra/generate/files.ts';
import type { Operation } from '../../../lib/http/operation.ts';
import { operations } from '../../../lib/operations/index.ts';
import { parseJson } from '../../../lib/shared/json.ts';

it.each(FILES)('%s', async (path, textOf) => {
  expect(readFileSync(path, 'utf8')).toBe(await textOf());
});

it('a refusal that is not listed is named, with the files that list it', () => {
  const refusals = [{ summary: 'Too few', name: 'notListed', values: undefined }];
  expect(() => errorExamples({ ...operations[0], refusals } as unknown as Operation)).toThrow(
    'browse-fleet has the refusal notListed: add it to REFUSALS of lib/http/errors.ts and to each catalog of lib/http/messages/',
  );
});

const OPENAPI = 'openapi.json';

it('openapi.json passes the strict rules of the linter', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lint({ ref: OPENAPI, config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});

it('openapi.json sends nobody to an address that it does not describe', () => {
  const text = readFileSync(OPENAPI, 'utf8');
  const named = new Set([...text.matchAll(/\bPOST (\/[\w/-]+)/g)].map(([, path]) => path));
  expect([...named].sort()).toEqual(['/alert/list', '/incident/list', '/member/list']);
  expect(Object.keys(JSON.parse(text).paths)).toEqual(expect.arrayContaining([...named]));
});

const get = (headers: Record<string, string> | null, multiValueHeaders?: Record<string, string[]>) =>
  handler({ headers, multiValueHeaders } as unknown as APIGatewayProxyEvent);

it('openapi-document serves openapi.json, every number exact, also to pages of other origins, and 304 to who has it', async () => {
  const { statusCode, headers, body } = await get(null);
  expect(statusCode).toBe(200);
  expect(parseJson(body)).toEqual(parseJson(readFileSync(OPENAPI, 'utf8')));
  expect(headers).toEqual({
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=300',
    'Access-Control-Allow-Origin': '*',
    ETag: expect.stringMatching(/^"[\w-]{22}"$/),
  });
  const etag = String(headers?.ETag);
  for (const value of [etag, `W/${etag}`, `"other", ${etag}`])
    expect(await get({ 'if-none-match': value })).toMatchObject({ statusCode: 304, body: '', headers: { ETag: etag } });
  // Several headers are one list; the single-value map has only the last.
  const other = { 'If-None-Match': '"other"' };
  expect(await get(other, { 'If-None-Match': [etag, '"other"'] })).toMatchObject({ statusCode: 304 });
  expect(await get(other)).toMatchObject({ statusCode: 200 });
});
