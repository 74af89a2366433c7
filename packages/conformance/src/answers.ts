/** Validates every answer against `openapi.json` and against the contract's tables. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { int64Keyword, withInt64 } from '../../../infra/generate/int64-keyword.ts';
import { CODES, failure, type OperationContract, success } from './contract.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a check looks at whatever the answer holds
  readonly body: any;
}

const OPENAPI = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));

/** Closes every object of a schema, so that undeclared fields are errors. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return typeof inner.properties === 'object' && inner.type === 'object'
    ? { ...inner, unevaluatedProperties: false }
    : inner;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
  .addKeyword(int64Keyword)
  .addSchema(closed(withInt64(OPENAPI)) as object, 'openapi');
const anyFailure = ajv.compile(failure);

function assertValid(source: string, validate: ValidateFunction | undefined, body: unknown): void {
  if (!validate) throw new Error(`no schema in ${source}`);
  if (validate(body)) return;
  const names = validate.errors?.flatMap(({ params }) => params.additionalProperty ?? []) ?? [];
  const unknown = names.length > 0 ? ` (${names.join(', ')})` : '';
  expect.fail(`the answer differs from ${source}: ${ajv.errorsText(validate.errors)}${unknown}`);
}

/** Headers that only some answers with a status have. A success has the language of the reasons, if it has reasons. */
const isOptional = (name: string, status: number) =>
  /^(idempotent-replayed|(x-)?ratelimit.*)$/i.test(name) || (name === 'Content-Language' && status === 200);

/** Checks an answer of an operation against openapi.json. */
function checkAgainstOpenapi(path: string, { status, headers, body }: Answer): void {
  const declared = OPENAPI.paths[path].post.responses[status];
  expect(declared, `answer ${status} of ${path} in openapi.json`).toBeDefined();
  const response = declared.$ref ? OPENAPI.components.responses[declared.$ref.split('/').at(-1)] : declared;
  const { content } = response;
  for (const name of Object.keys(response.headers))
    if (!isOptional(name, status)) expect(headers.has(name), `header ${name} of ${path} ${status}`).toBe(true);
  const { schema, examples } = content['application/json'];
  assertValid('openapi.json', ajv.getSchema(`openapi${schema.$ref}`), body);
  // Every code that the operation answers with this status has an example.
  if (body.error) expect(Object.keys(examples ?? {}), `codes of ${path} in openapi.json`).toContain(body.error.code);
}

/**
 * Validates an answer against the contract and openapi.json: the fields and their types, that the status belongs to the error code, and that
 * `Svc-Request-Id` is the body's request_id.
 */
export type Validate = (method: string, path: string, answer: Answer) => void;

export function createValidate(operations: readonly OperationContract[]): Validate {
  const successOf = new Map(operations.map(({ path, data }) => [path, ajv.compile(success(data))]));
  return (method, path, answer) => {
    const { status, headers, body } = answer;
    assertValid("the contract's tables", status === 200 ? successOf.get(path) : anyFailure, body);
    if (body.error) expect(status, `status of ${body.error.code}`).toBe(CODES[body.error.code]);
    if (method === 'POST' && path in OPENAPI.paths && status !== 404) checkAgainstOpenapi(path, answer);
    expect(headers.get('svc-request-id'), 'Svc-Request-Id').toBe(body.request_id);
  };
}

const outcomeOf = ({ status, body }: Answer) => (body.error ? `${status} ${body.error.code}` : `${status}`);

/** Asserts a success. @returns its `data` */
// biome-ignore lint/suspicious/noExplicitAny: a check looks at whatever the answer holds
export function data(answer: Answer): any {
  expect(outcomeOf(answer), answer.body.error?.message).toBe('200');
  return answer.body.data;
}

/** Asserts a refusal with this code, the code's status, and `Retry-After` with 429 and 503. @param named what the message must name */
export function refused(answer: Answer, code: string, named = ''): void {
  expect(outcomeOf(answer)).toBe(`${CODES[code]} ${code}`);
  expect(answer.body.error.message).toContain(named);
  if (answer.status === 429 || answer.status === 503)
    expect(Number(answer.headers.get('retry-after')), 'Retry-After').toBeGreaterThanOrEqual(1);
}

/** Asserts `InvalidParameter` with a message that names the field. */
export const invalid = (answer: Answer, field: string) => refused(answer, 'InvalidParameter', field);
