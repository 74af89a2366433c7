/** Reads openapi.json, and checks answers against it. */
import { readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Operation } from '../../lib/http/operations.ts';
import { int64Keyword, withInt64 } from '../../lib/shared/int64-keyword.ts';
import { parseJson } from '../../lib/shared/json.ts';
import type { Answer } from './service.ts';

/** An OpenAPI document with every reference replaced by what it names. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the document holds
export function inlined(document: unknown): any {
  const follow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(follow);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as { $ref?: string };
    const members = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, follow(member)]));
    if ($ref === undefined) return members;
    const named = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], document);
    return { ...(follow(named) as object), ...members };
  };
  return follow(document);
}

/** openapi.json without references, and with exact bounds. */
const document = inlined(parseJson(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')));
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addKeyword(int64Keyword);
const compiled = new Map<string, ValidateFunction>();

/** Headers that only some answers with a status have. */
const optionalHeaders = (status: number) =>
  status < 500 ? ['idempotent-replayed'] : ['idempotent-replayed', /^(x-)?ratelimit/];

/** Fails unless openapi.json declares the status, the headers, the body and the error code of the answer. */
export function expectDescribed({ path }: Pick<Operation, 'path'>, { status, headers, text }: Answer): void {
  const response = document.paths[path].post.responses[status];
  expect(response, `openapi.json does not list ${status} for ${path}`).toBeDefined();
  const { schema, examples = {} } = response.content['application/json'];
  const key = `${path} ${status}`;
  const validate = compiled.get(key) ?? ajv.compile(withInt64(schema) as object);
  compiled.set(key, validate);
  const body = parseJson(text) as { error?: { code: string } };
  expect(validate(body), ajv.errorsText(validate.errors)).toBe(true);
  if (body.error) expect(Object.keys(examples)).toContain(body.error.code);
  const sent = Object.keys(headers).map((name) => name.toLowerCase());
  const required = Object.keys(response.headers)
    .map((name) => name.toLowerCase())
    .filter((name) => !optionalHeaders(status).some((pattern) => name.match(pattern)));
  expect(sent).toEqual(expect.arrayContaining(required));
}
