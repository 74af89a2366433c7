/** Checks lines of import and the feed by {@link LINES}. */

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Fields, fieldErrorOf } from '../http/body.ts';
import { catalog as en } from '../http/messages/en.ts';
import {
  codePoints,
  exceededBound,
  isInt64,
  NO_INCIDENT,
  parseJson,
  positionOf,
  syntaxErrorAt,
} from '../shared/json.ts';
import { AT_MS } from './alert-fields.ts';
import { int64Keyword, withInt64 } from './int64-keyword.ts';
import {
  type Entity,
  KEYED_ONLY,
  type Kind,
  LINES,
  type LineSchema,
  MAX_ACTOR_LENGTH,
  MAX_DELETABLE_VERSION,
  UNIX_SECONDS,
} from './kinds.ts';

/** Maximum bytes of a line in UTF-8. Its row then takes less than half of the 400 KB that DynamoDB allows. */
export const MAX_LINE_BYTES = 65_536;
/** Maximum nesting levels of a line, counting the line itself. */
export const MAX_DEPTH = 31;
/** Maximum length of a field's name, in code points. */
export const MAX_FIELD_NAME = 128;
/** The smallest magnitude that DynamoDB stores. */
export const SMALLEST_NUMBER = 1e-130;
/**
 * Attributes of the service that a line can never set. Exports have `deleted_request_id` and `undone_deletion`, so those are allowed here and
 * dropped or checked later.
 */
export const RESERVED_WORK_ITEM_FIELDS = ['pk', 'sk', 'ttl', 'row_order', 'deletion_order'];
/** How many problems of a line are told, and how many characters of each. */
const TOLD = { problems: 10, characters: 200 } as const;

const ajv = new Ajv({ allErrors: true, messages: false });
ajv.addKeyword(int64Keyword);
const validators = new Map<LineSchema, ValidateFunction>();
/** Compiles a schema at its first use, and keeps it. */
function validatorOf(schema: LineSchema): ValidateFunction {
  const validate = validators.get(schema) ?? ajv.compile<unknown>(withInt64(schema) as object);
  validators.set(schema, validate);
  return validate;
}

/** The schema of a line of this kind. */
export const schemaOf = ({ kind, retired }: { kind: Kind; retired?: unknown }): LineSchema =>
  LINES[kind === 'host' && retired === true ? 'retired_host' : kind];

/** Whether a line has what only the export of an alert with a key has: its id beside its key. */
export const isExportedAlert = (line: object): boolean => 'alert_id' in line && 'alert_key' in line;

/** The entity of a line, if that has no problems. @param kinds those that are accepted */
export function entityOf<OfKind extends Kind>(
  text: string,
  kinds: readonly OfKind[],
): { problems: string[]; entity?: Entity<OfKind> } {
  const { problems, line } = parseLine(text, MAX_LINE_BYTES);
  if (problems.length === 0) problems.push(...problemsOf(line, kinds));
  return problems.length === 0 ? { problems, entity: line as Entity<OfKind> } : { problems };
}

/** Parses a line. The result is what JSON says, of any type, unless there are problems. */
export function parseLine(text: string, maxBytes: number): { problems: string[]; line?: unknown } {
  if (Buffer.byteLength(text) > maxBytes) return { problems: [`is longer than ${maxBytes} bytes`] };
  let line: unknown;
  let hasProto = false; // `parseJson` drops members named `__proto__`, and calls this
  try {
    line = parseJson(text, () => {
      hasProto = true;
    });
  } catch {
    if (exceededBound(text, { levels: MAX_DEPTH })) return { problems: [`a line ${DEPTH_PROBLEM}`] };
    // The parser's message quotes the line, which may contain an app key.
    const { column } = positionOf(text, syntaxErrorAt(text) ?? text.length);
    return { problems: [`is not valid JSON (column ${column})`] };
  }
  return hasProto ? { problems: [`a line ${NAME_PROBLEM}`] } : { problems: [], line };
}

/** The first problems of a parsed line; none if it is an entity of one of the kinds. */
export function problemsOf(line: unknown, kinds: readonly Kind[]): string[] {
  const told = new Set<string>();
  for (const problem of allProblems(line, kinds)) {
    told.add(problem.slice(0, TOLD.characters));
    if (told.size === TOLD.problems) break;
  }
  return [...told];
}

function* allProblems(line: unknown, kinds: readonly Kind[]): Generator<string> {
  if (typeof line !== 'object' || line === null || Array.isArray(line)) return yield 'a line must be a JSON object';
  const { kind, retired, from } = line as { kind?: Kind; retired?: unknown; from?: unknown };
  if (kind === undefined && from !== undefined) return yield UNREAD_PROBLEM;
  if (kind === undefined || !kinds.includes(kind)) return yield `kind must be one of ${kinds.join(', ')}`;
  const isExported = kind === 'alert' && isExportedAlert(line) && kinds.includes('account');
  const schema = isExported ? LINES.exported_alert : schemaOf({ kind, retired });
  const fields = schema.properties as Fields;
  const validate = validatorOf(schema);
  validate(line);
  const errors = validate.errors ?? [];
  validate.errors = null; // it would keep an error for each short field of a long line in memory
  for (const error of errors) yield problemText(error, fields, line);
  if (kind === 'app_key' && 'app_key' in line === 'app_key_hash' in line)
    yield 'exactly one of app_key and app_key_hash is required';
  if (schema === LINES.alert) yield* alertProblems(line);
  if ((kind === 'incident' || kind === 'alert') && (line as { incident_id?: unknown }).incident_id === NO_INCIDENT)
    yield 'incident_id must not be all zeros: merges store that for no incident';
  if (kind === 'work_item') yield* workItemProblems(line);
  if (!Object.keys(line).every(isStorableName)) yield `a line ${NAME_PROBLEM}`;
  for (const [field, value] of Object.entries(line))
    for (const problem of Object.hasOwn(fields, field) && field !== 'labels'
      ? textProblems(value)
      : storageProblems(value))
      yield `${field} ${problem}`;
}

