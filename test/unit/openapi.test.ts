import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { breakingChanges } from '../../infra/generate/breaking-changes.ts';
import { CLIENT_TYPES_FILE, clientTypes } from '../../infra/generate/client-types.ts';
import { OPENAPI_FILE, openApiDocument, openApiText } from '../../infra/generate/openapi.ts';
import { ERROR_CODES } from '../../lib/api/errors.ts';
import { operations } from '../../lib/api/operations.ts';

const RELEASED = new URL('../../docs/openapi-released.json', import.meta.url);
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the document holds
const document = openApiDocument() as any;

describe('openapi.json', () => {
  it('is what the list of operations says today: `npm run openapi`', () => {
    expect(readFileSync(OPENAPI_FILE, 'utf8')).toBe(openApiText());
  });

  it('has no finding of the linter, in its strict form', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lint({ ref: fileURLToPath(OPENAPI_FILE), config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('has every operation, with every error code that is not reserved or of the router alone', () => {
    expect(Object.keys(document.paths)).toEqual(operations.map(({ path }) => path));
    const codes = new Set(
      Object.values(document.paths).flatMap((path) =>
        // biome-ignore lint/suspicious/noExplicitAny: as above
        Object.values((path as any).post.responses).flatMap(
          // biome-ignore lint/suspicious/noExplicitAny: as above
          (answer: any) => answer.content['application/json'].schema.properties.error?.properties.code.enum ?? [],
        ),
      ),
    );
    const ofRouter = new Set(['RouteNotFound', 'MethodNotAllowed', 'BadRequest']);
    const expected = Object.entries(ERROR_CODES).filter(([code, info]) => !('reserved' in info) && !ofRouter.has(code));
    expect([...codes].sort()).toEqual(expected.map(([code]) => code).sort());
  });

  it('breaks nothing that was released', () => {
    expect(breakingChanges(JSON.parse(readFileSync(RELEASED, 'utf8')), document)).toEqual([]);
  });
});

describe('a change that breaks callers', () => {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const changed = (change: (copy: any) => void) => {
    const copy = JSON.parse(JSON.stringify(document));
    change(copy);
    return breakingChanges(document, copy);
  };
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const post = (copy: any, path: string) => copy.paths[path].post;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const request = (copy: any, path: string) => post(copy, path).requestBody.content['application/json'].schema;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const data = (copy: any, path: string) =>
    post(copy, path).responses[200].content['application/json'].schema.properties.data;
  const FLEET = '/monit/servicemap/fleet';
  const MERGE = '/alert/merge';

  // biome-ignore lint/suspicious/noExplicitAny: as above
  const cases: [name: string, change: (copy: any) => void][] = [
    ['a path that is gone', (copy) => delete copy.paths[MERGE]],
    ['a request field that is required now', (copy) => request(copy, MERGE).required.push('comment')],
    ['a request field that is gone', (copy) => delete request(copy, MERGE).properties.comment],
    ['a smaller largest number', (copy) => Object.assign(request(copy, FLEET).properties.limit, { maximum: 50 })],
    ['fewer values in a request', (copy) => request(copy, FLEET).properties.statuses.items.enum.pop()],
    ['a field of the answer that is gone', (copy) => delete data(copy, FLEET).properties.coverage],
    ['a field of the answer that may be missing now', (copy) => data(copy, FLEET).required.pop()],
    ['another type in the answer', (copy) => Object.assign(data(copy, FLEET).properties.partial, { type: 'string' })],
    ['a status that is gone', (copy) => delete post(copy, MERGE).responses[413]],
  ];
  it.each(cases)('is found: %s', (_name, change) => {
    expect(changed(change)).toHaveLength(1);
  });

  it.each([
    [
      'a new optional request field',
      (copy: object) => Object.assign(request(copy, MERGE).properties, { more: { type: 'string' } }),
    ],
    [
      'a new field of the answer',
      (copy: object) => Object.assign(data(copy, FLEET).properties, { more: { type: 'string' } }),
    ],
    [
      'a larger largest number',
      (copy: object) => Object.assign(request(copy, FLEET).properties.limit, { maximum: 500 }),
    ],
  ])('is not: %s', (_name, change) => {
    expect(changed(change)).toEqual([]);
  });
});

it('client/types.ts is what openapi.json says today: `npm run openapi`', async () => {
  expect(readFileSync(CLIENT_TYPES_FILE, 'utf8')).toBe(await clientTypes());
});
