/** Each operation by its name, with its request as JSON. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { jsonText, parseJson } from '../json.ts';
import { type Command, checkIdempotencyKey, type MergeOptions } from '../options.ts';
import { COMMANDS, type PATHS } from '../types.ts';
import { connect } from './connect.ts';
import { asUsageError, COMMON, print, text, UsageError } from './output.ts';

const OPERATIONS = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(28)} ${summary}\n`);

export const OPERATIONS_HELP = `  and each operation by its name, with its request as JSON (- is standard input; default: no fields):
${OPERATIONS.join('')}    --idempotency-key K        repeat a merge within 24 hours without doing it twice
`;

/** The request that an argument is: a JSON object, whose integers stay exact. */
function requestOf(argument: string): object {
  const request = asUsageError(() => parseJson(argument === '-' ? readFileSync(0, 'utf8') : argument));
  if (typeof request === 'object' && request !== null && !Array.isArray(request)) return request;
  throw new UsageError('the request must be a JSON object');
}

/** Calls an operation, and prints its answer. The service checks the request. */
export async function callOperation({ method, isIdempotent }: Command, args: string[]): Promise<void> {
  const options = { ...COMMON, ...(isIdempotent && { 'idempotency-key': text }) };
  const { values, positionals } = asUsageError(() => parseArgs({ args, options, allowPositionals: true }));
  const [argument = '{}', ...others] = positionals;
  if (others.length > 0) throw new UsageError('an operation takes one request: quote its JSON');
  const request = requestOf(argument);
  const { 'idempotency-key': idempotencyKey = randomUUID() } = values as { 'idempotency-key'?: string };
  asUsageError(() => checkIdempotencyKey(idempotencyKey, '--idempotency-key'));
  // The method of each operation takes a request and these options.
  const call = connect()[method as keyof typeof PATHS] as (request: object, options: MergeOptions) => Promise<unknown>;
  const data = await call(request, isIdempotent ? { idempotencyKey } : {});
  const answered = Object.entries(data ?? {});
  if (values.json) print(jsonText(data) ?? 'null');
  else if (answered.length === 0) print('Done.');
  else
    for (const [field, value] of answered)
      print(`${field.padEnd(30)}  ${typeof value === 'object' ? jsonText(value) : value}`);
}
