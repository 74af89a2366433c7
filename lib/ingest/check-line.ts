/** Checks lines of import and the feed by {@link LINES}. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Fields, fieldErrorOf } from '../http/body.ts';
import { catalog as en } from '../http/messages/en.ts';
import { isInt64, parseJson, positionOf, syntaxErrorAt } from '../shared/json.ts';
import { int64Keyword, withInt64 } from './int64-keyword.ts';
import {
  type Entity,
  type Kind,
  LINES,
  type LineSchema,
  MAX_DELETABLE_VERSION,
  REMOVABLE_FIELDS,
  UNIX_SECONDS,
} from './kinds.ts';

/** Maximum bytes of a line in UTF-8. Its row then takes less than half of the 400 KB that DynamoDB allows. */
export const MAX_LINE_BYTES = 65_536;

/** Compiles a schema at its first use, and keeps it. */
const ajv = new Ajv({ allErrors: true, messages: false, useDefaults: true });
ajv.addKeyword(int64Keyword);
const validators = new Map<LineSchema, ValidateFunction>();
function validatorOf(schema: LineSchema): ValidateFunction {
  const validate = validators.get(schema) ?? ajv.compile<unknown>(withInt64(schema) as object);
  validators.set(schema, validate);
  return validate;
}

/** The entity of a line, if that has no problems. @param kinds those that are accepted */
export function entityOf<OfKind extends Kind>(
  text: string,
  kinds: readonly OfKind[],
): { problems: string[]; entity?: Entity<OfKind> } {
  if (Buffer.byteLength(text) > MAX_LINE_BYTES) return { problems: [`is longer than ${MAX_LINE_BYTES} bytes`] };
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    // The parser's message quotes the line, which may contain an app key.
    const { column } = positionOf(text, syntaxErrorAt(text) ?? text.length);
    return { problems: [`is not valid JSON (column ${column})`] };
  }
  const problems = problemsOf(parsed, kinds);
  return problems.length === 0 ? { problems, entity: parsed as Entity<OfKind> } : { problems };
}

/** Problems of a parsed line; empty if it is an entity of one of the kinds. */
export function problemsOf(line: unknown, kinds: readonly Kind[]): string[] {
  if (typeof line !== 'object' || line === null || Array.isArray(line)) return ['a line must be a JSON object'];
  const { kind, retired } = line as { kind?: Kind; retired?: unknown };
  if (kind === undefined || !kinds.includes(kind)) return [`kind must be one of ${kinds.join(', ')}`];
  const schema = LINES[kind === 'host' && retired !== undefined ? 'retired_host' : kind];
  const fields = schema.properties as Fields;
  const validate = validatorOf(schema);
  validate(kind === 'host_status' ? withoutRemoved(line) : line);
  const problems = (validate.errors ?? []).map((error) => problemText(error, fields, line));
  if (kind === 'app_key' && 'app_key' in line === 'app_key_hash' in line)
    problems.push('exactly one of app_key and app_key_hash is required');
  if (kind === 'alert' && 'alert_id' in line === 'source_id' in line)
    problems.push('exactly one of alert_id and source_id is required');
  if (kind === 'work_item') problems.push(...workItemProblems(line));
  if (!Object.keys(line).every(isStorableName)) problems.push(`a line ${NAME_PROBLEM}`);
  for (const [field, value] of Object.entries(line))
    for (const problem of Object.hasOwn(fields, field) ? textProblems(value) : storageProblems(value))
      problems.push(`${field} ${problem}`);
  return [...new Set(problems)];
}

/** A status report without the fields that it removes, which are null. */
const withoutRemoved = (report: object) =>
  Object.fromEntries(Object.entries(report).filter(([field, value]) => value !== null || !REMOVABLE_FIELDS.has(field)));

/** Problems of a work item that no schema can express. */
function* workItemProblems(line: object): Generator<string> {
  for (const name of RESERVED_WORK_ITEM_FIELDS) if (name in line) yield `${name} is reserved: rename the field`;
  const { version, deleted_at_ms, undone_deletion: undone } = line as Partial<Record<string, unknown>>;
  if (undone !== undefined && !isUndoneDeletion(undone))
    yield 'undone_deletion must have version (int64), at_ms (Unix milliseconds) and, if known, by (string)';
  if (isInt64(version) && version > MAX_DELETABLE_VERSION && deleted_at_ms === undefined)
    yield `version must be at most ${MAX_DELETABLE_VERSION}, unless the work item is deleted: deletion adds 1`;
}

function isUndoneDeletion(value: unknown): boolean {
  const { version, at_ms, by = '' } = (value ?? {}) as Partial<Record<string, unknown>>;
  return isInt64(version) && Number.isSafeInteger(at_ms) && Number(at_ms) >= 0 && typeof by === 'string';
}

/** Names that a work item's further fields must not have, since the service has attributes of these names. */
const RESERVED_WORK_ITEM_FIELDS = ['pk', 'sk', 'ttl', 'large', 'feed_order', 'deletion_order'];

/** Maximum nesting levels of a row, counting the row itself. */
const MAX_DEPTH = 31;
/** The smallest magnitude that DynamoDB stores. */
const SMALLEST_NUMBER = 1e-130;

const isStorableName = (name: string) => name !== '' && name.isWellFormed();
const NAME_PROBLEM = 'must not contain field names that are empty or not well-formed Unicode';

function* textProblems(value: unknown): Generator<string> {
  const texts = Array.isArray(value) ? value : [value];
  if (texts.some((text) => typeof text === 'string' && !text.isWellFormed())) yield 'must be well-formed Unicode';
}

/** Why the value of a field that is not in the schema cannot be stored. */
function* storageProblems(value: unknown, depth = 1): Generator<string> {
  yield* textProblems(value);
  if (typeof value === 'bigint' && !isInt64(value)) yield 'must not contain integers beyond the int64 range';
  if (typeof value === 'number') {
    const size = Math.abs(value);
    // `parseJson` returns NaN for a fraction that a double would round to an integer.
    if (Number.isNaN(value) || size > Number.MAX_SAFE_INTEGER || (size > 0 && size < SMALLEST_NUMBER))
      yield 'must not contain integers beyond the int64 range, fractions closer to 0 than 1e-130, or fractions that a double rounds to an integer';
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) yield `must not be nested deeper than ${MAX_DEPTH} levels`;
  else
    for (const [name, inner] of Object.entries(value)) {
      if (!isStorableName(name)) yield NAME_PROBLEM;
      yield* storageProblems(inner, depth + 1);
    }
}

/** The text for an error of ajv. */
function problemText(error: ErrorObject, fields: Fields, line: object): string {
  const { keyword, params, instancePath } = error;
  if (keyword === 'additionalProperties') return `${params.additionalProperty} is not a field of this kind`;
  if (keyword === 'const') return `${instancePath.slice(1)} must be true, or absent`;
  const fieldError = fieldErrorOf(error, fields);
  const text = en.explain.invalidFields({ fieldErrors: [fieldError] }).replace(/\.$/, '');
  const value = (line as Partial<Record<string, unknown>>)[fieldError.field];
  const isInMilliseconds = fieldError.schema === UNIX_SECONDS && isInt64(value) && value > UNIX_SECONDS.maximum;
  return isInMilliseconds ? `${text}: it is in seconds, and ${value} is in milliseconds` : text;
}
