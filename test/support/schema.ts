import type { Operation } from '../../lib/http/operation.ts';
import { parseJson } from '../../lib/shared/json.ts';
import { validate } from '../../packages/conformance/src/answers.ts';
import { expectEnvelope } from './answers.ts';
import type { Answer } from './service.ts';

/** Expects a success as the contract and openapi.json describe it. @returns its `data`, with exact integers */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the answer holds
export function expectData({ path }: Pick<Operation, 'path'>, answer: Answer): any {
  expectEnvelope(answer, 200);
  const body = parseJson(answer.text) as { data: unknown };
  validate('POST', path, { status: answer.status, headers: new Headers(answer.headers), body });
  return body.data;
}
