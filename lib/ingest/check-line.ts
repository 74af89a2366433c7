/** Checks lines of import and the feed by {@link LINES}. */
import { type AjvError, type Fields, fieldErrorOf, type Validator } from '../http/body.ts';
import type { FieldSchema } from '../http/errors.ts';
import { alert } from '../model/alert.ts';
import { AT_MS, UNIX_SECONDS } from '../model/fields.ts';
import { INGEST_KINDS, type IngestKind, type Kind, type SentRecord } from '../model/kinds.ts';
import { MAX_ACTOR_LENGTH, MAX_DELETABLE_VERSION, RESERVED_WORK_ITEM_FIELDS } from '../model/work-item.ts';
import {
  codePoints,
  exceededBound,
  isInt64,
  isJsonObject,
  type Members,
  NO_INCIDENT,
  parseJson,
  positionOf,
  syntaxErrorAt,
} from '../shared/json.ts';
import { MAX_DEPTH, MAX_FIELD_NAME, MAX_LINE_BYTES, MAX_RECORD_BYTES, SMALLEST_NUMBER, sizeProblem } from './limits.ts';
import { KEYED_ONLY, LINES, type LineName, type LineSchema } from './lines.ts';
import { fieldProblem, firstProblems, type Problem, tooLong } from './problems.ts';
import * as validators from './validate-records.ts';

/** What is taken: the kinds, and the validators of their lines. */
export interface Taken<OfKind extends Kind = Kind> {
  readonly kinds: readonly OfKind[];
  readonly validators: Readonly<Partial<Record<LineName, Validator>>>;
}

export const TAKEN_BY_FEED: Taken<IngestKind> = { kinds: INGEST_KINDS, validators };

const nameOf = ({ kind, retired }: { kind: Kind; retired?: unknown }): LineName =>
  kind === 'host' && retired === true ? 'retired_host' : kind;

export const schemaOf = (line: { kind: Kind; retired?: unknown }): LineSchema => LINES[nameOf(line)];

/** Whether a line has what only the export of an alert with a key has: its id beside its key. */
export const isExportedAlert = (line: object): boolean => 'alert_id' in line && 'alert_key' in line;

/** The schema of a line that an export may have written, if it is another than that of a record. */
function exportedNameOf(kind: Kind, line: object): LineName | undefined {
  if (kind === 'incident') return 'exported_incident';
  return kind === 'alert' && isExportedAlert(line) ? 'exported_alert' : undefined;
}

/** The record of a line of the feed, if that has no problems. */
export function sentRecordOf(text: string): { problems: Problem[]; sent?: SentRecord<IngestKind> } {
  const { problems, line } = parseLine(text);
  if (problems.length === 0) problems.push(...problemsOf(line, TAKEN_BY_FEED, text));
  return problems.length === 0 ? { problems, sent: line as SentRecord<IngestKind> } : { problems };
}

/**
 * Parses a line. The result is what JSON says, of any type, unless there are problems.
 * @param maxBytes a longer one is not parsed: it is too large a record, even without its account and time
 * @param value of a text that is parsed
 */
export function parseLine(
  text: string,
  { maxBytes = MAX_LINE_BYTES, value }: { maxBytes?: number; value?: unknown } = {},
): { problems: Problem[]; line?: unknown } {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return { problems: [tooLong(bytes, MAX_RECORD_BYTES)] };
  if (value !== undefined) return { problems: [], line: value };
  let line: unknown;
  let hasProto = false; // `parseJson` drops members named `__proto__`, and calls this
  try {
    line = parseJson(text, () => {
      hasProto = true;
    });
  } catch {
    if (exceededBound(text, { levels: MAX_DEPTH })) return { problems: [tooDeep()] };
    // The parser's message quotes the line, which may contain an app key.
    const { column } = positionOf(text, syntaxErrorAt(text) ?? text.length);
    return { problems: [{ name: 'itemNotJson', values: { column } }] };
  }
  return hasProto ? { problems: [namesInvalid()] } : { problems: [], line };
}

