import type { ErrorObject } from 'ajv';
import type { Caller } from '../auth/app-keys.ts';
import type { ApiMiddleware } from './call.ts';
import { callerOf } from './caller.ts';
import { type FieldError, type FieldSchema, refuse } from './errors.ts';

type AjvError = Pick<ErrorObject, 'instancePath' | 'params'>;

/** A validator that ajv has compiled. It fills defaults into the body, and sets `errors`. */
export interface Validator {
  (body: unknown): boolean;
  errors?: AjvError[] | null;
}

export type Fields = Readonly<Record<string, FieldSchema>>;

/**
 * Checks what a schema cannot express, such as bounds that depend on another field or on the caller.
 * @param offending fields that failed the schema, whose values may not have the type in `Body`
 */
export type CrossCheck<Body> = (body: Body, offending: ReadonlySet<string>, caller: () => Caller) => FieldError[];

/** Checks the body against the operation's schema. `InvalidParameter` names every offending field and what it must be. */
export function validateMiddleware<Body>(
  schema: { readonly properties: object },
  validate: Validator,
  crossCheck: CrossCheck<Body> = () => [],
): ApiMiddleware {
  const fields = schema.properties as Fields;

  return {
    before({ event }) {
      const body = event.body as Record<string, unknown>;
      validate(body);
      const fieldErrors = fieldErrorsOf(validate.errors ?? [], fields);
      fieldErrors.push(...illFormedStrings(body, fields, fieldsOf(fieldErrors)));
      fieldErrors.push(...crossCheck(body as Body, fieldsOf(fieldErrors), () => callerOf(event)));
      if (fieldErrors.length > 0) throw refuse('invalidFields', { fieldErrors });
    },
  };
}

const fieldsOf = (fieldErrors: readonly FieldError[]) => new Set(fieldErrors.map(({ field }) => field));

/** Converts ajv's error to that of a field or of an item of it. */
export function fieldErrorOf({ instancePath, params }: AjvError, fields: Fields): FieldError {
  const [, name = '', item] = instancePath.split('/');
  const missing = name === '';
  const field = missing ? String(params.missingProperty) : name;
  const schema = fields[field] ?? {};
  return {
    field,
    schema: (item === undefined ? undefined : schema.items) ?? schema,
    ...(missing && { missing }),
    ...(item !== undefined && { item: Number(item) }),
  };
}

/** One error for each offending field, in ajv's order. Of the errors of a field's items, it is the first. */
function fieldErrorsOf(errors: AjvError[], fields: Fields): FieldError[] {
  const found = errors.map((error) => fieldErrorOf(error, fields));
  return [...Map.groupBy(found, ({ field }) => field).values()].map((same) => {
    const [first] = same as [FieldError];
    const items = new Set(same.flatMap(({ item }) => item ?? []));
    return first.item !== undefined && items.size > 1 ? { ...first, moreItems: items.size - 1 } : first;
  });
}

/** Finds strings with half of a surrogate pair, which are valid in JSON, but not in UTF-8 or DynamoDB. Skips `offending` fields. */
function illFormedStrings(body: Record<string, unknown>, fields: Fields, offending: ReadonlySet<string>): FieldError[] {
  const fieldErrors: FieldError[] = [];
  for (const [field, schema] of Object.entries(fields)) {
    const value = body[field];
    if (offending.has(field)) continue;
    if (typeof value === 'string' && !value.isWellFormed()) fieldErrors.push({ field, schema, illFormed: true });
    const item = Array.isArray(value)
      ? value.findIndex((item) => typeof item === 'string' && !item.isWellFormed())
      : -1;
    if (item >= 0) fieldErrors.push({ field, schema: schema.items ?? {}, item, illFormed: true });
  }
  return fieldErrors;
}
