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

/** Converts an ajv error to the error of a field, or of one item of a field. */
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

/**
 * Returns the first error of each offending field, in ajv's order. If that is the error of an item, it includes how many more items are
 * invalid: those are only counted, since a body may have a million. An item can have several errors, which ajv reports in succession.
 */
function fieldErrorsOf(errors: readonly AjvError[], fields: Fields): FieldError[] {
  const found = new Map<string, FieldError>();
  let previousPath: string | undefined;
  for (const error of errors) {
    const { instancePath } = error;
    const [, field = String(error.params.missingProperty), item] = instancePath.split('/');
    const first = found.get(field);
    if (!first) found.set(field, fieldErrorOf(error, fields));
    else if (first.item !== undefined && item !== undefined && instancePath !== previousPath)
      first.moreItems = (first.moreItems ?? 0) + 1;
    previousPath = instancePath;
  }
  return [...found.values()];
}

/** Finds strings with half of a surrogate pair, which are valid in JSON, but not in UTF-8 or DynamoDB. Skips `offending` fields. */
function illFormedStrings(body: Record<string, unknown>, fields: Fields, offending: ReadonlySet<string>): FieldError[] {
  const fieldErrors: FieldError[] = [];
  for (const [field, schema] of Object.entries(fields)) {
    const value = body[field];
    if (offending.has(field)) continue;
    if (isIllFormed(value)) fieldErrors.push({ field, schema, illFormed: true });
    else if (Array.isArray(value) && value.some(isIllFormed)) {
      const moreItems = value.filter(isIllFormed).length - 1;
      const item = {
        schema: schema.items ?? {},
        item: value.findIndex(isIllFormed),
        ...(moreItems > 0 && { moreItems }),
      };
      fieldErrors.push({ field, ...item, illFormed: true });
    }
  }
  return fieldErrors;
}

const isIllFormed = (value: unknown) => typeof value === 'string' && !value.isWellFormed();