/** Whether a parsed line is no record but what remains of a refused call over HTTPS. */
export function isRefusedCall(line: unknown): boolean {
  const { kind, from } = (line ?? {}) as { kind?: unknown; from?: unknown };
  return kind === undefined && typeof from === 'string' && from.startsWith('/feed/');
}

/**
 * The first problems of a parsed line; none if it is a record that is taken.
 * @param queued the line as it is queued; absent: import bounds its size
 */
export const problemsOf = (line: unknown, taken: Taken, queued?: string): Problem[] =>
  firstProblems(allProblems(line, taken, queued));

function allProblems(line: unknown, { kinds, validators }: Taken, queued?: string): Problem[] {
  if (!isJsonObject(line)) return [{ name: 'itemNotObject' }];
  const { kind, retired, TopicArn } = line as { kind?: Kind; retired?: unknown; TopicArn?: unknown };
  if (isRefusedCall(line)) return [{ name: 'itemOfRefusedCall' }];
  if (kind === undefined && TopicArn !== undefined) return [{ name: 'itemOfSns' }];
  if (kind === undefined || !kinds.includes(kind))
    return [fieldProblem({ field: 'kind', schema: { enum: kinds }, missing: kind === undefined })];
  const tooLarge = queued === undefined ? undefined : sizeProblem(queued, line);
  if (tooLarge) return [tooLarge];
  const exported = exportedNameOf(kind, line);
  const name = exported && validators[exported] ? exported : nameOf({ kind, retired });
  const fields = LINES[name].properties as Fields;
  const validate = validators[name] as Validator;
  const problems = validate(line) ? [] : (validate.errors ?? []).map((error) => schemaProblem(error, fields, line));
  validate.errors = null; // it would keep an error for each short field of a long line in memory
  if (kind === 'app_key') problems.push(...notExactlyOne(line, ['app_key', 'app_key_hash']));
  if (name === 'alert') problems.push(...alertProblems(line));
  if ((kind === 'incident' || kind === 'alert') && (line as { incident_id?: unknown }).incident_id === NO_INCIDENT)
    problems.push({ name: 'incidentIdZero' });
  if (kind === 'work_item') problems.push(...workItemProblems(line));
  return problems.concat(fieldsProblems(line, fields));
}

/** Why names and values of a line cannot be stored. */
function fieldsProblems(line: Members, fields: Fields): Problem[] {
  const problems: Problem[] = [];
  let areNamesStorable = true;
  for (const field of Object.keys(line)) {
    const isNamed = Object.hasOwn(fields, field);
    areNamesStorable &&= isNamed || isStorableName(field);
    const schema = isNamed ? describedBy(field, fields[field]) : {};
    if (isNamed && !isTextMap(field)) addIllFormed(problems, field, line[field], schema);
    else addUnstorable(problems, field, line[field], schema);
  }
  return areNamesStorable ? problems : [namesInvalid(), ...problems];
}

const notExactlyOne = (line: object, fields: readonly [string, string]): Problem[] =>
  fields.filter((field) => field in line).length === 1 ? [] : [{ name: 'notExactlyOne', values: { fields } }];

/** Problems of an alert that its line's schema does not express. `feed.schema.json` has these rules from `infra/generate/feed-schema.ts`. */
function alertProblems(line: Members): Problem[] {
  const problems = notExactlyOne(line, ['alert_id', 'alert_key']);
  if (line.title === undefined && line.alert_status !== 'Ok')
    problems.push(fieldProblem({ field: 'title', schema: alert.fields.title.schema, missing: true }));
  if ('alert_id' in line && !('alert_key' in line))
    for (const field of KEYED_ONLY) if (field in line) problems.push({ name: 'alertKeyRequired', values: { field } });
  return problems;
}

/** Problems of a work item that no schema can express. */
function workItemProblems(line: Members): Problem[] {
  const problems: Problem[] = [];
  for (const field of RESERVED_WORK_ITEM_FIELDS)
    if (field in line) problems.push({ name: 'fieldReserved', values: { field } });
  const { version, deleted_at_ms, undone_deletion: undone } = line;
  if (undone !== undefined && !isUndoneDeletion(undone))
    problems.push(fieldProblem({ field: 'undone_deletion', schema: { format: 'undone-deletion' } }));
  if (isInt64(version) && version > MAX_DELETABLE_VERSION && deleted_at_ms === undefined)
    problems.push({ name: 'versionNotDeletable', values: { maximum: String(MAX_DELETABLE_VERSION) } });
  return problems;
}

