import type { Operation } from '../../lib/http/operations.ts';
import { parseJson } from '../../lib/shared/json.ts';
import { expectEnvelope } from './answers.ts';
import { expectDescribed } from './openapi.ts';
import type { Answer } from './service.ts';

/** Expects a success as openapi.json describes it. @returns its `data`, with exact integers */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the answer holds
export function expectData(operation: Operation, answer: Answer): any {
  expectEnvelope(answer, 200);
  expectDescribed(operation, answer);
  return (parseJson(answer.text) as { data: unknown }).data;
}