/** Problems of an alert that `kinds.ts` does not express: `feed.schema.json` does. */
function* alertProblems(line: object): Generator<string> {
  const hasKey = 'alert_key' in line;
  if (hasKey === 'alert_id' in line) yield 'exactly one of alert_id and alert_key is required';
  else if (!hasKey)
    for (const name of KEYED_ONLY) if (name in line) yield `${name} requires an alert_key in place of alert_id`;
}

/** Problems of a work item that no schema can express. */
function* workItemProblems(line: object): Generator<string> {
  for (const name of RESERVED_WORK_ITEM_FIELDS) if (name in line) yield `${name} is reserved: rename the field`;
  const { version, deleted_at_ms, undone_deletion: undone } = line as Partial<Record<string, unknown>>;
  if (undone !== undefined && !isUndoneDeletion(undone))
    yield `undone_deletion must have version (int64), at_ms (Unix milliseconds) and, if known, by (string of at most ${MAX_ACTOR_LENGTH} characters)`;
  if (isInt64(version) && version > MAX_DELETABLE_VERSION && deleted_at_ms === undefined)
    yield `version must be at most ${MAX_DELETABLE_VERSION}, unless the work item is deleted: deletion adds 1`;
}

function isUndoneDeletion(value: unknown): boolean {
  const { version, at_ms, by = '' } = (value ?? {}) as Partial<Record<string, unknown>>;
  const isActor = typeof by === 'string' && codePoints(by) <= MAX_ACTOR_LENGTH;
  return isInt64(version) && Number.isSafeInteger(at_ms) && Number(at_ms) >= 0 && isActor;
}

const isStorableName = (name: string) =>
  name !== '' && name.isWellFormed() && (name.length <= MAX_FIELD_NAME || codePoints(name) <= MAX_FIELD_NAME);
const NAME_PROBLEM = `must not contain field names that are empty, longer than ${MAX_FIELD_NAME} characters, __proto__ or not well-formed Unicode`;
/** Of a line that {@link IngestQueue.refuse} wrote, after a redrive. */
const UNREAD_PROBLEM =
  'is no record, but what a caller sent that could not be read: it is kept to be looked at. Delete it from this queue';
const DEPTH_PROBLEM = `must not be nested deeper than ${MAX_DEPTH} levels`;

function* textProblems(value: unknown): Generator<string> {
  const texts = Array.isArray(value) ? value : [value];
  if (texts.some((text) => typeof text === 'string' && !text.isWellFormed())) yield 'must be well-formed Unicode';
}

/** Why the value of a field that is not in the schema cannot be stored. @param depth of what contains the value */
function* storageProblems(value: unknown, depth = 1): Generator<string> {
  yield* textProblems(value);
  if (typeof value === 'bigint' && !isInt64(value)) yield 'must not contain integers beyond the int64 range';
  if (typeof value === 'number') {
    const size = Math.abs(value);
    // `parseJson` returns NaN for a fraction that a double would round to an integer, and integers up to 20 digits exactly.
    if (Number.isNaN(value) || size > Number.MAX_SAFE_INTEGER || (size > 0 && size < SMALLEST_NUMBER))
      yield 'must not contain integers beyond the int64 range, fractions closer to 0 than 1e-130, or fractions that a double rounds to an integer';
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) yield DEPTH_PROBLEM;
  else
    for (const [name, inner] of Object.entries(value)) {
      if (!isStorableName(name)) yield NAME_PROBLEM;
      yield* storageProblems(inner, depth + 1);
    }
}

/** What fields must be whose rules the catalog of messages has no words for. */
const EXPLAINED: Readonly<Record<string, string>> = {
  labels:
    'labels must be an object of at most 64 texts of at most 1024 characters each, with names of 1 to 128 characters',
  source_url: 'source_url must be an http or https URL of at most 2048 characters',
};

/** The text for an error of ajv. */
function problemText(error: ErrorObject, fields: Fields, line: object): string {
  const { keyword, params, instancePath } = error;
  if (keyword === 'additionalProperties') return `${params.additionalProperty} is not a field of this kind`;
  // Only `retired` has a `const`; `schemaOf` has chosen the schema by it.
  if (keyword === 'const') return `${instancePath.slice(1)} must be true or false`;
  const explained = EXPLAINED[instancePath.split('/')[1] ?? ''];
  if (explained !== undefined) return explained;
  const fieldError = fieldErrorOf(error, fields);
  const { field, schema } = fieldError;
  const text = en.explain.invalidFields({ fieldErrors: [fieldError] }).replace(/\.$/, '');
  const value = (line as Partial<Record<string, unknown>>)[field];
  if (!isInt64(value)) return text;
  if (schema === UNIX_SECONDS && value > UNIX_SECONDS.maximum)
    return `${text}: it is in seconds, and ${value} is in milliseconds`;
  return schema === AT_MS && value < AT_MS.minimum
    ? `${text}: it is in milliseconds, and ${value} is in seconds`
    : text;
}
