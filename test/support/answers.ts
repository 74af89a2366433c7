import { expect } from 'vitest';
import type { Operation } from '../../lib/http/operation.ts';
import { parseJson } from '../../lib/shared/json.ts';
import { contract } from '../../packages/conformance/src/sections/index.ts';
import type { Answer } from './service.ts';

/** Checks the whole envelope of an answer: status, request id in body and header, and either `data` or the error's code. */
export function expectEnvelope(answer: Answer, status: number, code?: string): void {
  const { body, headers } = answer;
  expect({ status: answer.status, code: body.error?.code, message: body.error?.message }).toMatchObject({
    status,
    code,
  });
  expect(body.request_id).toEqual(expect.any(String));
  expect(headers).toMatchObject({
    'Svc-Request-Id': body.request_id,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
  });
  expect(Object.keys(body).sort()).toEqual(code ? ['error', 'request_id'] : ['data', 'request_id']);
  if (!code) return;
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message']);
  expect(body.error.message).toEqual(expect.any(String));
  expect(headers['Content-Language']).toEqual(expect.any(String));
  expect(headers.Vary).toContain('Accept-Language');
}

/** Expects a success as the contract and openapi.json describe it. @returns its `data`, with exact integers */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the answer holds
export function expectData({ path }: Pick<Operation, 'path'>, answer: Answer): any {
  expectEnvelope(answer, 200);
  const body = parseJson(answer.text) as { data: unknown };
  contract.validate('POST', path, { status: answer.status, headers: new Headers(answer.headers), body });
  return body.data;
}
