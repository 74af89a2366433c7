/** Every answer is checked twice: against `openapi.json`, and against the schemas written from the contract's tables. */
import { readFileSync } from 'node:fs';
import type { KeywordDefinition, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { int64Keyword, withInt64 } from '../../lib/int64-keyword.ts';
import { isInt64 } from '../../lib/json.ts';
import { CODES, DATA, failure, success } from './contract.ts';
import { Broken } from './outcome.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a check looks at whatever the answer holds
  readonly body: any;
}

const OPENAPI = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));

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
const compiled = new Map<string, ValidateFunction>();

function compileOnce(name: string, compile: () => ValidateFunction): ValidateFunction {
  const validate = compiled.get(name) ?? compile();
  compiled.set(name, validate);
  return validate;
}

const pointer = (...parts: string[]) =>
  parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

function check(source: string, validate: ValidateFunction, body: unknown): void {
  if (!validate(body)) throw new Broken(`the answer differs from ${source}: ${openapi.errorsText(validate.errors)}`);
}

/** Checks an answer of an operation against openapi.json. */
function checkDescribed(path: string, { status, body }: Answer): void {
  const keysOfAnswer = ['paths', path, 'post', 'responses', String(status)];
  const response = OPENAPI.paths[path].post.responses[status];
  if (!response) throw new Broken(`openapi.json declares no answer ${status} of ${path}`);
  const shared: string | undefined = response.$ref?.split('/').at(-1);
  const described = shared === undefined ? response : OPENAPI.components.responses[shared];
  const name = `openapi#/${pointer(...(shared === undefined ? keysOfAnswer : ['components', 'responses', shared]), 'content', 'application/json', 'schema')}`;
  check(
    'openapi.json',
    compileOnce(name, () => openapi.compile({ $ref: name })),
    body,
  );
  // Each code that the operation answers with this status has an example.
  const codes = Object.keys(described.content['application/json'].examples ?? {});
  if (body.error && !codes.includes(body.error.code))
    throw new Broken(`openapi.json declares no ${body.error.code} of ${path}`);
}

/** Checks an answer against the contract's tables. */
function checkTables(path: string, { status, body }: Answer): void {
  const data = DATA[path];
  const validate =
    status === 200 && data
      ? compileOnce(path, () => tables.compile(success(data)))
      : compileOnce('failure', () => tables.compile(failure));
  check("the contract's tables", validate, body);
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
