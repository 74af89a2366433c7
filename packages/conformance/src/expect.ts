/** Assertions about answers; a failure has the expected and the actual value. */
import { isDeepStrictEqual } from 'node:util';
import { stringifyJson } from '../../../lib/shared/json.ts';
import type { Answer } from './answers.ts';
import { CODES } from './contract.ts';
import { Broken } from './outcome.ts';

const MAX_VALUE_LENGTH = 300;

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : stringifyJson(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

export function equal(got: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(got, expected)) throw new Broken(`${what}: expected ${shown(expected)}, got ${shown(got)}`);
}

/** @param what describes the condition */
export function holds(condition: boolean, what: string, got?: unknown): void {
  if (!condition) throw new Broken(got === undefined ? `expected ${what}` : `expected ${what}, got ${shown(got)}`);
}

const outcome = ({ status, body }: Answer) => `${status}${body.error ? ` ${body.error.code}` : ''}`;

/**
 * Expects a success.
 * @returns its `data`
 */
// biome-ignore lint/suspicious/noExplicitAny: a check looks at whatever the answer holds
export function data(answer: Answer): any {
  if (answer.status !== 200) throw new Broken(`expected 200, got ${outcome(answer)}: ${answer.body.error?.message}`);
  return answer.body.data;
}

/** Demands a refusal with the status of its code, and its `Retry-After` if it has one. @param named what its message must name */
export function refused(answer: Answer, code: string, named = ''): void {
  const expected = `${CODES[code]} ${code}`;
  if (outcome(answer) !== expected) throw new Broken(`expected ${expected}, got ${outcome(answer)}`);
  const { message } = answer.body.error;
  holds(message.includes(named), `a message that names ${named}`, message);
  const retryAfter = answer.headers.get('retry-after');
  if (answer.status === 429 || answer.status === 503) holds(Number(retryAfter) >= 1, 'Retry-After', retryAfter);
}

/** Demands `InvalidParameter` with a message that names the field. */
export const invalid = (answer: Answer, field: string) => refused(answer, 'InvalidParameter', field);
