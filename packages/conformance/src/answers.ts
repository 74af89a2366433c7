/** Checks every answer twice: against `openapi.json`, and against schemas written from the contract's tables. */
import { readFileSync } from 'node:fs';
import type { KeywordDefinition, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { int64Keyword, withInt64 } from '../../../infra/generate/int64-keyword.ts';
import { isInt64 } from '../../../lib/shared/json.ts';
import { CODES, DATA, failure, success } from './contract.ts';
import { Broken } from './outcome.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a check looks at whatever the answer holds
  readonly body: any;
}

const OPENAPI = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));

const createAjv = (keyword: KeywordDefinition) =>
  new Ajv2020({ strict: false, allErrors: true, logger: false }).addKeyword(keyword);

/** openapi.json with every object closed, so that undeclared fields are errors. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return typeof inner.properties === 'object' && inner.type === 'object'
    ? { ...inner, unevaluatedProperties: false }
    : inner;
}

const openapi = createAjv(int64Keyword).addSchema(closed(withInt64(OPENAPI)) as object, 'openapi');
const tables = createAjv({
  keyword: 'exactInteger',
  validate: (_on: true, value: unknown) => isInt64(value),
  errors: false,
});
const successOf = new Map(Object.entries(DATA).map(([path, data]) => [path, tables.compile(success(data))]));
const anyFailure = tables.compile(failure);

function check(source: string, validate: ValidateFunction | undefined, body: unknown): void {
  if (!validate) throw new Error(`${source} has no schema of the answer`);
  if (!validate(body)) throw new Broken(`the answer differs from ${source}: ${openapi.errorsText(validate.errors)}`);
}

/** Checks an answer of an operation against openapi.json. */
function checkDescribed(path: string, { status, body }: Answer): void {
  const response = OPENAPI.paths[path].post.responses[status];
  if (!response) throw new Broken(`openapi.json declares no answer ${status} of ${path}`);
  const { content } = response.$ref ? OPENAPI.components.responses[response.$ref.split('/').at(-1)] : response;
  const { schema, examples = {} } = content['application/json'];
  check('openapi.json', openapi.getSchema(`openapi${schema.$ref}`), body);
  // Every code that the operation answers with this status has an example.
  if (body.error && !(body.error.code in examples))
    throw new Broken(`openapi.json declares no ${body.error.code} of ${path}`);
}

/** Checks an answer against the contract's tables. */
function checkTables(path: string, { status, body }: Answer): void {
  check("the contract's tables", (status === 200 && successOf.get(path)) || anyFailure, body);
  if (body.error && CODES[body.error.code] !== status)
    throw new Broken(`expected ${body.error.code} with ${CODES[body.error.code]}, got ${status}`);
}

/** @throws Broken when an answer is not what openapi.json or the contract says of it */
export function validate(method: string, path: string, answer: Answer): void {
  checkTables(path, answer);
  if (method === 'POST' && path in OPENAPI.paths && answer.status !== 404) checkDescribed(path, answer);
  const header = answer.headers.get('svc-request-id');
  if (header !== answer.body.request_id)
    throw new Broken(`Svc-Request-Id: expected ${answer.body.request_id}, got ${header}`);
}