function isUndoneDeletion(value: unknown): boolean {
  const { version, at_ms, by = '' } = (value ?? {}) as Partial<Record<string, unknown>>;
  const isActor = typeof by === 'string' && codePoints(by) <= MAX_ACTOR_LENGTH;
  return isInt64(version) && Number.isSafeInteger(at_ms) && Number(at_ms) >= 0 && isActor;
}

const isStorableName = (name: string) =>
  name !== '' && name.isWellFormed() && (name.length <= MAX_FIELD_NAME || codePoints(name) <= MAX_FIELD_NAME);

const namesInvalid = (field?: string): Problem => ({
  name: 'itemNamesInvalid',
  values: { ...(field !== undefined && { field }), maxLength: MAX_FIELD_NAME },
});
const tooDeep = (field?: string): Problem => ({
  name: 'itemTooDeep',
  values: { ...(field !== undefined && { field }), levels: MAX_DEPTH },
});

const isIllFormed = (value: unknown): boolean => typeof value === 'string' && !value.isWellFormed();

function addIllFormed(problems: Problem[], field: string, value: unknown, schema: FieldSchema): void {
  if (Array.isArray(value) ? value.some(isIllFormed) : isIllFormed(value))
    problems.push(fieldProblem({ field, schema, illFormed: true }));
}

/** Adds why a value in a field that holds any cannot be stored. @param depth of what contains the value */
function addUnstorable(problems: Problem[], field: string, value: unknown, schema: FieldSchema, depth = 1): void {
  addIllFormed(problems, field, value, schema);
  if (!isStorable(value)) problems.push({ name: 'numberNotStorable', values: { field } });
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) problems.push(tooDeep(field));
  else
    for (const [name, inner] of Object.entries(value)) {
      if (!isStorableName(name)) problems.push(namesInvalid(field));
      addUnstorable(problems, field, inner, schema, depth + 1);
    }
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'bigint') return isInt64(value);
  if (typeof value !== 'number') return true;
  const size = Math.abs(value);
  // `parseJson` returns NaN for a fraction that a double would round to an integer, and integers up to 20 digits exactly.
  return !Number.isNaN(value) && size <= Number.MAX_SAFE_INTEGER && (size === 0 || size >= SMALLEST_NUMBER);
}

const isTextMap = (field: string) => field === 'labels' || field === 'annotations';

/** The schema that the catalogs describe: they have words of their own for some fields. */
function describedBy(field: string, schema: FieldSchema = {}): FieldSchema {
  if (isTextMap(field)) return { format: field };
  return field === 'source_url' ? { format: 'http-url' } : schema;
}

function schemaProblem(error: AjvError, fields: Fields, line: object): Problem {
  const { keyword, params, instancePath } = error;
  if (keyword === 'additionalProperties' && instancePath === '')
    return { name: 'fieldUnknown', values: { field: String(params.additionalProperty) } };
  const fieldError = fieldErrorOf(error, fields);
  const { field, schema } = fieldError;
  const described = describedBy(field, schema);
  if (described !== schema) return fieldProblem({ field, schema: described });
  // Only `retired` has a `const`; `schemaOf` has chosen the schema by it.
  if (keyword === 'const') return fieldProblem({ field, schema: { type: 'boolean' } });
  const value = (line as Partial<Record<string, unknown>>)[field];
  if (!isInt64(value)) return fieldProblem(fieldError);
  const given = String(value);
  if (schema === UNIX_SECONDS && value > UNIX_SECONDS.maximum)
    return fieldProblem({ ...fieldError, wrongUnit: { given, unit: 'milliseconds' } });
  return schema === AT_MS && value < AT_MS.minimum
    ? fieldProblem({ ...fieldError, wrongUnit: { given, unit: 'seconds' } })
    : fieldProblem(fieldError);
}
