/** Checks answers with 200 against the response schemas of the operations, strictly and with exact integers. */
import { Ajv, type ValidateFunction } from 'ajv';
import { expect } from 'vitest';
import type { Operation } from '../../lib/http/operations.ts';
import { isInt64, parseJson } from '../../lib/shared/json.ts';
import { expectEnvelope } from './answers.ts';
import type { Answer } from './service.ts';

const ajv = new Ajv({ strict: true, allErrors: true });
ajv.addKeyword({ keyword: 'exactInt64', validate: (_on: true, data: unknown) => isInt64(data) });
const compiled = new Map<Operation, ValidateFunction>();

/** The schema with a keyword of our own for int64, since ajv knows no bigints. */
function exact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(exact);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('format' in schema && schema.format === 'int64') return { exactInt64: true };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, exact(value)]));
}

/** Demands a success whose `data` is what the operation's schema says. @returns `data`, its integers exact */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the answer holds
export function expectData(operation: Operation, answer: Answer): any {
  expectEnvelope(answer, 200);
  const validate = compiled.get(operation) ?? ajv.compile(exact(operation.response) as object);
  compiled.set(operation, validate);
  const { data } = parseJson(answer.text) as { data: unknown };
  validate(data);
  expect(validate.errors ?? []).toEqual([]);
  return data;
}
