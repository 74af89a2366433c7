/** Each operation by its name, with an option for each field of its request. */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { jsonText, parseJson } from '../json.ts';
import type { Command, MergeOptions } from '../options.ts';
import { COMMANDS, type PATHS } from '../types.ts';
import { connect } from './connect.ts';
import { asUsageError, COMMON, flag, integer, print, text, texts, UsageError } from './output.ts';

/** The option that takes a field of a request. */
const optionOf = (field: string) => field.replaceAll('_', '-');

const OPERATIONS = Object.entries(COMMANDS).map(([name, { summary, fields, isIdempotent }]) => {
  const options = [...Object.keys(fields).map(optionOf), ...(isIdempotent ? ['idempotency-key'] : [])];
  return `  ${name.padEnd(28)} ${summary}\n    ${options.map((option) => `--${option}`).join(' ')}\n`;
});

export const OPERATIONS_HELP = `  and each operation by its name, with an option for each field of its request. Lists of texts are repeated options,
  flags take no value, and other lists and objects are JSON:
${OPERATIONS.join('')}`;

const PARSERS: { readonly [Kind in Command['fields'][string]]: (name: string, given: unknown) => unknown } = {
  flag: (_name, given) => given,
  text: (_name, given) => given,
  texts: (_name, given) => given,
  integer: (name, given) => integer(name, String(given)),
  json(name, given) {
    try {
      return parseJson(String(given));
    } catch {
      throw new UsageError(`--${name} must be JSON`);
    }
  },
};

/** Calls an operation with what its options say, and prints the answer. The service checks the request. */
export async function callOperation({ method, fields, isIdempotent }: Command, args: string[]): Promise<void> {
  const types = { flag, text, texts, integer: text, json: text };
  const options = Object.fromEntries(Object.entries(fields).map(([field, kind]) => [optionOf(field), types[kind]]));
  const all = { ...options, ...COMMON, ...(isIdempotent && { 'idempotency-key': text }) };
  const values: Record<string, unknown> = asUsageError(() => parseArgs({ args, options: all })).values;
  const given = Object.entries(fields).filter(([field]) => optionOf(field) in values);
  const request = given.map(([field, kind]) => [field, PARSERS[kind](optionOf(field), values[optionOf(field)])]);
  // The method of each operation takes a request and these options.
  const call = connect()[method as keyof typeof PATHS] as (request: object, options: MergeOptions) => Promise<unknown>;
  const { 'idempotency-key': idempotencyKey = randomUUID() } = values as { 'idempotency-key'?: string };
  const data = await call(Object.fromEntries(request), isIdempotent ? { idempotencyKey } : {});
  const answered = Object.entries(data ?? {});
  if (values.json) print(jsonText(data) ?? 'null');
  else if (answered.length === 0) print('Done.');
  else
    for (const [field, value] of answered)
      print(`${field.padEnd(30)}  ${typeof value === 'object' ? jsonText(value) : value}`);
}
